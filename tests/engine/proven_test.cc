// Readers that act on what they are told: what the coalescer gives them while writers commit, the
// heartbeat is late, and the store changes.

#include <atomic>
#include <latch>

#include <gmock/gmock.h>

#include "engine/coalescer.h"
#include "engine/heartbeat.h"
#include "engine/local_presence.h"
#include "tests/engine/committer_fixture.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"

namespace engine {
namespace {

using support::AppendOne;
using support::kThings;
using support::StatusIs;

// A coalescer with a proof, and a committer on the same follower. Flights can be held between
// their snapshot and their answer.
class ProvenTest : public testing::Test, protected CommitterFixture {
 protected:
  ProvenTest() {
    journal_.hooks.after_read = [this] {
      MutexLock lock(flight_mutex_);
      ++flying_;
      landed_.SignalAll();
      while (flights_held_) {
        landed_.Wait(flight_mutex_);
      }
      return absl::OkStatus();
    };
  }
  ~ProvenTest() override {
    HoldFlights(false);
    coalescer_.reset();
    committer_.reset();
  }

  void Start() {
    CommitterFixture::Open({.proof = &proof_});
    coalescer_ =
        std::make_unique<Coalescer>(journal_, *follower_, CoalescerOptions{.proof = &proof_});
  }
  void HoldFlights(bool held) {
    MutexLock lock(flight_mutex_);
    flights_held_ = held;
    landed_.SignalAll();
  }
  void WaitForTakeOff(int flights) {
    MutexLock lock(flight_mutex_);
    while (flying_ < flights) {
      ASSERT_TRUE(landed_.WaitUntil(flight_mutex_, support::Soon()));
    }
  }
  absl::StatusOr<ViewPtr> ReadProven() {
    std::latch told(1);
    absl::StatusOr<ViewPtr> answer = absl::UnknownError("");
    coalescer_->JoinProven([&](const absl::StatusOr<ViewPtr>& view) {
      answer = view;
      told.count_down();
    });
    told.wait();
    return answer;
  }

  Mutex flight_mutex_;
  CondVar landed_;
  bool flights_held_ ABSL_GUARDED_BY(flight_mutex_) = false;
  int flying_ ABSL_GUARDED_BY(flight_mutex_) = 0;
  Proof proof_{std::chrono::hours(1)};
  std::unique_ptr<Coalescer> coalescer_;
};

TEST_F(ProvenTest, AnAppendOfOurOwnProves) {
  Start();
  Submit(PutAlways("a", "1"));
  ASSERT_EQ(WaitForAll().back().kind, CommandOutcome::Kind::kCommitted);
  EXPECT_OK(ReadProven());
}

TEST_F(ProvenTest, AFlightIsProvenByWhoeverAnsweredIt) {
  Start();
  Submit(PutAlways("a", "1"));
  WaitForAll();
  journal_.SwitchTo(store_->journal(), "promoted");
  std::atomic<bool> told = false;
  std::atomic<bool> ok = false;
  coalescer_->JoinProven([&](const absl::StatusOr<ViewPtr>& view) {
    ok = view.ok();
    told = true;
  });
  WaitForTakeOff(2);
  EXPECT_OK(coalescer_->JoinAndWait()) << "a flight that came later has landed";
  EXPECT_FALSE(told) << "the life that acknowledged our commit is another one";
  Submit(PutAlways("a", "2"));  // Acknowledged by the new one.
  WaitForAll();
  EXPECT_TRUE(support::WaitFor([&] { return told.load(); }, support::Soon()));
  EXPECT_TRUE(ok);
}

TEST_F(ProvenTest, WithoutAProofNothingIsProven) {
  coalescer_ = std::make_unique<Coalescer>(journal_, *follower_, CoalescerOptions{});
  EXPECT_THAT(ReadProven(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ProvenTest, NothingIsProvenWhileAStreamIsRebuilt) {
  Start();
  Submit(PutAlways("a", "1"));
  WaitForAll();
  const StreamId things[] = {kThings};
  follower_->Rebuild(things, absl::UnavailableError("test"));
  EXPECT_THAT(ReadProven(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ProvenTest, AFlightSentBeforeOurAppendAndAnsweredAfterItRaisesNoAlarm) {
  Start();
  Submit(PutAlways("a", "1"));
  WaitForAll();
  HoldFlights(true);
  std::latch told(1);
  std::atomic<std::uint64_t> seen = 0;
  coalescer_->Join([&](const absl::StatusOr<ViewPtr>& view) {
    seen = Raw((*view)->tx);
    told.count_down();
  });
  WaitForTakeOff(1);
  Submit(PutAlways("a", "2"));
  ASSERT_EQ(WaitForAll().back().kind, CommandOutcome::Kind::kCommitted);
  HoldFlights(false);
  told.wait();
  EXPECT_EQ(seen, 2U);
  EXPECT_OK(follower_->view()->Whole());
  EXPECT_OK(follower_->view()->Find(kThings)->health);
  EXPECT_OK(ReadProven());
}

TEST_F(ProvenTest, AThousandReadersShareTwoFlightsAndNoneMissesWhatWasCommittedBefore) {
  constexpr int kReaders = 1000;
  Start();
  Submit(PutAlways("device", "active"));
  WaitForAll();
  HoldFlights(true);
  std::latch told(kReaders + 1);
  std::atomic<int> old_answers = 0;
  std::atomic<int> early_answers = 0;
  const auto value = [](const absl::StatusOr<ViewPtr>& view) {
    return (*ImageIn<support::ToyImage>(**view))->entries().at("device").value;
  };
  coalescer_->JoinProven([&](const absl::StatusOr<ViewPtr>& view) {
    early_answers += view.ok() ? 1 : 0;
    told.count_down();
  });
  WaitForTakeOff(1);  // Slow: its snapshot is taken, its answer does not come.
  // Revoked on another replica.
  AppendOne(store_->journal(), kThings, "device", "revoked");
  for (int i = 0; i < kReaders; ++i) {
    coalescer_->JoinProven([&](const absl::StatusOr<ViewPtr>& view) {
      old_answers += view.ok() && value(view) == "revoked" ? 0 : 1;
      told.count_down();
    });
  }
  HoldFlights(false);
  told.wait();
  EXPECT_EQ(early_answers, 1);
  EXPECT_EQ(old_answers, 0);
  EXPECT_EQ(coalescer_->counters().flights, 2U);
}

}  // namespace
}  // namespace engine
