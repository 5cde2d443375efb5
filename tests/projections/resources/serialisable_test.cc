// The rules of resources in batches are serialisable: whatever commands gather in one, with
// another replica's commits between queue and lock, the answers and the state in the end are
// those of some serial order.
//
// The model is the same rules, one command at a time: a wrong rule is found by its own test, a
// fact that it forgot to note is found here.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/committer.h"
#include "engine/memory/memory.h"
#include "projections/statuses/aggregate.h"
#include "tests/projections/resources/requests.h"
#include "tests/projections/resources/store.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/row_builder.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_commands.h"

namespace projections {
namespace {

constexpr engine::Timestamp kNow{1'780'000'000'000'000};

// All commands of a round happen at one moment, so that documents can be compared to the byte.
class FrozenClock final : public engine::Clock {
 public:
  engine::Timestamp Now() const override { return kNow; }
  engine::Duration SinceBoot() const override { return engine::SystemClock().SinceBoot(); }
};
const FrozenClock kFrozen;

struct Operation {
  std::string name;
  std::function<Judgement(const RuleContext&)> judge;
};

// Everything of a judgement that a caller or an auditor can see, but for positions: they depend
// on the order.
std::string AnswerOf(const Judgement& judgement) {
  std::string answer;
  if (judgement.refusal.has_value()) {
    return "refused " + std::to_string(static_cast<int>(judgement.refusal->reason)) + " " +
           judgement.refusal->detail;
  }
  for (const engine::RecordDraft& draft : judgement.proposal.records) {
    answer += draft.key.substr(34) + (draft.flags != 0 ? "- " : "+ ");
  }
  if (judgement.proposal.audit.has_value()) {
    answer += judgement.proposal.audit->action + " " + judgement.proposal.audit->target;
    for (const auto& [key, value] : judgement.proposal.audit->details) {
      answer += " " + key + "=" + value;
    }
  }
  return answer + " " + judgement.document;
}

class ResourceCommand final : public engine::Command {
 public:
  ResourceCommand(const Registry& registry, Operation operation, std::size_t index,
                  support::Outcomes& outcomes)
      : registry_(registry), operation_(std::move(operation)), index_(index), outcomes_(outcomes) {}

  engine::Deadline deadline() const override { return deadline_; }
  engine::Proposal Decide(const engine::DecideContext& context) override {
    const ResourcesImage* image = *engine::ImageIn<ResourcesImage>(context.view);
    const StatusesImage* statuses = *engine::ImageIn<StatusesImage>(context.view);
    Judgement judgement =
        operation_.judge({registry_, *image, *statuses, context.now, context.footprint});
    answer_ = AnswerOf(judgement);
    return std::move(judgement.proposal);
  }
  void Finish(const engine::CommandOutcome& outcome) override {
    outcomes_.Add(index_, {outcome.kind, outcome.why, answer_, outcome.tx, {}});
  }

 private:
  const Registry& registry_;
  const Operation operation_;
  const std::size_t index_;
  support::Outcomes& outcomes_;
  const engine::Deadline deadline_ = support::Soon();
  std::string answer_;
};

std::unique_ptr<engine::Follower> NewFollower() {
  std::vector<std::unique_ptr<engine::Projection>> projections;
  projections.push_back(std::make_unique<ResourcesProjection>());
  projections.push_back(std::make_unique<StatusesProjection>());
  return std::make_unique<engine::Follower>(std::move(projections));
}

// One replica: a follower and a committer over a journal that others write to as well.
class Replica {
 public:
  Replica(engine::Journal& journal, const Registry& registry)
      : registry_(registry),
        follower_(NewFollower()),
        committer_(journal, *follower_, nullptr,
                   {.limits = {}, .audit_stream = schemas::kAuditStream}) {}

  void Submit(const Operation& operation) {
    committer_.Submit(
        std::make_unique<ResourceCommand>(registry_, operation, submitted_++, outcomes_));
  }
  // In the order in which they were submitted.
  std::vector<support::Ended> WaitForAll() { return outcomes_.WaitFor(submitted_); }
  engine::Committer::Counters counters() const { return committer_.counters(); }

 private:
  const Registry& registry_;
  support::Outcomes outcomes_;
  std::size_t submitted_ = 0;
  std::unique_ptr<engine::Follower> follower_;
  engine::Committer committer_;
};

// Lets a replica take the lock only when the test says so.
class Gate {
 public:
  absl::Status Pass() {
    engine::MutexLock lock(mutex_);
    waiting_ = true;
    changed_.SignalAll();
    while (!open_) {
      changed_.Wait(mutex_);
    }
    return absl::OkStatus();
  }
  void WaitForSomeone() {
    engine::MutexLock lock(mutex_);
    while (!waiting_) {
      ASSERT_TRUE(changed_.WaitUntil(mutex_, support::Soon()));
    }
  }
  void Open() {
    engine::MutexLock lock(mutex_);
    open_ = true;
    changed_.SignalAll();
  }

 private:
  engine::Mutex mutex_;
  engine::CondVar changed_;
  bool waiting_ ABSL_GUARDED_BY(mutex_) = false;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

// The rules, one command at a time.
class Model {
 public:
  explicit Model(const Registry& registry) : registry_(registry) {}

  // A fresh fold each time: nothing is shared between the orders that are tried.
  Model(const Model& other) : registry_(other.registry_) {
    for (const engine::Record& record : other.log_) {
      Apply(record);
    }
  }
  Model& operator=(const Model&) = delete;

  void Apply(const engine::Record& record) {
    const bool is_status = record.stream == StatusesImage::kStream;
    ASSERT_OK(is_status ? statuses_.Apply(record) : projection_.Apply(record));
    log_.push_back(record);
  }
  std::string Do(const Operation& operation) {
    engine::Footprint unused;
    const auto image = ImageOf(projection_);
    const auto statuses = ImageOf(statuses_);
    const Judgement judgement = operation.judge({registry_, *image, *statuses, kNow, unused});
    for (const engine::RecordDraft& draft : judgement.proposal.records) {
      engine::Record record;
      record.stream = draft.stream;
      record.position = engine::Position{1 + static_cast<std::uint64_t>(std::ranges::count(
                                                 log_, draft.stream, &engine::Record::stream))};
      record.key = draft.key;
      record.previous = draft.previous;
      record.flags = draft.flags;
      record.payload = engine::Payload(draft.payload);
      Apply(record);
    }
    return AnswerOf(judgement);
  }
  std::uint64_t Digest() {
    return ImageOf(projection_)->StateDigest() * 31 + ImageOf(statuses_)->StateDigest();
  }

 private:
  const Registry& registry_;
  ResourcesProjection projection_;
  StatusesProjection statuses_;
  std::vector<engine::Record> log_;
};

// Of what is to be explained: commands, what they answered, and the state in the end.
struct History {
  std::vector<Operation> operations;
  std::vector<std::string> answers;
  std::uint64_t end = 0;
};

bool SomeSerialOrderGives(const History& history, const Model& state, std::vector<bool>& done,
                          std::size_t left) {
  if (left == 0) {
    return Model(state).Digest() == history.end;
  }
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    if (done[i]) {
      continue;
    }
    Model next = state;
    if (next.Do(history.operations[i]) != history.answers[i]) {
      continue;
    }
    done[i] = true;
    if (SomeSerialOrderGives(history, next, done, left - 1)) {
      return true;
    }
    done[i] = false;
  }
  return false;
}

// Kinds that end differently: all marked (the stock), the parent at once but children never, and
// everything at once.
Registry RegistryOf(std::uint64_t sort) {
  std::vector<EntityDescriptor> entities = Registry::Stock().entities();
  entities[0].required_adapters.resize(1);  // Validation alone, which the test knows.
  if (sort > 0) {
    entities[0].required_adapters.clear();
  }
  if (sort > 1) {
    entities[1].required_adapters.clear();
  }
  // A third level, one that goes with its owner and one that holds it.
  entities.push_back(Kind("Leaf", "leaves", "NodePool", OnParentDelete::kCascade));
  entities.push_back(Kind("Note", "notes", "Version", OnParentDelete::kRestrict));
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string root = i < 2 ? "Cluster" : "Channel";
    entities[i].references = {{"peer", root, 0, 1}, {"part", i < 2 ? "NodePool" : "Version"}};
  }
  return *Registry::Create(std::move(entities));
}

// Few identifiers and names, so that everything meets.
class Chance {
 public:
  explicit Chance(engine::Random& random)
      : random_(random), root_kind_(random.Below(3) == 0 ? "Channel" : "Cluster") {}

  std::uint64_t Below(std::uint64_t bound) { return random_.Below(bound); }

  Operation CreateRoot() { return Create("", Below(2) == 0 ? "one" : "two"); }
  Operation CreateChild() { return Create(RootId(), Below(2) == 0 ? "x" : "y"); }
  Operation CreateGrandchild() {
    CreateRequest request{.id = Id(30 + Below(2)),
                          .kind = root_kind_ == "Channel" ? "Note" : "Leaf",
                          .name = Below(2) == 0 ? "g" : "h",
                          .parent_id = ChildId(),
                          .spec = "{}",
                          .labels = {},
                          .tenancy = {},
                          .actor = Actor()};
    return {"create " + Short(request.id) + " in " + Short(request.parent_id),
            [=](const RuleContext& context) { return JudgeCreate(request, context); }};
  }
  Operation Any() {
    switch (Below(15)) {
      case 0:
        return CreateRoot();
      case 1:
      case 2:
        return CreateChild();
      case 3:
      case 4:
        return Patch();
      case 5:
        return ForceDelete();
      case 6:
        return CreateGrandchild();
      case 7:
      case 8:
        return PatchReferences();
      case 9:
      case 10:
      case 11:
        return Report();
      default:
        return Delete();
    }
  }
  Operation Delete() {
    DeleteRequest request{AnyTarget(), Versions(), Actor()};
    return {"delete " + Short(request.target.id),
            [=](const RuleContext& context) { return JudgeDelete(request, context); }};
  }

  // Adapters that are done with everything, at the one generation or the other; two of them, so
  // that a resource of two can be finalized.
  Operation Report() {
    const bool available = Below(2) == 0;
    const auto says = [](std::string_view type, bool holds) {
      return ReportedConditionState{
          std::string(type),
          holds ? schemas::ConditionStatus::kTrue : schemas::ConditionStatus::kFalse,
          "",
          "",
          {}};
    };
    ReportRequest request{
        .target = AnyTarget(),
        .adapter = Below(2) == 0 ? "validation" : "hypershift",
        .observed_generation = static_cast<std::int32_t>(1 + Below(3)),
        .observed_time = engine::Timestamp{kNow.micros - 5 + static_cast<std::int64_t>(Below(5))},
        .conditions = {says(kAvailable, available), says(kApplied, true), says(kHealth, true),
                       says(kFinalized, Below(4) != 0)},
        .data = "{}",
        .metadata = "",
        .actor = Actor()};
    return {"report " + request.adapter + " " + std::to_string(request.observed_generation) +
                " on " + Short(request.target.id),
            [=](const RuleContext& context) { return JudgeReport(request, context); }};
  }

 private:
  static std::string Id(std::uint64_t number) {
    return "01936d3c-0000-7000-8000-0000000000" + std::to_string(number);
  }
  static std::string Short(const std::string& id) { return id.substr(id.size() - 2); }
  std::string RootId() { return Id(10 + Below(2)); }
  std::string ChildId() { return Id(20 + Below(3)); }
  std::string Actor() { return Below(2) == 0 ? "alice" : "bob"; }
  std::string ChildKind() const { return root_kind_ == "Channel" ? "Version" : "NodePool"; }

  Target AnyTarget() {
    if (Below(2) == 0) {
      return {RootId(), root_kind_, {}};
    }
    return Below(2) == 0 ? Target{ChildId(), {}, {}} : Target{ChildId(), ChildKind(), RootId()};
  }
  ExpectedVersions Versions() {
    return Below(4) == 0 ? ExpectedVersions{engine::Position{1 + Below(6)}} : ExpectedVersions{};
  }
  // Each create has an identifier of few, so that a removed one can come back.
  Operation Create(std::string parent_id, std::string name) {
    const bool root = parent_id.empty();
    CreateRequest request{.id = root ? RootId() : ChildId(),
                          .kind = root ? root_kind_ : ChildKind(),
                          .name = std::move(name),
                          .parent_id = std::move(parent_id),
                          .spec = "{}",
                          .labels = {},
                          .tenancy = {},
                          .references = References(),
                          .actor = Actor()};
    return {"create " + Short(request.id) + " " + request.name,
            [=](const RuleContext& context) { return JudgeCreate(request, context); }};
  }
  Operation Patch() {
    PatchRequest request{AnyTarget(), Versions(), R"({"p":)" + std::to_string(Below(3)) + "}",
                         Below(2) == 0 ? std::optional<Labels>() : Labels{{"team", Actor()}},
                         Actor()};
    return {"patch " + Short(request.target.id),
            [=](const RuleContext& context) { return JudgePatch(request, context); }};
  }
  RequestedReferences References() {
    RequestedReferences references;
    if (Below(4) == 0) {
      references["peer"] = {{RootId(), root_kind_}};
    }
    if (Below(4) == 0) {
      references["part"] = {{ChildId(), ChildKind()}};
    }
    return references;
  }
  Operation PatchReferences() {
    PatchRequest request{AnyTarget(), {}, {}, {}, Actor(), References()};
    return {"refer " + Short(request.target.id),
            [=](const RuleContext& context) { return JudgePatch(request, context); }};
  }
  Operation ForceDelete() {
    ForceDeleteRequest request{AnyTarget(), Versions(), Actor(), "stuck"};
    return {"force " + Short(request.target.id),
            [=](const RuleContext& context) { return JudgeForceDelete(request, context); }};
  }

  engine::Random& random_;
  const std::string root_kind_;
};

std::vector<engine::Record> Rows(engine::Journal& journal) {
  std::vector<engine::Record> all;
  for (const engine::StreamId stream : {ResourcesImage::kStream, StatusesImage::kStream}) {
    auto rows = journal.ReadStream(stream, engine::Position{1}, 1000, support::Soon());
    EXPECT_OK(rows.status());
    all.insert(all.end(), rows->begin(), rows->end());
  }
  return all;
}

// Adds what the replica answered to `history`, and to `story` for people.
void Tell(Replica& replica, History& history, std::string& story) {
  for (const support::Ended& ended : replica.WaitForAll()) {
    ASSERT_NE(ended.kind, engine::CommandOutcome::Kind::kFailed) << ended.why;
    story += history.operations[history.answers.size()].name + " -> " + ended.answer + "\n";
    history.answers.push_back(ended.answer);
  }
}

// How much happened in the rounds, so that a test of nothing is noticed.
struct Seen {
  std::uint64_t deferred = 0;
  std::uint64_t records = 0;
};

void RunRound(engine::Random& random, Seen& seen) {
  const Registry registry = RegistryOf(random.Below(3));
  Chance chance(random);
  const std::unique_ptr<engine::Engine> store = engine::memory::Open(schemas::Streams(), kFrozen);
  Gate gate;
  support::HookedJournal gated(store->journal());
  gated.hooks.before_begin = [&gate] { return gate.Pass(); };

  Replica other(store->journal(), registry);
  const auto prepare = [&other](const Operation& operation) {
    other.Submit(operation);
    other.WaitForAll();
  };
  for (int i = 0; i < 3; ++i) {
    prepare(chance.CreateRoot());
    prepare(chance.CreateChild());
    prepare(chance.CreateChild());
    prepare(chance.CreateGrandchild());
  }
  for (std::uint64_t i = chance.Below(3); i > 0; --i) {
    prepare(chance.Delete());
  }
  for (std::uint64_t i = chance.Below(6); i > 0; --i) {
    prepare(chance.Report());
  }
  Model start(registry);
  for (const engine::Record& record : Rows(store->journal())) {
    start.Apply(record);
  }
  const std::size_t prepared = other.WaitForAll().size();

  History history;
  std::string story;
  Replica replica(gated, registry);
  for (int i = 0; i < 5; ++i) {
    history.operations.push_back(chance.Any());
    replica.Submit(history.operations.back());
  }
  gate.WaitForSomeone();
  const Operation foreign = chance.Any();
  other.Submit(foreign);
  const support::Ended foreign_end = other.WaitForAll()[prepared];
  gate.Open();
  Tell(replica, history, story);
  history.operations.push_back(foreign);
  history.answers.push_back(foreign_end.answer);
  story += "elsewhere " + foreign.name + " -> " + foreign_end.answer + "\n";

  Model end(registry);
  for (const engine::Record& record : Rows(store->journal())) {
    end.Apply(record);
  }
  history.end = end.Digest();
  seen.deferred += replica.counters().deferred;
  seen.records += replica.counters().records;
  ASSERT_EQ(history.answers.size(), history.operations.size());
  std::vector<bool> done(history.operations.size(), false);
  EXPECT_TRUE(SomeSerialOrderGives(history, start, done, done.size())) << story;
}

TEST(SerialisableResourcesTest, ABatchGivesOnlyWhatSomeSerialOrderGives) {
  support::SeededRandom random;
  Seen seen;
  constexpr int kRounds = 600;
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(round);
    RunRound(random, seen);
  }
  if (!testing::Test::HasFailure()) {
    EXPECT_GT(seen.deferred, 0U);
    EXPECT_GT(seen.records, 0U);
  }
}

}  // namespace
}  // namespace projections
