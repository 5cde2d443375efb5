// Flights of an event loop, which the test plays.

#include <deque>
#include <memory>
#include <optional>

#include <gmock/gmock.h>
#include <unistd.h>

#include "engine/coalescer.h"
#include "engine/memory/memory.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace engine {
namespace {

using support::AppendOne;
using support::kThings;
using support::StatusIs;

// What the store has to say, once it says it.
using Said = std::shared_ptr<std::optional<absl::StatusOr<News>>>;

class ToldNews final : public PendingNews {
 public:
  ToldNews(Said said, int& open) : said_(std::move(said)), open_(open) { ++open_; }
  ~ToldNews() override { --open_; }
  int descriptor() const override { return 7; }
  std::optional<absl::StatusOr<News>> Poll() override { return *said_; }

 private:
  const Said said_;
  int& open_;
};

class CoalescerLoopTest : public testing::Test {
 protected:
  CoalescerLoopTest() {
    std::vector<std::unique_ptr<Projection>> projections;
    projections.push_back(std::make_unique<support::ToyProjection>());
    follower_ = std::make_unique<Follower>(std::move(projections));
    follower_->SetObserver([this](const Record&) { folded_by_ = gettid(); });
    journal_.hooks.ask_after = [this](const Cursors& after) -> std::unique_ptr<PendingNews> {
      if (!at_hand_) {
        return nullptr;
      }
      snapshots_.push_back(store_->journal().ReadAfter(after, support::Soon()));
      said_.push_back(std::make_shared<std::optional<absl::StatusOr<News>>>());
      return std::make_unique<ToldNews>(said_.back(), open_);
    };
  }

  void Open(Duration flight_timeout = std::chrono::minutes(1)) {
    coalescer_ = std::make_unique<Coalescer>(
        journal_, *follower_,
        CoalescerOptions{.flight_timeout = flight_timeout,
                         .loop = {.run =
                                      [this](std::function<void()> task) {
                                        MutexLock lock(mutex_);
                                        tasks_.push_back(std::move(task));
                                        posted_.SignalAll();
                                      },
                                  .when_readable =
                                      [this](int, std::function<void()> task) {
                                        watching_.push_back(std::move(task));
                                        return can_watch_;
                                      }}});
    // The first flight confirms the history, which is the thread's work.
    Join();
    Turn();
    Say();
    TurnUntil([&] { return Joined(0).has_value(); });
    joined_.clear();
    ASSERT_EQ(flights(), 1U);
  }

  // Joins; how it went is Joined(number of the call).
  void Join() {
    auto landed = std::make_shared<std::optional<absl::StatusOr<ViewPtr>>>();
    joined_.push_back(landed);
    coalescer_->Join([this, landed](const absl::StatusOr<ViewPtr>& view) {
      asked_when_answered_ = said_.size();
      *landed = view;
    });
  }
  std::optional<absl::StatusOr<ViewPtr>> Joined(std::size_t number) { return *joined_[number]; }
  std::uint64_t Tx(std::size_t number) { return Raw((***joined_[number])->tx); }

  // The loop runs what it has at hand.
  void Turn() {
    std::deque<std::function<void()>> tasks;
    {
      MutexLock lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) {
      task();
    }
  }
  void TurnUntil(const std::function<bool()>& done) {
    const Deadline deadline = support::Soon();
    while (!done()) {
      {
        MutexLock lock(mutex_);
        while (tasks_.empty()) {
          ASSERT_TRUE(posted_.WaitUntil(mutex_, deadline));
        }
      }
      Turn();
    }
  }
  // The store answers the newest question, as its snapshot was, and the loop notices.
  void Say() { Say(snapshots_.back()); }
  void Say(absl::StatusOr<News> news) {
    *said_.back() = std::move(news);
    Notice();
  }
  void Notice() {
    const auto watching = std::exchange(watching_, {});
    for (const auto& task : watching) {
      task();
    }
  }
  std::uint64_t flights() const { return coalescer_->counters().flights; }

  std::unique_ptr<Engine> store_ = memory::Open(support::Streams());
  support::HookedJournal journal_{store_->journal()};
  std::unique_ptr<Follower> follower_;
  pid_t folded_by_ = 0;

  bool at_hand_ = true;
  bool can_watch_ = true;
  int open_ = 0;  // Questions.
  std::vector<absl::StatusOr<News>> snapshots_;
  std::vector<Said> said_;
  std::size_t asked_when_answered_ = 0;
  std::vector<std::shared_ptr<std::optional<absl::StatusOr<ViewPtr>>>> joined_;

  Mutex mutex_;
  CondVar posted_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> watching_;
  std::unique_ptr<Coalescer> coalescer_;
};

TEST_F(CoalescerLoopTest, ReadersWhoCameTogetherFlyTogether) {
  Open();
  for (int i = 0; i < 3; ++i) {
    Join();
  }
  Turn();
  Say();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_OK(Joined(i).value());
  }
  EXPECT_EQ(flights(), 2U);
  EXPECT_EQ(open_, 0);
}

TEST_F(CoalescerLoopTest, ATicketTakenAfterTakeOffIsNotServedByThatFlight) {
  Open();
  Join();
  Turn();  // The snapshot is taken: nothing is in it.
  AppendOne(store_->journal(), kThings, "a", "1");
  Join();
  Turn();
  EXPECT_EQ(said_.size(), 2U) << "one flight at a time";
  Say();
  EXPECT_EQ(Tx(0), 0U);
  ASSERT_FALSE(Joined(1).has_value());
  Say();
  TurnUntil([this] { return Joined(1).has_value(); });
  EXPECT_EQ(Tx(1), 1U) << "it arrived after the append was acknowledged";
}

TEST_F(CoalescerLoopTest, TheNextFlightTakesOffBeforeReadersAreAnswered) {
  Open();
  Join();
  Turn();
  Join();
  Turn();
  Say();
  EXPECT_TRUE(Joined(0).has_value());
  EXPECT_EQ(asked_when_answered_, 3U);
}

TEST_F(CoalescerLoopTest, WhatHasToBeFoldedIsLeftToTheThread) {
  Open();
  AppendOne(store_->journal(), kThings, "a", "1");
  Join();
  Turn();
  Say();
  TurnUntil([this] { return Joined(0).has_value(); });
  EXPECT_EQ(Tx(0), 1U);
  EXPECT_NE(folded_by_, 0);
  EXPECT_NE(folded_by_, gettid());
  EXPECT_EQ(coalescer_->counters().rows, 1U);
}

TEST_F(CoalescerLoopTest, WithoutAConnectionAtHandTheThreadFlies) {
  Open();
  const std::size_t asked = said_.size();
  for (bool* missing : {&at_hand_, &can_watch_}) {
    *missing = false;
    joined_.clear();
    Join();
    Turn();
    TurnUntil([this] { return Joined(0).has_value(); });
    EXPECT_OK(*Joined(0));
    *missing = true;
  }
  EXPECT_EQ(said_.size(), asked + 1) << "asked, but it could not be watched";
  EXPECT_EQ(open_, 0);
}

TEST_F(CoalescerLoopTest, AnErrorFailsItsReadersAndIsForgotten) {
  Open();
  Join();
  Turn();
  Say(absl::UnavailableError("store away"));
  TurnUntil([this] { return Joined(0).has_value(); });
  EXPECT_THAT(*Joined(0), StatusIs(absl::StatusCode::kUnavailable));
  Join();
  Turn();
  Say();
  EXPECT_OK(Joined(1).value());
  EXPECT_EQ(coalescer_->counters().failed, 1U);
}

TEST_F(CoalescerLoopTest, AFlightWithoutAnAnswerIsGivenUp) {
  Open(std::chrono::milliseconds(500));
  Join();
  Turn();
  TurnUntil([this] { return Joined(0).has_value(); });
  EXPECT_THAT(*Joined(0), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(open_, 0) << "its connection is not used again";
  Notice();  // The answer came all the same.
  at_hand_ = false;
  Join();
  TurnUntil([this] { return Joined(1).has_value(); });
  EXPECT_OK(*Joined(1));
}

TEST_F(CoalescerLoopTest, WhatTheLoopStillHasToRunDoesNoHarmAfterTheEnd) {
  Open();
  Join();
  Turn();
  Join();  // Its flight is still to take off.
  coalescer_.reset();
  EXPECT_EQ(open_, 0);
  Notice();
  Turn();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_THAT(Joined(i).value(), StatusIs(absl::StatusCode::kUnavailable));
  }
}

}  // namespace
}  // namespace engine
