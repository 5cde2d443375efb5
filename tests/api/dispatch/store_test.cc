#include "api/dispatch/store.h"

#include <atomic>

#include "api/dispatch/readiness.h"
#include "engine/base/reason.h"
#include "engine/snapshot.h"
#include "schemas/codec.h"
#include "schemas/killswitch_generated.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/poll.h"
#include "tests/support/private_directory.h"
#include "tests/support/row_builder.h"

namespace api {
namespace {

using dispatch_test::HookedEngine;
using support::StatusIs;
using testing::HasSubstr;

// Folds nothing of the kill list after its first record.
class BrokenProjection final : public engine::Projection {
 public:
  class Image final : public engine::ProjectionImage {
   public:
    std::uint64_t StateDigest() const override { return 0; }
    absl::Status Save(const engine::StatePartSink&) const override { return absl::OkStatus(); }
  };
  engine::StreamId stream() const override { return schemas::kKillSwitchStream; }
  std::uint32_t fold_version() const override { return 1; }
  absl::Status Apply(const engine::Record& record) override {
    return engine::Raw(record.position) < 2 ? absl::OkStatus()
                                            : absl::DataLossError("cannot be folded");
  }
  std::shared_ptr<const engine::ProjectionImage> Publish() override {
    return std::make_shared<Image>();
  }
  absl::Status Load(std::string_view) override { return absl::OkStatus(); }
  void Reset() override {}
};

StoreOptions Quiet() {
  StoreOptions options;
  options.look_interval = std::chrono::hours(1);
  return options;
}

ReadinessOptions Quick() {
  ReadinessOptions options;
  options.ping_interval = std::chrono::milliseconds(1);
  return options;
}

absl::StatusOr<std::unique_ptr<Store>> OpenStore(engine::Engine& engine) {
  return Store::Open(engine, projections::MainProjections(), projections::AuditProjections(),
                     Quiet());
}

absl::StatusOr<std::unique_ptr<Store>> OpenBroken(engine::Engine& engine) {
  Projections main;
  main.push_back(std::make_unique<BrokenProjection>());
  return Store::Open(engine, std::move(main), projections::AuditProjections(), Quiet());
}

StoreOptions WithSnapshots(const std::string& dir) {
  StoreOptions options = Quiet();
  options.snapshots.dir = dir;
  options.snapshots.interval = std::chrono::milliseconds(1);
  options.snapshots.verify_interval = std::chrono::milliseconds(1);
  return options;
}

absl::StatusOr<std::unique_ptr<Store>> OpenAt(engine::Engine& engine, const StoreOptions& options) {
  return Store::Open(engine, projections::MainProjections(), projections::AuditProjections(),
                     options);
}

void AppendKills(engine::Journal& journal, int count) {
  for (int i = 0; i < count; ++i) {
    flatbuffers::FlatBufferBuilder body;
    const auto name = body.CreateString("exp" + std::to_string(i % 3));
    const auto by = body.CreateString("ops");
    support::AppendOne(
        journal, schemas::kKillSwitchStream, "",
        schemas::Encode(body, schemas::CreateKill(body, name, schemas::KillState::kKilled, by)));
  }
}

bool BecomesStatus(const Readiness& readiness, const std::string& status) {
  return support::WaitFor([&] { return readiness.Get().status == status; }, support::Soon());
}

// Time that is set by hand.
class HandClock final : public engine::Clock {
 public:
  engine::Timestamp Now() const override { return {micros.load()}; }
  engine::Duration SinceBoot() const override { return engine::SystemClock().SinceBoot(); }

  std::atomic<std::int64_t> micros = 1'000'000;
};

TEST(StoreTest, KeptAnswersAreForgottenAfterTheirTime) {
  constexpr std::int64_t kDay = 24LL * 3600 * 1'000'000;
  HandClock clock;
  const auto engine = engine::memory::Open(schemas::Streams(), clock);
  const std::string key(engine::kAnswerHashBytes, 'k');
  const auto kept = [&] {
    const auto transaction = engine->journal().Begin(support::Soon());
    EXPECT_OK(transaction);
    return !(*transaction)->Read({.answers = {key}})->answers.empty();
  };
  {
    ASSERT_OK_AND_ASSIGN(const auto transaction, engine->journal().Begin(support::Soon()));
    ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({}));
    support::RowBuilder rows(state);
    rows.Add(schemas::kKillSwitchStream, "", "row");
    const engine::Record row = rows.rows().front();
    ASSERT_OK(transaction->Append({row}, {{key, key, "answer", row.tx, row.at}}));
    ASSERT_EQ(transaction->Commit(support::Soon()).kind, engine::CommitOutcome::Kind::kCommitted);
  }
  StoreOptions options = Quiet();
  options.prune_interval = std::chrono::milliseconds(1);
  ASSERT_OK_AND_ASSIGN(const auto store,
                       Store::Open(*engine, {}, projections::AuditProjections(), options));
  clock.micros += kDay - 1'000'000;
  EXPECT_TRUE(kept());
  clock.micros += 2'000'000;
  EXPECT_TRUE(support::WaitFor([&] { return !kept(); }, support::Soon()));
}

TEST(StoreTest, AStoppedStreamIsNamedWithItsPosition) {
  HookedEngine engine;
  support::AppendOne(engine.journal(), schemas::kKillSwitchStream, "", "first");
  support::AppendOne(engine.journal(), schemas::kKillSwitchStream, "", "second");
  support::ExpectErrorLogs();
  ASSERT_OK_AND_ASSIGN(const auto store, OpenBroken(engine));
  EXPECT_THAT(store->StreamHealth(),
              StatusIs(absl::StatusCode::kDataLoss,
                       testing::AllOf(HasSubstr("killswitch"), HasSubstr("position 2"))));
}

TEST(StoreTest, AReplayThatFailsIsTold) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  EXPECT_OK(store->StreamHealth());
  EXPECT_EQ(store->main().Last()->tx, engine::Tx::kBeforeFirst);
}

TEST(StoreSnapshotTest, TheNextStartReadsTheTailAlone) {
  HookedEngine engine;
  auto& journal = static_cast<support::HookedJournal&>(engine.journal());
  ASSERT_OK_AND_ASSIGN(const auto directory, support::PrivateDirectory::Make());
  AppendKills(journal, 50);
  ASSERT_OK(OpenAt(engine, WithSnapshots(directory->path())));
  AppendKills(journal, 2);
  const std::uint64_t before = journal.rows_scanned();
  ASSERT_OK_AND_ASSIGN(const auto store, OpenAt(engine, WithSnapshots(directory->path())));
  EXPECT_EQ(journal.rows_scanned() - before, 2U);
  ASSERT_OK_AND_ASSIGN(const auto from_the_rows, OpenStore(engine));
  const auto digest_of = [](Store& of) {
    return of.main().Last()->Find(schemas::kKillSwitchStream)->image->StateDigest();
  };
  EXPECT_EQ(digest_of(*store), digest_of(*from_the_rows));
  EXPECT_THAT(support::LogLines(), testing::Contains(HasSubstr("took over a snapshot")));
}

TEST(StoreSnapshotTest, ALaneThatGrewIsSavedWhileItServes) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto directory, support::PrivateDirectory::Make());
  AppendKills(engine.journal(), 5);
  StoreOptions options = WithSnapshots(directory->path());
  options.snapshots.rows = 5;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenAt(engine, options));
  ASSERT_OK_AND_ASSIGN(const auto snapshots, engine::SnapshotDirectory::Open(directory->path()));
  EXPECT_TRUE(support::WaitFor([&] { return !snapshots.List("main")->empty(); }, support::Soon()));
}

TEST(StoreSnapshotTest, DamageBehindASnapshotIsFoundAfterTheStart) {
  HookedEngine engine;
  auto& journal = static_cast<support::HookedJournal&>(engine.journal());
  ASSERT_OK_AND_ASSIGN(const auto directory, support::PrivateDirectory::Make());
  AppendKills(journal, 9);
  ASSERT_OK(OpenAt(engine, WithSnapshots(directory->path())));
  journal.hooks.on_rows = [](std::vector<engine::Record>& rows) {
    if (rows.size() > 4) {
      rows[3].payload = engine::Payload("damaged");
    }
  };
  support::ExpectErrorLogs();
  ASSERT_OK_AND_ASSIGN(const auto store, OpenAt(engine, WithSnapshots(directory->path())));
  EXPECT_TRUE(
      support::WaitFor([&] { return absl::IsDataLoss(store->StreamHealth()); }, support::Soon()));
  EXPECT_THAT(store->StreamHealth(),
              StatusIs(absl::StatusCode::kDataLoss,
                       testing::AllOf(HasSubstr("killswitch"), HasSubstr("position 4"))));
}

TEST(StoreSnapshotTest, WithoutAPlaceForThemItGoesOn) {
  HookedEngine engine;
  EXPECT_OK(OpenAt(engine, WithSnapshots("/proc/no-such-place/snapshots")));
  EXPECT_THAT(support::LogLines(), testing::Contains(HasSubstr("going without snapshots")));
}

TEST(LaneTest, AgeCountsFromTheLastGoodFlight) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  const auto fly = [&] {
    std::latch landed(1);
    store->main().Latest([&](const absl::StatusOr<engine::ViewPtr>&) { landed.count_down(); });
    landed.wait();
  };
  // Older than a moment, without waiting for a certain time.
  const engine::Duration before = store->main().Age();
  ASSERT_TRUE(support::WaitFor([&] { return store->main().Age() > before; }, support::Soon()));
  const engine::Duration old = store->main().Age();
  const engine::Duration start = engine::SystemClock().SinceBoot();
  fly();
  const engine::Duration passed = engine::SystemClock().SinceBoot() - start;
  EXPECT_LT(store->main().Age(), old + passed);
}

TEST(ReadinessTest, FromStartToEnd) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  Readiness readiness(*store, Quick());
  EXPECT_EQ(readiness.Get().status, "not_ready");
  readiness.SetServing();
  EXPECT_TRUE(BecomesStatus(readiness, "ok"));
  readiness.SetDraining();
  EXPECT_EQ(readiness.Get().status, "shutting_down");
}

TEST(ReadinessTest, ALostStoreIsNotReadyUntilItComesBack) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  Readiness readiness(*store, Quick());
  readiness.SetServing();
  ASSERT_TRUE(BecomesStatus(readiness, "ok"));
  engine.SetReady([] { return absl::UnavailableError("password of the database"); });
  ASSERT_TRUE(BecomesStatus(readiness, "not_ready"));
  EXPECT_EQ(readiness.Get().reason, "the store cannot be reached");
  engine.SetReady({});
  EXPECT_TRUE(BecomesStatus(readiness, "ok"));
}

TEST(ReadinessTest, SaysWhatAilsTheStoreAndNothingInItsWords) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  Readiness readiness(*store, Quick());
  readiness.SetServing();
  ASSERT_TRUE(BecomesStatus(readiness, "ok"));
  engine.SetReady([] {
    return engine::WithReason(engine::Reason::kLockBusy, absl::UnavailableError("SQLSTATE 55P03"));
  });
  ASSERT_TRUE(BecomesStatus(readiness, "not_ready"));
  EXPECT_EQ(readiness.Get().reason, engine::Sentence(engine::Reason::kLockBusy));
}

TEST(ReadinessTest, SaysWhyNoWriteIsAcknowledged) {
  HookedEngine engine;
  engine.SetBeforeBeat([] {
    return engine::WithReason(engine::Reason::kDiskFull, absl::ResourceExhaustedError("53100"));
  });
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  Readiness readiness(*store, Quick());
  readiness.WaitForFirstProbe();
  readiness.SetServing();
  EXPECT_EQ(readiness.Get().reason, "the store acknowledges no writes: the store's disk is full");
}

TEST(ReadinessTest, AfterTheFirstProbeItKnows) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  Readiness readiness(*store, Quick());
  readiness.WaitForFirstProbe();
  readiness.SetServing();
  EXPECT_TRUE(readiness.Get().ready());
}

TEST(ReadinessTest, AProberThatIsStuckCountsForNothing) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  std::latch release(1);
  engine.SetReady([&release] {
    release.wait();
    return absl::OkStatus();
  });
  ReadinessOptions options = Quick();
  options.max_age = std::chrono::milliseconds(1);
  Readiness readiness(*store, options);
  readiness.SetServing();
  EXPECT_EQ(readiness.Get().reason, "the store has not answered in time");
  release.count_down();
}

TEST(ReadinessTest, AStoreThatTakesNoWritesIsNotReady) {
  HookedEngine engine;
  engine.SetBeforeBeat([] { return absl::UnavailableError("read-only"); });
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  Readiness readiness(*store, Quick());
  readiness.WaitForFirstProbe();
  readiness.SetServing();
  EXPECT_EQ(readiness.Get().reason, "the store acknowledges no writes");
  engine.SetBeforeBeat({});
  EXPECT_TRUE(BecomesStatus(readiness, "ok"));
}

TEST(ReadinessTest, AStreamThatIsRebuiltIsNotReadyUntilItIsWhole) {
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(engine));
  Readiness readiness(*store, Quick());
  readiness.WaitForFirstProbe();
  readiness.SetServing();
  ASSERT_TRUE(readiness.Get().ready());
  const engine::StreamId streams[] = {schemas::kKillSwitchStream};
  store->main().follower().Rebuild(streams, absl::UnavailableError("test"));
  if (const Readiness::State state = readiness.Get(); !state.ready()) {
    EXPECT_THAT(state.reason, HasSubstr("stream killswitch is being rebuilt"));
  }
  EXPECT_TRUE(BecomesStatus(readiness, "ok"));
}

TEST(StoreTest, WritersAreToldWhatEveryReplicaCanRead) {
  HookedEngine engine;
  ASSERT_OK(engine.presence().Beat({"older", {}, 1, {}}, support::Soon()));
  StoreOptions options = Quiet();
  options.heartbeat.feature_level = 7;
  ASSERT_OK_AND_ASSIGN(const auto store, Store::Open(engine, projections::MainProjections(),
                                                     projections::AuditProjections(), options));
  store->heartbeat().WaitForFirst(support::Soon());
  EXPECT_EQ(store->feature_level(), 1U);
  EXPECT_EQ(store->heartbeat().counters().replicas, 2U);
}

TEST(ReadinessTest, AStoppedStreamIsNotReady) {
  HookedEngine engine;
  support::AppendOne(engine.journal(), schemas::kKillSwitchStream, "", "first");
  support::AppendOne(engine.journal(), schemas::kKillSwitchStream, "", "second");
  support::ExpectErrorLogs();
  ASSERT_OK_AND_ASSIGN(const auto store, OpenBroken(engine));
  Readiness readiness(*store, Quick());
  readiness.SetServing();
  ASSERT_TRUE(support::WaitFor(
      [&] { return readiness.Get().reason.find("killswitch") != std::string::npos; },
      support::Soon()));
  EXPECT_EQ(readiness.Get().status, "not_ready");
}

}  // namespace
}  // namespace api
