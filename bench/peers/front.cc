#include "bench/peers/front.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/http/problem.h"
#include "bench/peers/kinds.h"
#include "bench/support/fleet.h"
#include "bench/support/or_die.h"

namespace bench {
namespace {

constexpr std::size_t kMaxQueue = 4096;

std::string KindOf(std::string_view plural) {
  const auto kind = std::ranges::find(FleetKinds(), plural, &projections::EntityDescriptor::plural);
  return kind == FleetKinds().end() ? "" : kind->kind;
}

std::string IdOf(const api::Request& request) {
  return std::string(request.PathParameter("id"));
}

// Of the caller; empty: one who sees all.
projections::Tenancy TenancyOf(const api::Request& request) {
  projections::Tenancy tenancy;
  if (request.Header(kSystemHeader)) {
    return tenancy;
  }
  for (const auto& [key, header] : {std::pair{"org", kOrgHeader}, {"project", kProjectHeader}}) {
    if (const auto value = request.Header(header)) {
      tenancy[key] = std::string(*value);
    }
  }
  return tenancy;
}

std::string CallerOf(const api::Request& request) {
  const projections::Tenancy tenancy = TenancyOf(request);
  return tenancy.empty() ? "" : TenancyJson(tenancy);
}

// What is between the two texts; all of what we send has both.
std::string_view Between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before) + before.size();
  return text.substr(at, text.find(after, at) - at);
}

api::Response NotFound() {
  return api::JsonResponse(404, "{}");
}

api::Response Show(RelationalClient& client, const api::Request& request) {
  std::string document =
      client.Get(KindOf(request.PathParameter("plural")), IdOf(request), CallerOf(request));
  return document.empty() ? NotFound() : api::JsonResponse(200, std::move(document));
}

// Of `{"spec":...}`.
api::Response Patch(RelationalClient& client, const api::Request& request) {
  const std::string_view body = request.body();
  const std::size_t begin = body.find(':') + 1;
  const std::string spec(body.substr(begin, body.rfind('}') - begin));
  const std::int32_t generation =
      client.Patch(KindOf(request.PathParameter("plural")), IdOf(request), CallerOf(request), spec);
  return generation == 0
             ? NotFound()
             : api::JsonResponse(200, absl::StrFormat("{\"generation\":%d}", generation));
}

api::Response Report(RelationalClient& client, const api::Request& request) {
  const std::string_view body = request.body();
  const std::string adapter(Between(body, "\"adapter\":\"", "\""));
  const std::string generation(Between(body, "\"observed_generation\":", ","));
  const bool found =
      client.Report(KindOf(request.PathParameter("plural")), IdOf(request), adapter,
                    static_cast<std::int32_t>(std::strtol(generation.c_str(), nullptr, 10)));
  return found ? api::JsonResponse(201, "{}") : NotFound();
}

}  // namespace

ClientPool::ClientPool(const std::string& url, int connections) : workers_(connections, kMaxQueue) {
  engine::MutexLock lock(mutex_);
  for (int i = 0; i < connections; ++i) {
    idle_.push_back(std::make_unique<RelationalClient>(url));
  }
}

void ClientPool::Run(std::function<void(RelationalClient& client)> work) {
  workers_.Run([this, work = std::move(work)] {
    std::unique_ptr<RelationalClient> client;
    {
      engine::MutexLock lock(mutex_);
      client = std::move(idle_.back());
      idle_.pop_back();
    }
    work(*client);
    engine::MutexLock lock(mutex_);
    idle_.push_back(std::move(client));
  });
}

RelationalFront::RelationalFront(const std::string& relational_url, const FrontOptions& options)
    : transport_(api::TransportOptions{}),
      readers_(relational_url, options.readers),
      writers_(relational_url, options.writers) {
  for (const Workload& list : Workloads(FleetSize())) {
    searches_.emplace(list.search, list);
  }
  AddRoutes();
  url_ = "http://" + OrDie(transport_.Listen("127.0.0.1:0", router_));
  transport_.Start();
}

RelationalFront::~RelationalFront() {
  transport_.Stop();
}

void RelationalFront::AddRoutes() {
  const std::string base = kApi;
  router_.AddFamily(api::HyperfleetFamily());
  const auto list = [this](RelationalClient& client, const api::Request& request) {
    return List(client, request);
  };
  Handle(api::Method::kGet, base + "{plural}", list);
  Handle(api::Method::kGet, base + "{parents}/{parent_id}/{plural}", list);
  Handle(api::Method::kGet, base + "{plural}/{id}", Show);
  Handle(api::Method::kPatch, base + "{plural}/{id}", Patch);
  Handle(api::Method::kPut, base + "{plural}/{id}/statuses", Report);
}

void RelationalFront::Handle(api::Method method, std::string_view pattern, const Answer& answer) {
  ClientPool& pool = method == api::Method::kGet ? readers_ : writers_;
  router_.Handle(method, pattern,
                 [&pool, answer](const api::RequestPtr& request, api::Responder responder) {
                   auto waiting = std::make_shared<api::Responder>(std::move(responder));
                   pool.Run([answer, request, waiting](RelationalClient& client) {
                     waiting->Answer(answer(client, *request));
                   });
                 });
}

api::Response RelationalFront::List(RelationalClient& client, const api::Request& request) const {
  const auto known = searches_.find(request.Query("search").value_or(""));
  if (known == searches_.end()) {
    return api::JsonResponse(400, "{}");
  }
  Workload list = known->second;
  list.kind = KindOf(request.PathParameter("plural"));
  list.owner_id = std::string(request.PathParameter("parent_id"));
  list.tenancy = TenancyOf(request);
  return api::JsonResponse(200, client.List(list.Relational()));
}

}  // namespace bench
