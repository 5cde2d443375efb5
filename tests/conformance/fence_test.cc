// Fences: a transaction writes for a term only while that term is alive, on the store's clock, and
// nobody else's term begins before it has ended.

#include <atomic>
#include <future>

#include <gmock/gmock.h>

#include "engine/base/status_macros.h"
#include "engine/lease.h"
#include "tests/conformance/conformance.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace conformance {
namespace {

using engine::CommitOutcome;
using engine::Deadline;
using engine::Duration;
using engine::Fence;

constexpr char kLease[] = "controller";
constexpr Duration kLong = std::chrono::minutes(5);

Fence Take(engine::Engine& engine, const std::string& holder, Duration ttl,
           const std::string& lease = kLease) {
  Fence fence{.lease = lease, .holder = holder};
  const bool held = support::WaitFor(
      [&] {
        const auto answer = engine.leases().Acquire(lease, holder, ttl, Soon());
        fence.token = answer.ok() && answer->held ? answer->token : 0;
        return fence.token != 0;
      },
      Soon());
  EXPECT_TRUE(held) << lease << " was not to be had";
  return fence;
}

// What a transaction is told about these fences.
std::vector<absl::Status> Judge(engine::Engine& engine, std::vector<Fence> fences) {
  const auto transaction = engine.journal().Begin(Soon());
  EXPECT_OK(transaction);
  const auto state = (*transaction)->Read({.fences = std::move(fences)});
  EXPECT_OK(state);
  return state.ok() ? state->fences : std::vector<absl::Status>();
}

TEST_P(JournalConformance, ALiveTermWrites) {
  const Fence term = Take(store().engine(), "one", kLong);
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.fences = {term}}));
  ASSERT_EQ(state.fences.size(), 1U);
  ASSERT_OK(state.fences[0]);
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "fenced").rows(), {}));
  EXPECT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  transaction.reset();
  EXPECT_OK(Judge(store().engine(), {term})[0]) << "the row is free again, and the term alive";
}

TEST_P(JournalConformance, EachFenceIsJudgedByItself) {
  const Fence live = Take(store().engine(), "one", kLong);
  const Fence other = Take(store().engine(), "two", kLong, "audit-export-x");
  Fence old = live;
  --old.token;
  Fence stranger = live;
  stranger.holder = "two";
  Fence unknown = live;
  unknown.lease = "nobody-has-it";
  const std::vector<absl::Status> judged =
      Judge(store().engine(), {old, live, stranger, unknown, other, live});
  ASSERT_EQ(judged.size(), 6U);
  for (const std::size_t dead : {0U, 2U, 3U}) {
    EXPECT_TRUE(engine::IsFenced(judged[dead])) << dead << judged[dead];
  }
  for (const std::size_t alive : {1U, 4U, 5U}) {
    EXPECT_OK(judged[alive]);
  }
}

TEST_P(JournalConformance, ATermEndsWithItsTime) {
  const Fence term = Take(store().engine(), "one", std::chrono::milliseconds(200));
  EXPECT_TRUE(support::WaitFor([&] { return engine::IsFenced(Judge(store().engine(), {term})[0]); },
                               Soon()));
}

TEST_P(JournalConformance, ATermEndsWithItsRelease) {
  const Fence first = Take(store().engine(), "one", kLong);
  ASSERT_OK(store().engine().leases().Release(first, Soon()));
  EXPECT_TRUE(engine::IsFenced(Judge(store().engine(), {first})[0]));
  const Fence second = Take(store().engine(), "one", kLong);
  EXPECT_GT(second.token, first.token);
  const std::vector<absl::Status> judged = Judge(store().engine(), {first, second});
  EXPECT_TRUE(engine::IsFenced(judged[0])) << "the same holder in another term is another";
  EXPECT_OK(judged[1]);
}

TEST_P(JournalConformance, ASuccessorWaitsForTheWriteOfTheTermBefore) {
  constexpr Duration kShort = std::chrono::milliseconds(300);
  const Fence term = Take(store().engine(), "one", kShort);
  const Deadline over = Deadline::After(2 * kShort);
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.fences = {term}}));
  ASSERT_OK(state.fences[0]);
  std::atomic<bool> committed = false;
  engine::Engine& successors = store().second() == nullptr ? store().engine() : *store().second();
  auto successor = std::async(std::launch::async, [&] {
    const Fence next = Take(successors, "two", kLong);
    EXPECT_TRUE(committed) << "the successor's term began before the write had ended";
    return next;
  });
  ASSERT_TRUE(support::WaitFor([&] { return over.HasPassed(); }, Soon()));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "in time").rows(), {}));
  committed = true;
  EXPECT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  transaction.reset();
  const Fence next = successor.get();
  EXPECT_GT(next.token, term.token);
  EXPECT_TRUE(engine::IsFenced(Judge(store().engine(), {term})[0]));
}

TEST_P(JournalConformance, ADroppedTransactionLetsTheSuccessorIn) {
  const Fence term = Take(store().engine(), "one", kLong);
  {
    ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
    ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.fences = {term}}));
    ASSERT_OK(state.fences[0]);
  }
  ASSERT_OK(store().engine().leases().Release(term, Soon()));
  EXPECT_GT(Take(store().engine(), "two", kLong).token, term.token);
}

}  // namespace
}  // namespace conformance
