#include "engine/heartbeat.h"

#include <gmock/gmock.h>

#include "engine/local_presence.h"
#include "engine/memory/memory.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace engine {
namespace {

using support::AppendOne;
using support::kThings;
using support::Soon;
using support::StatusIs;

// Acknowledges what the test lets it.
class ScriptedPresence final : public Presence {
 public:
  absl::StatusOr<Life> NoteLife(Deadline deadline) override { return behind_.NoteLife(deadline); }
  absl::StatusOr<Pulse> Beat(const Replica& self, Deadline deadline) override {
    {
      MutexLock lock(mutex_);
      if (!refusal_.ok()) {
        return refusal_;
      }
    }
    return behind_.Beat(self, deadline);
  }
  void Refuse(absl::Status refusal) {
    MutexLock lock(mutex_);
    refusal_ = std::move(refusal);
  }
  // As another replica.
  void Say(const Replica& other) { ASSERT_OK(behind_.Beat(other, Soon())); }

 private:
  LocalPresence behind_{SystemClock(), Origin{"life"}};
  Mutex mutex_;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
};

class HeartbeatTest : public testing::Test {
 protected:
  HeartbeatTest() {
    std::vector<std::unique_ptr<Projection>> projections;
    projections.push_back(std::make_unique<support::ToyProjection>());
    follower_ = std::make_unique<Follower>(std::move(projections));
  }
  void Start(std::uint32_t feature_level = 3) {
    heartbeat_ = std::make_unique<Heartbeat>(
        presence_, proof_, std::vector<const Follower*>{follower_.get()},
        HeartbeatOptions{.interval = std::chrono::milliseconds(1),
                         .replica = "we",
                         .feature_level = feature_level});
    heartbeat_->WaitForFirst(Soon());
  }
  void CatchUp() {
    const auto news = store_->journal().ReadAfter(follower_->cursors(), Soon());
    ASSERT_OK(news);
    follower_->Deliver(*news);
  }
  Replica Other(std::uint64_t digest, Position position = Position{1}) {
    return {"other", {}, 3, {{kThings, position, 1, digest}}};
  }
  std::uint64_t OurDigest() { return follower_->view()->Find(kThings)->image->StateDigest(); }
  void AwaitBeats() {
    const std::uint64_t before = heartbeat_->counters().beats;
    ASSERT_TRUE(
        support::WaitFor([&] { return heartbeat_->counters().beats > before + 1; }, Soon()));
  }
  bool Becomes(const std::function<bool()>& condition) {
    return support::WaitFor(condition, Soon());
  }

  const std::unique_ptr<Engine> store_ = memory::Open(support::Streams());
  const Origin life_{"life"};
  ScriptedPresence presence_;
  Proof proof_{std::chrono::hours(1)};
  std::unique_ptr<Follower> follower_;
  std::unique_ptr<Heartbeat> heartbeat_;
};

TEST_F(HeartbeatTest, TheLifeThatAcknowledgesIsProven) {
  Start();
  EXPECT_TRUE(Becomes([&] { return proof_.Check(life_).ok(); }));
  EXPECT_THAT(proof_.Check(Origin{"another"}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_OK(heartbeat_->CanWrite(std::chrono::hours(1)));
  EXPECT_EQ(heartbeat_->counters().epoch, 1U);
}

TEST_F(HeartbeatTest, AStoreThatTakesNoWritesProvesNothing) {
  presence_.Refuse(absl::UnavailableError("read-only"));
  Start();
  EXPECT_THAT(proof_.Check(life_), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(heartbeat_->CanWrite(std::chrono::hours(1)),
              StatusIs(absl::StatusCode::kUnavailable));
  absl::Status told;
  bool asked = false;
  Mutex mutex;
  proof_.Ask(life_, [&](const absl::Status& status) {
    MutexLock lock(mutex);
    told = status;
    asked = true;
  });
  EXPECT_TRUE(Becomes([&] {
    MutexLock lock(mutex);
    return asked;
  }));
  EXPECT_THAT(told, StatusIs(absl::StatusCode::kUnavailable));
  presence_.Refuse(absl::OkStatus());
  EXPECT_TRUE(Becomes([&] { return proof_.Check(life_).ok(); }));
}

TEST_F(HeartbeatTest, AnotherStateAtOurPositionIsAnAlarmUntilItIsGone) {
  support::ExpectErrorLogs();
  AppendOne(store_->journal(), kThings, "a", "1");
  CatchUp();
  Start();
  AwaitBeats();
  presence_.Say(Other(OurDigest()));
  AwaitBeats();
  EXPECT_OK(proof_.Check(life_));
  presence_.Say(Other(OurDigest() + 1));
  AwaitBeats();
  EXPECT_OK(proof_.Check(life_)) << "it may not have noticed yet what we have";
  EXPECT_TRUE(Becomes([&] {
    presence_.Say(Other(OurDigest() + 1));
    return !proof_.Check(life_).ok();
  }));
  EXPECT_EQ(heartbeat_->counters().differing, 1U);
  EXPECT_EQ(heartbeat_->counters().mismatches, 1U);
  presence_.Say(Other(OurDigest()));
  EXPECT_TRUE(Becomes([&] { return proof_.Check(life_).ok(); }));
  EXPECT_EQ(heartbeat_->counters().differing, 0U);
}

TEST_F(HeartbeatTest, OtherPositionsAndFoldsAreNotCompared) {
  AppendOne(store_->journal(), kThings, "a", "1");
  CatchUp();
  Start();
  Replica other = Other(OurDigest() + 1, Position{7});
  other.streams.push_back({kThings, Position{1}, 2, OurDigest() + 1});
  for (int i = 0; i < 3; ++i) {
    presence_.Say(other);
    AwaitBeats();
  }
  EXPECT_OK(proof_.Check(life_));
}

TEST_F(HeartbeatTest, APositionThatWePassedIsStillCompared) {
  support::ExpectErrorLogs();
  AppendOne(store_->journal(), kThings, "a", "1");
  CatchUp();
  Start();
  AwaitBeats();
  const std::uint64_t digest = OurDigest();
  AppendOne(store_->journal(), kThings, "a", "2");
  CatchUp();
  AwaitBeats();
  EXPECT_TRUE(Becomes([&] {
    presence_.Say(Other(digest + 1));
    return !proof_.Check(life_).ok();
  }));
}

TEST_F(HeartbeatTest, WritersAreToldWhatEveryReplicaCanRead) {
  Replica old = Other(0, Position{9});
  old.feature_level = 2;
  presence_.Say(old);
  Start(3);
  EXPECT_TRUE(Becomes([&] { return heartbeat_->feature_level() == 2U; }));
  EXPECT_EQ(heartbeat_->counters().replicas, 2U);
  old.feature_level = 5;
  presence_.Say(old);
  EXPECT_TRUE(Becomes([&] { return heartbeat_->feature_level() == 3U; }));
}

TEST_F(HeartbeatTest, BeforeTheFirstBeatOnlyTheOldestTypesAreWritten) {
  presence_.Refuse(absl::UnavailableError("store away"));
  Start(3);
  EXPECT_EQ(heartbeat_->feature_level(), 1U);
}

}  // namespace
}  // namespace engine
