#include "engine/elector.h"

#include <atomic>
#include <csignal>
#include <vector>

#include <gmock/gmock.h>

#include "engine/memory/memory.h"
#include "tests/support/clocks.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"
#include "tests/support/process.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace engine {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using support::Soon;

// Leases of a store that can be cut off, and that tests look into.
class HookedLeases final : public Leases {
 public:
  explicit HookedLeases(Leases& behind) : behind_(behind) {}

  // Runs before a renewal; an error is the answer, and the store does not hear of it.
  std::function<absl::Status()> before_renew;
  // Runs before an acquisition's answer is handed back.
  std::function<void()> after_acquire;

  absl::StatusOr<LeaseAnswer> Acquire(const std::string& name, const std::string& holder,
                                      Duration ttl, Deadline deadline) override {
    auto answer = behind_.Acquire(name, holder, ttl, deadline);
    if (answer.ok() && answer->held) {
      MutexLock lock(mutex_);
      holders_.push_back(holder);
    }
    if (after_acquire) {
      after_acquire();
    }
    return answer;
  }
  absl::StatusOr<LeaseAnswer> Renew(const Fence& term, Duration ttl, Deadline deadline) override {
    if (before_renew) {
      if (absl::Status status = before_renew(); !status.ok()) {
        return status;
      }
    }
    auto answer = behind_.Renew(term, ttl, deadline);
    ++renewals;
    return answer;
  }
  absl::Status Release(const Fence& term, Deadline deadline) override {
    ++releases;
    return behind_.Release(term, deadline);
  }

  std::vector<std::string> holders() {
    MutexLock lock(mutex_);
    return holders_;
  }

  std::atomic<int> renewals = 0;
  std::atomic<int> releases = 0;

 private:
  Leases& behind_;
  Mutex mutex_;
  std::vector<std::string> holders_ ABSL_GUARDED_BY(mutex_);
};

// By the clock that is moved by hand; short, because waits for it are as long in real time.
constexpr Duration kTtl = milliseconds(300);

class ElectorTest : public testing::Test {
 protected:
  Elector::Options options() { return {.lease = "controller", .ttl = kTtl, .clock = &clock_}; }
  bool Free() {
    const auto answer = store_->leases().Acquire("controller", "probe", kTtl, Soon());
    EXPECT_OK(answer);
    return answer.ok() && answer->held;
  }
  static bool Eventually(const std::function<bool()>& condition) {
    return support::WaitFor(condition, Soon());
  }

  support::HandClock clock_;
  const std::unique_ptr<Engine> store_ = memory::Open(support::Streams(), clock_);
  HookedLeases leases_{store_->leases()};
};

TEST_F(ElectorTest, LeadsUntilItIsStoppedAndThenGivesTheLeaseUp) {
  std::atomic<bool> leading = false;
  std::atomic<bool> left = false;
  Elector elector(leases_, options(), [&](Term& term) {
    EXPECT_TRUE(term.valid());
    leading = true;
    EXPECT_TRUE(term.WaitUntilEnded(Soon()));
    EXPECT_FALSE(term.valid());
    // The work ends before the lease is given up.
    EXPECT_EQ(leases_.releases, 0);
    EXPECT_FALSE(Free());
    left = true;
  });
  EXPECT_TRUE(Eventually([&] { return leading.load(); }));
  EXPECT_TRUE(elector.state().leading);
  EXPECT_EQ(elector.state().changes, 1U);
  elector.Stop();
  EXPECT_TRUE(left);
  EXPECT_FALSE(elector.state().leading);
  EXPECT_TRUE(Free()) << "a peer wins at its next attempt";
}

TEST_F(ElectorTest, StepsDownByItsOwnClockWhileTheStoreIsGone) {
  leases_.before_renew = [] { return absl::UnavailableError("cut off"); };
  std::atomic<int> signals = 0;
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  Elector elector(leases_, options(), [&](Term& term) {
    if (begun) {
      term.WaitUntilEnded(Soon());
      return;
    }
    const Term::Signal signal = term.OnEnd([&] { ++signals; });
    begun = true;
    EXPECT_TRUE(term.WaitUntilEnded(Soon()));
    EXPECT_TRUE(Eventually([&] { return signals == 1; }));
    ended = true;
  });
  ASSERT_TRUE(Eventually([&] { return begun.load(); }));
  // A nanosecond less than two thirds: still the leader.
  clock_.Advance(kTtl - kTtl / 3 - Duration(1));
  EXPECT_TRUE(elector.state().leading);
  EXPECT_EQ(signals, 0);
  EXPECT_FALSE(Free()) << "a third of the time to live before anybody else can lead";
  clock_.Advance(Duration(1));
  EXPECT_FALSE(elector.state().leading);
  EXPECT_TRUE(Eventually([&] { return ended.load(); }));
  EXPECT_EQ(signals, 1);
}

TEST_F(ElectorTest, ARenewalThatHangsDoesNotHoldTheSignalBack) {
  Mutex mutex;
  CondVar changed;
  bool hanging = false;
  bool go_on = false;
  leases_.before_renew = [&] {
    MutexLock lock(mutex);
    hanging = true;
    changed.SignalAll();
    while (!go_on) {
      changed.Wait(mutex);
    }
    return absl::OkStatus();
  };
  std::atomic<bool> begun = false;
  std::atomic<bool> signalled = false;
  Elector elector(leases_, options(), [&](Term& term) {
    const Term::Signal signal = term.OnEnd([&] { signalled = true; });
    begun = true;
    term.WaitUntilEnded(Soon());
    EXPECT_TRUE(Eventually([&] { return signalled.load(); }));
  });
  ASSERT_TRUE(Eventually([&] { return begun.load(); }));
  clock_.Advance(kTtl / 3);  // Time to renew.
  {
    MutexLock lock(mutex);
    while (!hanging) {
      changed.Wait(mutex);
    }
  }
  clock_.Advance(kTtl / 3);
  EXPECT_TRUE(Eventually([&] { return signalled.load(); })) << "the timer has its own thread";
  {
    MutexLock lock(mutex);
    go_on = true;
    changed.SignalAll();
  }
  elector.Stop();
}

TEST_F(ElectorTest, ATermIsMeasuredFromBeforeItWasAskedFor) {
  // The answer takes half the time to live.
  leases_.after_acquire = [&] { clock_.Advance(kTtl / 2); };
  leases_.before_renew = [] { return absl::UnavailableError("cut off"); };
  std::atomic<bool> checked = false;
  Elector elector(leases_, options(), [&](Term& term) {
    if (checked) {
      return;
    }
    EXPECT_TRUE(term.valid());
    clock_.Advance(kTtl - kTtl / 3 - kTtl / 2);
    EXPECT_FALSE(term.valid());
    checked = true;
  });
  EXPECT_TRUE(Eventually([&] { return checked.load(); }));
}

TEST_F(ElectorTest, AnAnswerThatComesTooLateRevivesNothing) {
  std::atomic<bool> begun = false;
  std::atomic<bool> checked = false;
  std::atomic<bool> late = false;
  // Asked for at half the time to live, answered at five sixths: the store says yes.
  leases_.before_renew = [&] {
    if (!late.exchange(true)) {
      clock_.Advance(kTtl / 3);
    }
    return absl::OkStatus();
  };
  Elector elector(leases_, options(), [&](Term& term) {
    if (begun.exchange(true)) {
      return;
    }
    EXPECT_TRUE(Eventually([&] { return leases_.renewals > 0; }));
    bool revived = false;
    while (!term.WaitUntilEnded(Deadline::After(milliseconds(1))) && !revived) {
      revived = term.valid();
    }
    EXPECT_FALSE(revived);
    checked = true;
  });
  ASSERT_TRUE(Eventually([&] { return begun.load(); }));
  clock_.Advance(kTtl / 2);
  EXPECT_TRUE(Eventually([&] { return checked.load(); }));
}

TEST_F(ElectorTest, RenewalsCarryATermOverItsFirstTimeToLive) {
  std::atomic<int> terms = 0;
  std::atomic<bool> valid = true;
  Elector elector(leases_, options(), [&](Term& term) {
    ++terms;
    while (!term.WaitUntilEnded(Deadline::After(milliseconds(1)))) {
      valid = valid && term.valid();
    }
  });
  ASSERT_TRUE(Eventually([&] { return terms == 1; }));
  for (int i = 1; i <= 8; ++i) {
    clock_.Advance(kTtl / 3);
    ASSERT_TRUE(Eventually([&] { return leases_.renewals >= i; }));
  }
  EXPECT_EQ(terms, 1);
  EXPECT_TRUE(elector.state().leading);
}

TEST_F(ElectorTest, ALostLeaseEndsTheTermAtOnce) {
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  Fence fence;
  Elector elector(leases_, options(), [&](Term& term) {
    if (begun) {
      return;
    }
    fence = term.fence();
    begun = true;
    EXPECT_TRUE(term.WaitUntilEnded(Soon()));
    ended = true;
  });
  ASSERT_TRUE(Eventually([&] { return begun.load(); }));
  ASSERT_OK(store_->leases().Release(fence, Soon()));
  clock_.Advance(kTtl / 3);  // Time to renew, long before the end.
  EXPECT_TRUE(Eventually([&] { return ended.load(); }));
}

TEST_F(ElectorTest, EveryCampaignHasAHolderOfItsOwnAndTokensRise) {
  std::vector<std::uint64_t> tokens;
  std::atomic<int> terms = 0;
  Elector elector(leases_, options(), [&](Term& term) {
    tokens.push_back(term.fence().token);
    ++terms;
    // Gives up at once.
  });
  ASSERT_TRUE(Eventually([&] {
    clock_.Advance(kTtl / 3);
    return terms >= 3;
  }));
  elector.Stop();
  const std::vector<std::string> holders = leases_.holders();
  ASSERT_GE(holders.size(), 3U);
  EXPECT_NE(holders[0], holders[1]);
  EXPECT_NE(holders[1], holders[2]);
  EXPECT_TRUE(std::ranges::is_sorted(tokens, std::less_equal<>{}));
  EXPECT_GE(elector.state().changes, 3U);
}

TEST_F(ElectorTest, AMachineThatWakesUpKnowsAtOnceThatItsTermIsOver) {
  std::atomic<bool> begun = false;
  std::atomic<bool> checked = false;
  Elector elector(leases_, options(), [&](Term& term) {
    if (!begun.exchange(true)) {
      clock_.Advance(hours(8));  // Suspended; no timer ran.
      EXPECT_FALSE(term.valid());
      checked = true;
    }
  });
  EXPECT_TRUE(Eventually([&] { return checked.load(); }));
}

TEST_F(ElectorTest, TheCancelSignalAbortsARunningChild) {
  leases_.before_renew = [] { return absl::UnavailableError("cut off"); };
  ASSERT_OK_AND_ASSIGN(const auto child, support::Process::Start({.argv = {"sleep", "600"}}));
  std::atomic<bool> begun = false;
  std::atomic<bool> aborted = false;
  Elector elector(leases_, options(), [&](Term& term) {
    if (begun) {
      return;
    }
    // Not by Process, which is of one thread; the number is the child's until it was waited for.
    const Term::Signal signal = term.OnEnd([&] { kill(child->pid(), SIGTERM); });
    begun = true;
    const auto exit = child->Wait(Soon());  // What a step that takes long does.
    EXPECT_OK(exit);
    aborted = exit.ok() && exit->signal == SIGTERM;
  });
  ASSERT_TRUE(Eventually([&] { return begun.load(); }));
  EXPECT_TRUE(child->Running());
  clock_.Advance(kTtl);
  EXPECT_TRUE(Eventually([&] { return aborted.load(); }));
}

TEST_F(ElectorTest, ATermThatIsWonAfterTheStopIsGivenUpUnused) {
  std::atomic<bool> asking = false;
  std::atomic<bool> go_on = false;
  leases_.after_acquire = [&] {
    asking = true;
    EXPECT_TRUE(Eventually([&] { return go_on.load(); }));
  };
  std::atomic<bool> led = false;
  auto elector = std::make_unique<Elector>(leases_, options(), [&](Term&) { led = true; });
  ASSERT_TRUE(Eventually([&] { return asking.load(); }));
  Thread stop("stop", [&] { elector->Stop(); });
  EXPECT_TRUE(Eventually([&] { return elector->stopping(); }));
  go_on = true;
  stop.Join();
  EXPECT_FALSE(led);
  EXPECT_TRUE(Free());
}

TEST_F(ElectorTest, APeerLeadsAfterwardsAndSeesEveryChange) {
  std::atomic<bool> second_leads = false;
  auto first = std::make_unique<Elector>(leases_, options(),
                                         [](Term& term) { term.WaitUntilEnded(Soon()); });
  ASSERT_TRUE(Eventually([&] { return first->state().leading; }));
  HookedLeases others(store_->leases());
  Elector second(others, options(), [&](Term& term) {
    second_leads = true;
    term.WaitUntilEnded(Soon());
  });
  ASSERT_TRUE(Eventually([&] { return second.state().changes == 1; }));
  EXPECT_FALSE(second.state().leading);
  first.reset();
  EXPECT_TRUE(Eventually([&] {
    clock_.Advance(kTtl / 30);  // It tries again.
    return second_leads.load();
  }));
  EXPECT_EQ(second.state().changes, 2U);
}

TEST_F(ElectorTest, SignalsAreCalledOnceAndNotAfterTheyAreRemoved) {
  std::atomic<int> kept = 0;
  std::atomic<int> removed = 0;
  std::atomic<int> late = 0;
  std::atomic<bool> begun = false;
  Elector elector(leases_, options(), [&](Term& term) {
    if (begun) {
      return;
    }
    const Term::Signal signal = term.OnEnd([&] { ++kept; });
    {
      const Term::Signal gone = term.OnEnd([&] { ++removed; });
    }
    begun = true;
    term.WaitUntilEnded(Soon());
    const Term::Signal after = term.OnEnd([&] { ++late; });
    EXPECT_TRUE(Eventually([&] { return kept == 1; }));
  });
  ASSERT_TRUE(Eventually([&] { return begun.load(); }));
  elector.Stop();
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(removed, 0);
  EXPECT_EQ(late, 1);
}

}  // namespace
}  // namespace engine
