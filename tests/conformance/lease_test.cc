#include <atomic>
#include <vector>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "tests/conformance/conformance.h"
#include "tests/support/status_matchers.h"

namespace conformance {
namespace {

using engine::Fence;
using engine::LeaseAnswer;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using support::StatusIs;

TEST_P(LeaseConformance, AFreeLeaseIsTakenForItsTimeToLive) {
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer answer,
                       leases().Acquire("controller", "a", minutes(10), Soon()));
  EXPECT_TRUE(answer.held);
  EXPECT_GE(answer.token >> engine::kTokenEpochBits, 1U);
  EXPECT_GT(answer.expires_at, answer.now);
  // A little more than the time to live when the store read its clock twice.
  EXPECT_GT(answer.expires_at.micros - answer.now.micros, 500'000'000);
  EXPECT_LE(answer.expires_at.micros - answer.now.micros, 600'000'000);
}

TEST_P(LeaseConformance, AHeldLeaseIsRefusedAndNamesItsToken) {
  const Fence term = Win("controller", "a");
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer refused,
                       others().Acquire("controller", "b", minutes(10), Soon()));
  EXPECT_FALSE(refused.held);
  EXPECT_EQ(refused.token, term.token);
  EXPECT_GT(refused.expires_at, refused.now);
  EXPECT_TRUE(Renews(term));
}

TEST_P(LeaseConformance, AskingAgainKeepsTheTokenAndExtendsTheTerm) {
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer first,
                       leases().Acquire("controller", "a", minutes(10), Soon()));
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer again,
                       leases().Acquire("controller", "a", minutes(10), Soon()));
  EXPECT_TRUE(again.held);
  EXPECT_EQ(again.token, first.token);
  EXPECT_GE(again.expires_at, first.expires_at);
}

TEST_P(LeaseConformance, LeasesOfDifferentNamesAreApart) {
  EXPECT_NE(Win("audit-export/a", "h").lease, Win("audit-export/b", "h2").lease);
}

TEST_P(LeaseConformance, ARenewalExtendsTheVeryTerm) {
  const Fence term = Win("controller", "a");
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer renewed, leases().Renew(term, hours(1), Soon()));
  EXPECT_TRUE(renewed.held);
  EXPECT_EQ(renewed.token, term.token);
  EXPECT_GT(renewed.expires_at.micros - renewed.now.micros, 3'000'000'000);

  EXPECT_FALSE(Renews({"controller", "b", term.token})) << "another holder";
  EXPECT_FALSE(Renews({"controller", "a", term.token + 1})) << "another token";
  EXPECT_FALSE(Renews({"controller", "a", term.token - 1})) << "an older token";
  EXPECT_FALSE(Renews({"nobody-ever", "a", term.token})) << "no row";
  EXPECT_TRUE(Renews(term)) << "and none of these changed anything";
}

TEST_P(LeaseConformance, AReleasedLeaseIsFreeAtOnceAndItsTokenStays) {
  const Fence first = Win("controller", "a");
  ASSERT_OK(leases().Release(first, Soon()));
  EXPECT_FALSE(Renews(first));
  const Fence second = Win("controller", "b");
  EXPECT_GT(second.token, first.token);

  // The first one's late release does not end the term of the second.
  ASSERT_OK(leases().Release(first, Soon()));
  EXPECT_TRUE(Renews(second));
  ASSERT_OK(leases().Release({"nobody-ever", "a", 1}, Soon()));
}

TEST_P(LeaseConformance, AnExpiredTermCannotBeRenewedOnlyTakenAnew) {
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer first,
                       leases().Acquire("controller", "a", milliseconds(1), Soon()));
  const Fence term{"controller", "a", first.token};
  WaitUntilPast(first.expires_at);
  // The same holder: a new term all the same.
  const Fence next = Win("controller", "a");
  EXPECT_GT(next.token, term.token);
  EXPECT_FALSE(Renews(term));
  EXPECT_TRUE(Renews(next));
}

TEST_P(LeaseConformance, AnExpiredTermIsLostAlsoWhenNobodyTookItOver) {
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer first,
                       leases().Acquire("controller", "a", milliseconds(50), Soon()));
  const Fence term{"controller", "a", first.token};
  WaitUntilPast(first.expires_at);
  EXPECT_FALSE(Renews(term));
}

TEST_P(LeaseConformance, AnExpiredLeaseIsTakenByAnother) {
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer first,
                       others().Acquire("controller", "a", milliseconds(1), Soon()));
  WaitUntilPast(first.expires_at);
  EXPECT_GT(Win("controller", "b").token, first.token);
}

TEST_P(LeaseConformance, TokensRiseFromTermToTerm) {
  std::uint64_t last = 0;
  for (int round = 0; round < 20; ++round) {
    engine::Leases& who = round % 2 == 0 ? leases() : others();
    ASSERT_OK_AND_ASSIGN(const LeaseAnswer answer,
                         who.Acquire("controller", "same", minutes(10), Soon()));
    ASSERT_TRUE(answer.held);
    ASSERT_GT(answer.token, last);
    last = answer.token;
    ASSERT_OK(who.Release({"controller", "same", last}, Soon()));
  }
}

TEST_P(LeaseConformance, OfManyAtOnceOneWins) {
  others();  // Opened before the threads start.
  constexpr int kThreads = 12;
  for (int round = 0; round < 5; ++round) {
    const std::string name = absl::StrFormat("race-%d", round);
    std::atomic<int> winners = 0;
    std::vector<engine::Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("campaign", [&, i] {
        engine::Leases& view = i % 2 == 0 ? leases() : others();
        const auto answer =
            view.Acquire(name, absl::StrFormat("holder-%d", i), minutes(10), Soon());
        EXPECT_OK(answer);
        winners += answer.ok() && answer->held ? 1 : 0;
      });
    }
    threads.clear();
    EXPECT_EQ(winners, 1);
  }
}

TEST_P(LeaseConformance, OfManyAtOnceOneTakesAnExpiredLeaseOver) {
  others();
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer old,
                       leases().Acquire("controller", "old", minutes(10), Soon()));
  ASSERT_OK(leases().Release({"controller", "old", old.token}, Soon()));
  std::atomic<int> winners = 0;
  std::vector<engine::Thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back("takeover", [&, i] {
      engine::Leases& view = i % 2 == 0 ? leases() : others();
      const auto answer =
          view.Acquire("controller", absl::StrFormat("holder-%d", i), minutes(10), Soon());
      EXPECT_OK(answer);
      winners += answer.ok() && answer->held ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(winners, 1);
}

TEST_P(LeaseConformance, WhatCannotBeALeaseIsRefused) {
  const auto refused = [&](const std::string& name, const std::string& holder,
                           engine::Duration ttl) {
    EXPECT_THAT(leases().Acquire(name, holder, ttl, Soon()),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(leases().Renew({name, holder, 1}, ttl, Soon()),
                StatusIs(absl::StatusCode::kInvalidArgument));
  };
  refused("", "a", minutes(1));
  refused("Controller", "a", minutes(1));
  refused(std::string("a\0b", 3), "a", minutes(1));
  refused("a", "", minutes(1));
  refused("a", std::string(65, 'h'), minutes(1));
  refused("a", "a", engine::Duration::zero());
  EXPECT_THAT(leases().Release({"", "a", 1}, Soon()), StatusIs(absl::StatusCode::kInvalidArgument));
  // Any bytes make a holder.
  EXPECT_TRUE(Renews(Win("a", std::string("\0\xff\xfe", 3))));
}

TEST_P(LeaseConformance, TermsSurviveARestartOfTheStore) {
  const Fence held = Win("held", "a");
  const Fence released = Win("released", "a");
  ASSERT_OK(leases().Release(released, Soon()));
  if (!store().Reopen()) {
    GTEST_SKIP() << "nothing survives this store";
  }
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer refused,
                       leases().Acquire("held", "b", minutes(10), Soon()));
  EXPECT_FALSE(refused.held);
  EXPECT_EQ(refused.token, held.token);
  EXPECT_TRUE(Renews(held));
  EXPECT_GT(Win("released", "b").token, released.token);
}

}  // namespace
}  // namespace conformance
