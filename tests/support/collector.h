// Collector: a collector of traces, which takes OTLP in JSON over HTTP.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "api/http/router.h"
#include "api/http/transport.h"
#include "api/json/parser.h"
#include "engine/base/mutex.h"

namespace support {

// A span as it came, with its resource.
struct CollectedSpan {
  api::JsonObject span;
  api::JsonObject resource;  // Attributes by name; 64-bit numbers as strings.
  api::JsonObject attributes;

  std::string Text(const std::string& member) const;     // Of the span.
  std::string Attribute(const std::string& name) const;  // Empty: there is none.
  std::string OfResource(const std::string& name) const;
};

// Thread-safe.
class Collector {
 public:
  // Serves `/v1/traces` at a free port of this machine.
  Collector();
  ~Collector();

  // `http://127.0.0.1:4318`
  std::string url() const { return "http://" + address_; }

  // From now on requests get this answer, and their spans are only kept when it is a 200.
  void Set(int status, std::string body = "{}", std::string retry_after = "");

  // Requests that came, whatever they got.
  int asked() const;
  // Of the newest request: the value of this header.
  std::string Header(const std::string& name) const;
  std::vector<CollectedSpan> spans() const;
  // Blocks until there are that many; false when `deadline` passed first.
  bool WaitForSpans(std::size_t count, engine::Deadline deadline) const;

 private:
  api::Response Take(const api::Request& request);

  mutable engine::Mutex mutex_;
  mutable engine::CondVar changed_;
  int status_ ABSL_GUARDED_BY(mutex_) = 200;
  std::string body_ ABSL_GUARDED_BY(mutex_) = "{}";
  std::string retry_after_ ABSL_GUARDED_BY(mutex_);
  int asked_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<api::HeaderField> newest_ ABSL_GUARDED_BY(mutex_);
  std::vector<CollectedSpan> spans_ ABSL_GUARDED_BY(mutex_);
  api::Router router_;
  std::unique_ptr<api::Transport> transport_;
  std::string address_;
};

// The spans of a request as OtlpJson makes it; a failure of the test where it is something else.
std::vector<CollectedSpan> SpansOf(const std::string& json);

}  // namespace support
