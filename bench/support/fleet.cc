#include "bench/support/fleet.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "bench/support/or_die.h"
#include "schemas/streams.h"

namespace bench {
namespace {

constexpr std::int64_t kEpoch = 1'780'000'000'000'000;
constexpr std::int64_t kApart = 7'001'003;
constexpr std::size_t kKinds = 8;
constexpr std::size_t kTenants = 1000;
constexpr std::size_t kOfSmallTenant = 100;
constexpr char kBase[] = "/api/hyperfleet/v1/";

// The n-th resource of its kind has the n-th of whatever goes round.
std::size_t OfKind(std::size_t i) {
  return i / kKinds;
}
bool IsChild(std::size_t i) {
  return i % kKinds >= kKinds / 2;
}

// The finisher of splitmix64: numbers that look random.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

std::string Href(std::size_t i) {
  const std::string own = absl::StrFormat("kind%ds/%s", i % kKinds, FleetId(i));
  return IsChild(i) ? Href(FleetOwner(i)) + "/" + own : kBase + own;
}

// In canonical form, as records have it.
std::string Spec(std::size_t i) {
  const std::size_t n = OfKind(i);
  std::string groups;
  for (std::size_t group = 0; group < 6; ++group) {
    groups += absl::StrFormat(
        R"(%s{"autoscaling":{"max":%d,"min":%d},"instance_type":"m5.%dxlarge","name":"group-%d"})",
        group == 0 ? "" : ",", 3 + (n + group) % 20, n % 3, 1 << (group % 4), group);
  }
  return absl::StrFormat(
      R"({"groups":[%s],"network":{"cidr":"10.%d.0.0/16","dns":["10.0.0.2","10.0.0.3"],)"
      R"("mtu":1500},"notes":"%s","region":"r%d","release":{"channel":"stable","version":%d}})",
      groups, n % 256, std::string(300, 'x'), n % 20, n % 1000);
}

projections::Tenancy Tenants(std::size_t i) {
  if (i < kOfSmallTenant) {
    return {{"org", "org-small"}};
  }
  const std::size_t n = OfKind(i);
  projections::Tenancy tenancy = {{"org", absl::StrFormat("org-%d", n % kTenants)}};
  if (const std::uint64_t random = Mix(n); random % 4 == 0) {
    tenancy["project"] = absl::StrFormat("p%d", random / 4 % 5);
  }
  return tenancy;
}

}  // namespace

std::size_t FleetSize() {
  static const std::size_t size = [] {
    const char* const wanted = std::getenv(kFleetVariable);
    return wanted == nullptr ? 20'000 : std::strtoull(wanted, nullptr, 10);
  }();
  return size;
}

std::string FleetKind(std::size_t i) {
  return absl::StrFormat("Kind%d", i % kKinds);
}

engine::Timestamp FleetTime(std::size_t i) {
  return {kEpoch + static_cast<std::int64_t>(i) * kApart};
}

std::string FleetId(std::size_t i) {
  const auto millis = static_cast<std::uint64_t>(FleetTime(i).micros / 1000);
  const std::uint64_t random = Mix(i);
  return absl::StrFormat("%08x-%04x-7%03x-%04x-%012x", millis >> 16, millis & 0xFFFF,
                         random & 0xFFF, 0x8000 | (random >> 12 & 0x3FFF),
                         Mix(random) & 0xFFFFFFFFFFFF);
}

std::size_t FleetOwner(std::size_t i) {
  return i / 800 * 800;
}

projections::ResourceState FleetResource(std::size_t i) {
  const std::size_t n = OfKind(i);
  projections::ResourceState state;
  state.id = FleetId(i);
  state.kind = FleetKind(i);
  state.name = absl::StrFormat("name-%d", i);
  state.href = Href(i);
  if (IsChild(i)) {
    const std::size_t owner = FleetOwner(i);
    state.owner = projections::OwnerState{FleetId(owner), FleetKind(owner), Href(owner)};
  }
  state.spec = Spec(i);
  state.labels = {{"build", absl::StrFormat("b%d", i / 100)},
                  {"env", n % 3 == 0 ? "prod" : "dev"},
                  {"region", absl::StrFormat("r%d", n % 20)},
                  {"team", absl::StrFormat("t%d", n % 200)},
                  {"tier", absl::StrFormat("%d", n % 5)}};
  state.tenancy = Tenants(i);
  state.created_time = state.updated_time = FleetTime(i);
  state.created_by = state.updated_by = "somebody@example.com";
  return state;
}

projections::ConditionStates FleetConditions(std::size_t i) {
  projections::ConditionStates conditions(2);
  conditions[0].type = "Reconciled";
  conditions[1].type = "LastKnownReconciled";
  for (projections::ConditionState& condition : conditions) {
    const bool is_false = condition.type == "Reconciled" && OfKind(i) % 100 == 0;
    condition.status =
        is_false ? schemas::ConditionStatus::kFalse : schemas::ConditionStatus::kTrue;
    condition.reason = is_false ? "ReconciledMissingAdapters" : "ReconciledAll";
    condition.message = "All required adapters have reported";
    condition.observed_generation = 1;
    condition.created_time = FleetTime(i);
    condition.last_updated_time =
        condition.last_transition_time = {FleetTime(i).micros + 90'000'000};
  }
  return conditions;
}

namespace {

// Rows of one transaction, finished as the committer would.
class Rows {
 public:
  explicit Rows(engine::LockedState state) : state_(std::move(state)) {}

  void Add(engine::StreamId stream, std::string key, const std::string& payload) {
    auto& tail = *std::ranges::find(state_.tails, stream, &engine::StreamTail::stream);
    engine::Record row;
    row.stream = stream;
    row.position = engine::Next(tail.position);
    row.tx = engine::Next(state_.last_tx);
    row.key = std::move(key);
    row.at = state_.now;
    row.payload = engine::Payload(payload);
    row.checksum = engine::RowChecksum(row);
    row.digest = engine::ChainDigest(tail.digest, row.checksum);
    tail.position = row.position;
    tail.digest = row.digest;
    bytes_ += engine::RowCost(row.key.size(), row.payload.size());
    rows_.push_back(std::move(row));
  }
  bool IsFull() const { return bytes_ > engine::kMaxTransactionBytes - 16'384; }
  std::vector<engine::Record> Take() { return std::move(rows_); }

 private:
  engine::LockedState state_;
  std::vector<engine::Record> rows_;
  std::size_t bytes_ = 0;
};

}  // namespace

void AppendFleet(engine::Journal& journal, std::size_t size) {
  const auto deadline = engine::Deadline::After(std::chrono::hours(1));
  for (std::size_t i = 0; i < size;) {
    const auto transaction = OrDie(journal.Begin(deadline));
    Rows rows(OrDie(transaction->Read({})));
    for (; i < size && !rows.IsFull(); ++i) {
      rows.Add(schemas::kResourcesStream, FleetId(i),
               projections::EncodeResource(FleetResource(i)));
      rows.Add(schemas::kStatusesStream, FleetId(i),
               projections::EncodeStatus(FleetId(i), FleetConditions(i)));
    }
    OrDie(transaction->Append(rows.Take(), {}));
    const engine::CommitOutcome outcome = transaction->Commit(deadline);
    if (outcome.kind != engine::CommitOutcome::Kind::kCommitted) {
      std::fprintf(stderr, "the fleet: %s\n", outcome.why.ToString().c_str());
      std::exit(1);
    }
  }
}

}  // namespace bench
