#include "bench/peers/http_sides.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>

#include "bench/peers/cluster.h"
#include "bench/peers/kinds.h"
#include "bench/support/fleet.h"
#include "bench/support/or_die.h"
#include "bench/support/stores.h"
#include "projections/resources/settle.h"

namespace bench {
namespace {

// Connections of the relational side that read. Of 4, 8, 16 and 32 the number with the highest
// rates on two processors; the seed has up to 50.
constexpr int kReaders = 8;
constexpr std::size_t kPaths = 10'000;
constexpr int kWriters = 2;
constexpr double kLongest = 30;  // Seconds.

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    escaped += is_plain ? std::string(1, c) : absl::StrFormat("%%%02X", c);
  }
  return escaped;
}

support::HttpHeaders HeadersOf(const projections::Tenancy& tenancy) {
  if (tenancy.empty()) {
    return {{kSystemHeader, "true"}};
  }
  support::HttpHeaders headers;
  for (const auto& [key, value] : tenancy) {
    headers.emplace_back(key == "org" ? kOrgHeader : kProjectHeader, value);
  }
  return headers;
}

std::string PathOf(std::size_t i) {
  return absl::StrFormat("%s%s/%s", kApi, FleetKinds()[i % FleetKinds().size()].plural, FleetId(i));
}

std::string PathOf(const Workload& list) {
  const auto kind =
      std::ranges::find(FleetKinds(), list.kind, &projections::EntityDescriptor::kind);
  std::string path = kApi;
  path += list.owner_id.empty() ? "" : "kind0s/" + list.owner_id + "/";
  path += kind->plural;
  return list.search.empty() ? path : path + "?search=" + Escape(list.search);
}

// halo-server takes no variable that begins like its own and is none.
std::unique_ptr<support::PostgresCluster> StartWithoutVariable() {
  FleetSize();
  unsetenv(kFleetVariable);
  return StartPeersCluster();
}

// A server that starts looks whether these are the adapters for which conditions were recorded, and
// else records them anew: of the fleet they count as right.
void MarkAsSettled(engine::KeyValue& rows) {
  for (const projections::EntityDescriptor& kind : FleetKinds()) {
    OrDie(rows.Put("conditions/" + kind.kind,
                   absl::StrFormat("%016x", projections::ConditionsFingerprint(kind)), std::nullopt,
                   engine::Deadline::Infinite()));
  }
}

std::int32_t GenerationIn(std::string_view document) {
  constexpr std::string_view kMember = "\"generation\":";
  const std::size_t at = document.find(kMember);
  return at == std::string_view::npos ? 0
                                      : static_cast<std::int32_t>(std::strtol(
                                            document.data() + at + kMember.size(), nullptr, 10));
}

std::string ReportBody(const std::string& adapter, std::int32_t generation) {
  std::string conditions;
  for (const char* const type : {"Available", "Applied", "Health"}) {
    conditions +=
        absl::StrFormat(R"(%s{"type":"%s","status":"True","reason":"Ok","message":"all is well"})",
                        conditions.empty() ? "" : ",", type);
  }
  return absl::StrFormat(
      R"({"adapter":"%s","observed_generation":%d,"observed_time":"%s","conditions":[%s],)"
      R"("data":{"replicas":3}})",
      adapter, generation, engine::FormatTimestamp(engine::SystemClock().Now()), conditions);
}

// The n-th change of all is one of the i-th resource.
void Change(std::size_t i, std::size_t n, const Background::Ask& ask) {
  const projections::ResourceState state = FleetResource(i);
  constexpr std::string_view kMtu = "\"mtu\":1500";
  std::string spec = state.spec;
  spec.replace(spec.find(kMtu), kMtu.size(), absl::StrFormat("\"mtu\":%d", 1501 + n));
  const support::HttpResponse patched = ask({.method = "PATCH",
                                             .path = PathOf(i),
                                             .body = "{\"spec\":" + spec + "}",
                                             .headers = HeadersOf(state.tenancy)});
  const std::int32_t generation = GenerationIn(patched.body);
  for (const std::string& adapter : FleetKinds()[i % FleetKinds().size()].required_adapters) {
    ask({.method = "PUT",
         .path = PathOf(i) + "/statuses",
         .body = ReportBody(adapter, generation),
         .headers = HeadersOf({})});
  }
}

support::HttpResponse AskOnce(const std::string& url, const support::HttpRequest& request) {
  support::HttpClient client(url, std::chrono::minutes(2));
  support::HttpResponse response = OrDie(client.Call(request));
  if (response.status / 100 != 2) {
    std::fprintf(stderr, "%s: %d %s\n", request.path.c_str(), response.status,
                 response.body.c_str());
    std::exit(1);
  }
  return response;
}

// The generation, and the conditions' types and statuses.
std::string State(const std::string& document) {
  std::vector<std::string> conditions;
  for (std::size_t at = document.find("{\"type\":"); at != std::string::npos;
       at = document.find("{\"type\":", at + 1)) {
    conditions.push_back(document.substr(at, document.find(",\"reason\"", at) - at));
  }
  std::ranges::sort(conditions);
  std::string state = std::to_string(GenerationIn(document));
  for (const std::string& condition : conditions) {
    state += " " + condition;
  }
  return state;
}

}  // namespace

std::string NameOf(Side side) {
  return side == Side::kHalo ? "halo" : "relational";
}

std::vector<HttpReads> ReadsOverHttp() {
  std::vector<HttpReads> reads = {{.name = "Get", .paths = {}, .headers = HeadersOf({})}};
  for (std::size_t i = 0; i < std::min(kPaths, FleetSize()); ++i) {
    reads[0].paths.push_back(PathOf(i * 7919 % FleetSize()));
  }
  for (const Workload& list : Workloads(FleetSize())) {
    if (list.name == "Label" || list.name == "Owner" || list.name == "Tenant") {
      reads.push_back({list.name, {PathOf(list)}, HeadersOf(list.tenancy)});
    }
  }
  return reads;
}

std::string LongSearch() {
  return absl::StrFormat("%sresources?search=%s", kApi, Escape("spec.notes like '%y%'"));
}

HttpSides::HttpSides()
    : cluster_(StartWithoutVariable()),
      relational_url_(OrDie(cluster_->CreateDatabase("relational"))),
      store_(OrDie(support::TestStore::OnCluster(
          *cluster_, [this](const std::string& database) { return cluster_->Url(database); }))) {
  FillBoth(relational_url_, store_->owner_url());
  MarkAsSettled(Workbench(store_->owner_url()).store().key_value());
  const std::string config = OrDie(directory().Write("config.yaml", FleetConfig()));
  halo_ = OrDie(support::HaloServer::Start(*store_, {"--config", config}));
  relational_ = std::make_unique<RelationalFront>(
      relational_url_, FrontOptions{.readers = kReaders, .writers = kWriters});
  CompareReads();
  CompareWrites();
}

const std::string& HttpSides::url(Side side) const {
  return side == Side::kHalo ? halo_->url() : relational_->url();
}

void HttpSides::CompareReads() {
  for (const HttpReads& reads : ReadsOverHttp()) {
    const support::HttpRequest request = {.path = reads.paths.front(), .headers = reads.headers};
    const std::string ours = AskOnce(url(Side::kHalo), request).body;
    const std::string theirs = AskOnce(url(Side::kRelational), request).body;
    if (reads.name != "Get") {
      CompareLists(reads.name, ours, theirs);
    } else if (State(ours) != State(theirs)) {
      std::cerr << "the documents differ:\n" << ours << "\n" << theirs << "\n";
      std::exit(1);
    }
  }
}

void HttpSides::CompareWrites() {
  std::string states[2];
  for (const Side side : {Side::kHalo, Side::kRelational}) {
    const std::size_t i = FleetSize() / 2 + 1;
    Change(i, 0, [&](const support::HttpRequest& request) { return AskOnce(url(side), request); });
    states[static_cast<int>(side)] =
        State(AskOnce(url(side), {.path = PathOf(i), .headers = HeadersOf({})}).body);
  }
  std::cerr << "after a change: " << states[0] << "\n";
  if (states[0] != states[1]) {
    std::cerr << "the other side: " << states[1] << "\n";
    std::exit(1);
  }
}

WrkResult HttpSides::Read(Side side, const HttpReads& reads, int connections) {
  const engine::Duration began = Now();
  AskOnce(url(side), {.path = reads.paths.front(), .headers = reads.headers});
  const double once = std::chrono::duration<double>(Now() - began).count();
  // About two answers a connection, should two be made at once.
  const double seconds = std::clamp(std::ceil(once * connections), 1.0, kLongest);
  return RunWrk({.url = url(side),
                 .paths = reads.paths,
                 .headers = reads.headers,
                 .connections = connections,
                 .seconds = static_cast<int>(seconds)},
                directory());
}

std::size_t HttpSides::NextToWrite(Side side) {
  return ++written_[static_cast<int>(side)];
}

std::unique_ptr<Background> HttpSides::StartWriters(Side side, int per_second) {
  BackgroundOptions options{.clients = kWriters};
  if (per_second > 0) {
    options.apart = engine::Duration(std::chrono::seconds(kWriters)) / per_second;
  }
  return std::make_unique<Background>(url(side), options, [this, side](const Background::Ask& ask) {
    const std::size_t n = NextToWrite(side);
    Change(n * 7919 % FleetSize(), n, ask);
  });
}

}  // namespace bench
