#include "tests/support/collector.h"

#include <utility>

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace support {
namespace {

std::string TextOf(const api::JsonObject& object, const std::string& name) {
  const api::JsonValue* const value = object.if_contains(name);
  if (value == nullptr) {
    return "";
  }
  return value->is_string() ? std::string(value->get_string()) : boost::json::serialize(*value);
}

// `[{"key":"a","value":{"stringValue":"b"}}]` as {"a":"b"}.
api::JsonObject ByName(const api::JsonValue& attributes) {
  api::JsonObject named;
  for (const api::JsonValue& attribute : attributes.as_array()) {
    const api::JsonObject& value = attribute.at("value").as_object();
    EXPECT_EQ(value.size(), 1U);
    const auto& [kind, text] = *value.begin();
    EXPECT_TRUE(kind == "stringValue" || kind == "intValue") << kind;
    EXPECT_TRUE(text.is_string()) << "also 64-bit numbers are strings";
    EXPECT_FALSE(named.contains(attribute.at("key").as_string())) << "twice";
    named[attribute.at("key").as_string()] = text;
  }
  return named;
}

}  // namespace

std::string CollectedSpan::Text(const std::string& member) const {
  return TextOf(span, member);
}

std::string CollectedSpan::Attribute(const std::string& name) const {
  return TextOf(attributes, name);
}

std::string CollectedSpan::OfResource(const std::string& name) const {
  return TextOf(resource, name);
}

std::vector<CollectedSpan> SpansOf(const std::string& json) {
  std::vector<CollectedSpan> spans;
  const api::JsonParse parsed = api::ParseJson(json);
  EXPECT_TRUE(parsed.ok()) << parsed.error.message << json;
  if (!parsed.ok()) {
    return spans;
  }
  for (const api::JsonValue& of_resource : parsed.value->at("resourceSpans").as_array()) {
    const api::JsonObject resource = ByName(of_resource.at("resource").at("attributes"));
    for (const api::JsonValue& of_scope : of_resource.at("scopeSpans").as_array()) {
      for (const api::JsonValue& span : of_scope.at("spans").as_array()) {
        spans.push_back({span.as_object(), resource, ByName(span.at("attributes"))});
      }
    }
  }
  return spans;
}

Collector::Collector() {
  router_.Handle(api::Method::kPost, "/v1/traces",
                 [this](const api::RequestPtr& request, api::Responder responder) {
                   responder.Answer(Take(*request));
                 });
  transport_ = std::make_unique<api::Transport>(api::TransportOptions());
  const auto address = transport_->Listen("127.0.0.1:0", router_);
  EXPECT_OK(address);
  address_ = address.value_or("");
  transport_->Start();
}

Collector::~Collector() {
  transport_->Stop();
}

void Collector::Set(int status, std::string body, std::string retry_after) {
  engine::MutexLock lock(mutex_);
  status_ = status;
  body_ = std::move(body);
  retry_after_ = std::move(retry_after);
}

int Collector::asked() const {
  engine::MutexLock lock(mutex_);
  return asked_;
}

std::string Collector::Header(const std::string& name) const {
  engine::MutexLock lock(mutex_);
  for (const api::HeaderField& field : newest_) {
    if (api::EqualsIgnoreCase(field.name, name)) {
      return field.value;
    }
  }
  return "";
}

std::vector<CollectedSpan> Collector::spans() const {
  engine::MutexLock lock(mutex_);
  return spans_;
}

bool Collector::WaitForSpans(std::size_t count, engine::Deadline deadline) const {
  engine::MutexLock lock(mutex_);
  while (spans_.size() < count) {
    if (!changed_.WaitUntil(mutex_, deadline)) {
      return spans_.size() >= count;
    }
  }
  return true;
}

api::Response Collector::Take(const api::Request& request) {
  engine::MutexLock lock(mutex_);
  ++asked_;
  newest_ = request.headers();
  if (status_ == 200) {
    for (CollectedSpan& span : SpansOf(std::string(request.body()))) {
      spans_.push_back(std::move(span));
    }
    changed_.SignalAll();
  }
  api::Response answer = api::JsonResponse(status_, body_);
  if (!retry_after_.empty()) {
    answer.With("Retry-After", retry_after_);
  }
  return answer;
}

}  // namespace support
