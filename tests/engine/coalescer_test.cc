#include "engine/coalescer.h"

#include <atomic>
#include <latch>
#include <set>

#include <gmock/gmock.h>

#include "engine/memory/memory.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/logs.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace engine {
namespace {

using support::AppendOne;
using support::kThings;
using support::StatusIs;

// A coalescer whose flights can be held between their snapshot and their answer.
class CoalescerTest : public testing::Test {
 protected:
  CoalescerTest() {
    std::vector<std::unique_ptr<Projection>> projections;
    projections.push_back(std::make_unique<support::ToyProjection>());
    follower_ = std::make_unique<Follower>(std::move(projections));
    journal_.hooks.after_read = [this] {
      MutexLock lock(mutex_);
      ++flying_;
      changed_.SignalAll();
      while (held_) {
        changed_.Wait(mutex_);
      }
      return answer_;
    };
  }

  void Open(CoalescerOptions options = {}) {
    coalescer_ = std::make_unique<Coalescer>(journal_, *follower_, std::move(options));
  }
  void Hold() {
    MutexLock lock(mutex_);
    held_ = true;
  }
  void Release(absl::Status answer = absl::OkStatus()) {
    MutexLock lock(mutex_);
    answer_ = std::move(answer);
    held_ = false;
    changed_.SignalAll();
  }
  void WaitForTakeOff(int flights) {
    MutexLock lock(mutex_);
    while (flying_ < flights) {
      ASSERT_TRUE(changed_.WaitUntil(mutex_, support::Soon()));
    }
  }

  std::unique_ptr<Engine> store_ = memory::Open(support::Streams());
  support::HookedJournal journal_{store_->journal()};
  std::unique_ptr<Follower> follower_;
  Mutex mutex_;
  CondVar changed_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  int flying_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status answer_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Coalescer> coalescer_;
};

TEST_F(CoalescerTest, ATicketTakenAfterTakeOffIsNotServedByThatFlight) {
  Open();
  Hold();
  std::latch landed(2);
  std::atomic<std::uint64_t> early = 99;
  std::atomic<std::uint64_t> late = 99;
  coalescer_->Join([&](const absl::StatusOr<ViewPtr>& view) {
    early = Raw((*view)->tx);
    landed.count_down();
  });
  WaitForTakeOff(1);  // The snapshot is taken: nothing is in it.
  AppendOne(store_->journal(), kThings, "a", "1");
  coalescer_->Join([&](const absl::StatusOr<ViewPtr>& view) {
    late = Raw((*view)->tx);
    landed.count_down();
  });
  Release();
  landed.wait();
  EXPECT_EQ(early, 0U);
  EXPECT_EQ(late, 1U) << "it arrived after the append was acknowledged";
  EXPECT_EQ(coalescer_->counters().flights, 2U);
}

TEST_F(CoalescerTest, AnyNumberOfReadersShareOneFlight) {
  constexpr int kReaders = 1000;
  Open();
  Hold();
  std::latch landed(kReaders + 1);
  const auto count = [&](const absl::StatusOr<ViewPtr>&) { landed.count_down(); };
  coalescer_->Join(count);
  WaitForTakeOff(1);
  for (int i = 0; i < kReaders; ++i) {
    coalescer_->Join(count);
  }
  Release();
  landed.wait();
  EXPECT_EQ(coalescer_->counters().flights, 2U);
  EXPECT_EQ(coalescer_->counters().readers, kReaders + 1U);
}

TEST_F(CoalescerTest, AnErrorFailsItsReadersAndIsForgotten) {
  Open();
  Release(absl::UnavailableError("store away"));
  EXPECT_THAT(coalescer_->JoinAndWait(), StatusIs(absl::StatusCode::kUnavailable));
  Release();
  EXPECT_OK(coalescer_->JoinAndWait());
  EXPECT_EQ(coalescer_->counters().failed, 1U);
}

TEST_F(CoalescerTest, TooManyReadersAreRefusedAtOnce) {
  Open({.max_waiters = 2});
  Hold();
  std::latch landed(2);
  const auto count = [&](const absl::StatusOr<ViewPtr>&) { landed.count_down(); };
  coalescer_->Join(count);
  WaitForTakeOff(1);
  coalescer_->Join(count);
  absl::Status refusal;
  coalescer_->Join([&](const absl::StatusOr<ViewPtr>& view) { refusal = view.status(); });
  EXPECT_THAT(refusal, StatusIs(absl::StatusCode::kResourceExhausted));
  Release();
  landed.wait();
}

TEST_F(CoalescerTest, StoppingFailsWhoStillWaits) {
  Open();
  Hold();
  std::latch landed(2);
  std::atomic<int> failed = 0;
  const auto count = [&](const absl::StatusOr<ViewPtr>& view) {
    failed += view.ok() ? 0 : 1;
    landed.count_down();
  };
  coalescer_->Join(count);
  WaitForTakeOff(1);
  coalescer_->Join(count);
  Thread closing("closing", [this] { coalescer_.reset(); });
  // The second reader is refused whether its flight had begun when the stop came or not.
  Release(absl::UnavailableError("store away"));
  landed.wait();
  EXPECT_EQ(failed, 2);
}

TEST_F(CoalescerTest, ALosslessRestartOfTheStoreIsGoneOnWith) {
  Open();
  AppendOne(store_->journal(), kThings, "a", "1");
  ASSERT_OK(coalescer_->JoinAndWait());
  journal_.SwitchTo(store_->journal(), "restarted");
  AppendOne(store_->journal(), kThings, "a", "2");
  ASSERT_OK_AND_ASSIGN(const ViewPtr view, coalescer_->JoinAndWait());
  EXPECT_OK(view->Find(kThings)->health);
  EXPECT_EQ(view->tx, Tx{2});
}

TEST_F(CoalescerTest, AStoreThatLostWhatWeKnowIsNoticedByTheFirstReader) {
  support::ExpectErrorLogs();
  Open();
  AppendOne(store_->journal(), kThings, "a", "1");
  AppendOne(store_->journal(), kThings, "a", "2");
  ASSERT_OK(coalescer_->JoinAndWait());
  // Restored to an earlier point: the same first row, and nothing new that could give it away.
  const std::unique_ptr<Engine> restored = memory::Open(support::Streams());
  AppendOne(restored->journal(), kThings, "a", "1");
  journal_.SwitchTo(restored->journal(), "restored");
  ASSERT_OK_AND_ASSIGN(const ViewPtr view, coalescer_->JoinAndWait());
  EXPECT_THAT(ImageIn<support::ToyImage>(*view),
              StatusIs(absl::StatusCode::kUnavailable, testing::HasSubstr("is being rebuilt")));
  EXPECT_EQ(view->Find(kThings)->position, Position::kBeforeFirst);
}

TEST_F(CoalescerTest, AFlightHandsOverAllItsReadersAtOnce) {
  int task = 0;  // The loop's tasks run one after another: under the lock.
  Mutex one;
  std::set<int> tasks_of_readers;
  std::latch landed(3);
  Open({.loop = {.run = [&](const std::function<void()>& run) {
          MutexLock lock(one);
          ++task;
          run();
        }}});
  Hold();
  const auto count = [&](const absl::StatusOr<ViewPtr>&) {
    tasks_of_readers.insert(task);
    landed.count_down();
  };
  coalescer_->Join(count);
  WaitForTakeOff(1);
  coalescer_->Join(count);
  coalescer_->Join(count);
  Release();
  landed.wait();
  coalescer_.reset();
  EXPECT_THAT(tasks_of_readers, testing::SizeIs(2));
}

}  // namespace
}  // namespace engine
