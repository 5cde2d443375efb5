#include <algorithm>
#include <atomic>
#include <vector>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/conformance/conformance.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace conformance {
namespace {

using engine::Duration;
using engine::Entry;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using support::StatusIs;

constexpr std::nullopt_t kForEver = std::nullopt;

MATCHER_P(Holds, value, "") {
  *result_listener << "which is " << arg.status().ToString();
  return arg.ok() && testing::ExplainMatchResult(testing::Eq(value), *arg, result_listener);
}

// Runs `body` in many threads at once and returns in how many it said yes.
int CountYes(int threads, const std::function<bool(int)>& body) {
  std::atomic<int> yes = 0;
  std::vector<engine::Thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back("racer", [&, i] { yes += body(i) ? 1 : 0; });
  }
  running.clear();
  return yes;
}

TEST_P(KeyValueConformance, ARowIsPutReadReplacedAndDeleted) {
  EXPECT_EQ(ValueOf("login-state/x"), "(none)");
  ASSERT_OK(kv().Put("login-state/x", "one", minutes(10), Soon()));
  ASSERT_OK(kv().Put("login-state/y", "other", kForEver, Soon()));
  EXPECT_EQ(ValueOf("login-state/x"), "one");
  ASSERT_OK(others().Put("login-state/x", "two", kForEver, Soon()));
  EXPECT_EQ(ValueOf("login-state/x"), "two");
  ASSERT_OK(kv().Delete("login-state/x", Soon()));
  ASSERT_OK(kv().Delete("login-state/x", Soon()));
  EXPECT_EQ(ValueOf("login-state/x"), "(none)");
  EXPECT_EQ(ValueOf("login-state/y"), "other");
}

TEST_P(KeyValueConformance, KeysAndValuesAreBytes) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) {
    every_byte.push_back(static_cast<char>(i));
  }
  // Equal in one collation or another: composed and not, case, trailing blanks and NULs.
  const std::vector<std::string> keys = {every_byte,
                                         std::string("\0", 1),
                                         std::string("\0\0", 2),
                                         "a",
                                         "A",
                                         "a ",
                                         std::string("a\0", 2),
                                         "\xc3\xa9",
                                         "e\xcc\x81",
                                         "\xff\xfe",
                                         std::string(512, 'k')};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_OK(kv().Put(keys[i], absl::StrFormat("%d", i) + every_byte, kForEver, Soon()));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(ValueOf(keys[i]), absl::StrFormat("%d", i) + every_byte) << i;
  }
}

TEST_P(KeyValueConformance, LimitsHoldForEveryOperation) {
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument);
  for (const std::string& key : {std::string(), std::string(513, 'k')}) {
    EXPECT_THAT(kv().Put(key, "v", kForEver, Soon()), refused);
    EXPECT_THAT(kv().Add(key, "v", kForEver, Soon()), refused);
    EXPECT_THAT(kv().Get(key, Soon()), refused);
    EXPECT_THAT(kv().Take(key, Soon()), refused);
    EXPECT_THAT(kv().Delete(key, Soon()), refused);
    EXPECT_THAT(kv().Unlock(key, "o", Soon()), refused);
    EXPECT_THAT(kv().Raise(key, 1, kForEver, Soon()), refused);
    EXPECT_THAT(kv().Count(key, minutes(1), 1, Soon()), refused);
  }
  const std::string largest(engine::kMaxKeyValueValueBytes, 'v');
  EXPECT_OK(kv().Put("k", largest, kForEver, Soon()));
  EXPECT_EQ(ValueOf("k"), largest);
  EXPECT_THAT(kv().Put("k", largest + "v", kForEver, Soon()), refused);
  EXPECT_THAT(kv().Put("k", "v", Duration::zero(), Soon()), refused);
  EXPECT_THAT(kv().Add("k", "v", hours(24 * 365 * 11), Soon()), refused);
  EXPECT_THAT(kv().Count("k", minutes(1), 0, Soon()), refused);
  EXPECT_THAT(kv().Count("k", minutes(1), engine::kMaxCountLimit + 1, Soon()), refused);
  EXPECT_THAT(kv().Count("k", hours(25), 1, Soon()), refused);
}

TEST_P(KeyValueConformance, AddOverwritesNothingThatIsAlive) {
  EXPECT_THAT(kv().Add("k", "first", minutes(10), Soon()), Holds(true));
  EXPECT_THAT(others().Add("k", "second", minutes(10), Soon()), Holds(false));
  EXPECT_EQ(ValueOf("k"), "first");
  ASSERT_OK(kv().Put("for-ever", "first", kForEver, Soon()));
  EXPECT_THAT(kv().Add("for-ever", "second", kForEver, Soon()), Holds(false));
}

TEST_P(KeyValueConformance, WhatHasExpiredIsInvisibleBeforeTheSweep) {
  ASSERT_TRUE(MakeExpired("get", "dead"));
  EXPECT_EQ(ValueOf("get"), "(none)");
  ASSERT_TRUE(MakeExpired("take", "dead"));
  ASSERT_OK_AND_ASSIGN(const auto taken, kv().Take("take", Soon()));
  EXPECT_FALSE(taken.has_value());
  ASSERT_TRUE(MakeExpired("add", "dead"));
  EXPECT_THAT(kv().Add("add", "alive", kForEver, Soon()), Holds(true));
  EXPECT_EQ(ValueOf("add"), "alive");
  ASSERT_TRUE(MakeExpired("unlock", "owner"));
  EXPECT_THAT(kv().Unlock("unlock", "owner", Soon()), Holds(false));
  ASSERT_OK(kv().Raise("raise", 100, milliseconds(1), Soon()).status());
  EXPECT_TRUE(support::WaitFor([&] { return ValueOf("raise") == "(none)"; }, Soon()));
  EXPECT_THAT(kv().Raise("raise", 5, kForEver, Soon()), Holds(5));
}

TEST_P(KeyValueConformance, TheSweepTakesTheDeadInBatchesAndNobodyElse) {
  for (int i = 0; i < 25; ++i) {
    ASSERT_OK(kv().Put(absl::StrFormat("dead-%d", i), "x", milliseconds(1), Soon()));
    ASSERT_OK(kv().Put(absl::StrFormat("alive-%d", i), "x", minutes(10), Soon()));
    ASSERT_OK(kv().Put(absl::StrFormat("pinned-%d", i), "x", kForEver, Soon()));
  }
  EXPECT_TRUE(support::WaitFor([&] { return ValueOf("dead-24") == "(none)"; }, Soon()));
  // A log that is written anew meanwhile leaves out what is dead by then.
  int swept = 0;
  for (int batch = 1; batch > 0; swept += batch) {
    ASSERT_OK_AND_ASSIGN(batch, kv().Sweep(10, Soon()));
    EXPECT_LE(batch, 10);
  }
  EXPECT_GT(swept, 0);
  EXPECT_LE(swept, 25);
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(ValueOf(absl::StrFormat("alive-%d", i)), "x");
    EXPECT_EQ(ValueOf(absl::StrFormat("pinned-%d", i)), "x");
  }
}

TEST_P(KeyValueConformance, OfManyAddsOneWins) {
  others();
  for (int round = 0; round < 5; ++round) {
    const std::string key = absl::StrFormat("login-state/%d", round);
    EXPECT_EQ(CountYes(12,
                       [&](int i) {
                         engine::KeyValue& view = i % 2 == 0 ? kv() : others();
                         const auto added =
                             view.Add(key, absl::StrFormat("%d", i), minutes(10), Soon());
                         EXPECT_OK(added);
                         return added.ok() && *added;
                       }),
              1);
  }
}

TEST_P(KeyValueConformance, OfManyAddsOverAnExpiredRowOneWins) {
  others();
  for (int round = 0; round < 5; ++round) {
    const std::string key = absl::StrFormat("lock/%d", round);
    ASSERT_TRUE(MakeExpired(key, "dead"));
    EXPECT_EQ(CountYes(12,
                       [&](int i) {
                         engine::KeyValue& view = i % 2 == 0 ? kv() : others();
                         const auto added =
                             view.TryLock(key, absl::StrFormat("owner-%d", i), minutes(10), Soon());
                         EXPECT_OK(added);
                         return added.ok() && *added;
                       }),
              1);
  }
}

TEST_P(KeyValueConformance, OfManyTakesOneGetsIt) {
  others();
  for (int round = 0; round < 5; ++round) {
    const std::string key = absl::StrFormat("enroll/%d", round);
    ASSERT_OK(kv().Put(key, "token", minutes(10), Soon()));
    EXPECT_EQ(CountYes(12,
                       [&](int i) {
                         engine::KeyValue& view = i % 2 == 0 ? kv() : others();
                         const auto taken = view.Take(key, Soon());
                         EXPECT_OK(taken);
                         return taken.ok() && taken->has_value() && (*taken)->value == "token";
                       }),
              1);
  }
}

TEST_P(KeyValueConformance, ALockIsUnlockedByItsOwnerAlone) {
  EXPECT_THAT(kv().TryLock("lock/scim", "mine", minutes(10), Soon()), Holds(true));
  EXPECT_THAT(others().TryLock("lock/scim", "theirs", minutes(10), Soon()), Holds(false));
  EXPECT_THAT(others().Unlock("lock/scim", "theirs", Soon()), Holds(false));
  EXPECT_THAT(others().Unlock("lock/scim", "", Soon()), Holds(false));
  EXPECT_EQ(ValueOf("lock/scim"), "mine");
  EXPECT_THAT(kv().Unlock("lock/scim", "mine", Soon()), Holds(true));
  EXPECT_THAT(kv().Unlock("lock/scim", "mine", Soon()), Holds(false));
}

TEST_P(KeyValueConformance, ALateUnlockAfterATakeoverDeletesNothing) {
  ASSERT_TRUE(MakeExpired("lock/scim", "slow"));
  EXPECT_THAT(kv().TryLock("lock/scim", "quick", minutes(10), Soon()), Holds(true));
  EXPECT_THAT(kv().Unlock("lock/scim", "slow", Soon()), Holds(false));
  EXPECT_EQ(ValueOf("lock/scim"), "quick");
}

TEST_P(KeyValueConformance, ARaisedNumberNeverFalls) {
  EXPECT_THAT(kv().Raise("enroll-drop/u", -7, kForEver, Soon()), Holds(-7));
  EXPECT_THAT(kv().Raise("enroll-drop/u", 50, kForEver, Soon()), Holds(50));
  EXPECT_THAT(others().Raise("enroll-drop/u", 49, kForEver, Soon()), Holds(50));
  ASSERT_OK_AND_ASSIGN(const auto entry, kv().Get("enroll-drop/u", Soon()));
  EXPECT_EQ(entry, (Entry{"", 50}));
}

TEST_P(KeyValueConformance, ManyRaisesEndAtTheGreatest) {
  others();
  EXPECT_EQ(CountYes(12,
                     [&](int i) {
                       engine::KeyValue& view = i % 2 == 0 ? kv() : others();
                       const auto raised = view.Raise("epoch", i * 7 % 12, kForEver, Soon());
                       EXPECT_OK(raised);
                       return raised.ok() && *raised >= i * 7 % 12;
                     }),
            12);
  ASSERT_OK_AND_ASSIGN(const auto entry, kv().Get("epoch", Soon()));
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->number, 11);
}

TEST_P(KeyValueConformance, ARaiseDoesNotShortenALife) {
  ASSERT_OK(kv().Raise("k", 1, minutes(10), Soon()).status());
  ASSERT_OK(kv().Raise("k", 2, milliseconds(1), Soon()).status());
  ASSERT_OK(kv().Raise("pinned", 1, kForEver, Soon()).status());
  ASSERT_OK(kv().Raise("pinned", 2, milliseconds(1), Soon()).status());
  ASSERT_TRUE(MakeExpired("later", "x"));  // So that a millisecond has passed on the store's clock.
  ASSERT_OK_AND_ASSIGN(const auto entry, kv().Get("k", Soon()));
  EXPECT_EQ(entry, (Entry{"", 2}));
  ASSERT_OK_AND_ASSIGN(const auto pinned, kv().Get("pinned", Soon()));
  EXPECT_EQ(pinned, (Entry{"", 2}));
}

TEST_P(KeyValueConformance, ACounterCountsToItsLimitAndOneMore) {
  for (int expected : {1, 2, 3, 4, 4, 4}) {
    EXPECT_THAT(kv().Count("auth/10.0.0.7", minutes(10), 3, Soon()), Holds(expected));
  }
  EXPECT_THAT(kv().Count("auth/10.0.0.8", minutes(10), 3, Soon()), Holds(1));
}

TEST_P(KeyValueConformance, ManyCountersTogetherPassNoMoreThanTheLimit) {
  others();
  EXPECT_EQ(CountYes(16,
                     [&](int i) {
                       engine::KeyValue& view = i % 2 == 0 ? kv() : others();
                       const auto count = view.Count("auth/x", minutes(10), 5, Soon());
                       EXPECT_OK(count);
                       return count.ok() && *count <= 5;
                     }),
            5);
}

// A counter of fixed windows lets twice the limit through around a boundary. Here no window of
// that length, wherever it starts, has more than the limit.
TEST_P(KeyValueConformance, TheWindowOfACounterSlides) {
  constexpr Duration kWindow = milliseconds(200);
  constexpr std::size_t kLimit = 3;
  struct Passed {
    Duration sent;
    Duration answered;
  };
  std::vector<Passed> passed;
  EXPECT_TRUE(support::WaitFor(
      [&] {
        const Duration sent = engine::SystemClock().SinceBoot();
        const auto count = kv().Count("auth/x", kWindow, kLimit, Soon());
        EXPECT_OK(count);
        if (count.ok() && *count <= static_cast<int>(kLimit)) {
          passed.push_back({sent, engine::SystemClock().SinceBoot()});
        }
        return passed.size() >= 4 * kLimit;
      },
      Soon()));
  for (std::size_t i = 0; i + kLimit < passed.size(); ++i) {
    EXPECT_GE(passed[i + kLimit].answered - passed[i].sent, kWindow) << i;
  }
}

TEST_P(KeyValueConformance, RowsSurviveARestartOfTheStore) {
  ASSERT_OK(kv().Put("session/1", std::string("v\0w", 3), minutes(10), Soon()));
  ASSERT_OK(kv().Put("pinned", "p", kForEver, Soon()));
  ASSERT_OK(kv().Put("gone", "x", kForEver, Soon()));
  ASSERT_OK(kv().Delete("gone", Soon()));
  ASSERT_OK(kv().Raise("number", 9, kForEver, Soon()).status());
  ASSERT_OK(kv().Count("auth", minutes(10), 3, Soon()).status());
  ASSERT_TRUE(MakeExpired("dead", "x"));
  if (!store().Reopen()) {
    GTEST_SKIP() << "nothing survives this store";
  }
  EXPECT_EQ(ValueOf("session/1"), std::string("v\0w", 3));
  EXPECT_EQ(ValueOf("pinned"), "p");
  EXPECT_EQ(ValueOf("gone"), "(none)");
  EXPECT_EQ(ValueOf("dead"), "(none)");
  EXPECT_THAT(kv().Raise("number", 1, kForEver, Soon()), Holds(9));
  EXPECT_THAT(kv().Count("auth", minutes(10), 3, Soon()), Holds(2));
}

}  // namespace
}  // namespace conformance
