// Fences in SQL: what a term's row has to be locked against, and when its clock is read.

#include <future>

#include "engine/lease.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/poll.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

using support::Session;

class FencesTest : public PostgresTest {
 protected:
  Fence Take(Duration ttl) {
    const auto answer = engine().leases().Acquire("controller", "one", ttl, Soon());
    EXPECT_OK(answer);
    EXPECT_TRUE(answer->held);
    return {.lease = "controller", .holder = "one", .token = answer->token};
  }
  bool Says(const std::string& sql) { return Value(sql) == "t"; }
};

// The row's lock is granted after the term has ended: what was true before the wait counts for
// nothing.
TEST_F(FencesTest, AFenceThatWaitedIsJudgedAfterTheWait) {
  const Fence term = Take(std::chrono::seconds(3));
  Session stranger(url());
  ASSERT_TRUE(stranger.Run("begin").ok);
  ASSERT_TRUE(stranger.Run("select 1 from halo_leases for update").ok);
  ASSERT_OK_AND_ASSIGN(const auto transaction, journal().Begin(Soon()));
  auto reading =
      std::async(std::launch::async, [&] { return transaction->Read({.fences = {term}}); });
  EXPECT_TRUE(support::WaitFor(
      [&] {
        return Says(
            "select exists (select from pg_locks where not granted"
            " and locktype in ('tuple', 'transactionid'))");
      },
      Soon()));
  EXPECT_TRUE(support::WaitFor(
      [&] { return Says("select expires_at < clock_timestamp() from halo_leases"); }, Soon()));
  ASSERT_TRUE(stranger.Run("rollback").ok);
  const auto state = reading.get();
  ASSERT_OK(state);
  EXPECT_TRUE(IsFenced(state->fences[0])) << state->fences[0];
}

// Writers of one term after another never keep its renewal waiting for longer than one of them.
TEST_F(FencesTest, ARenewalPassesBetweenTwoWrites) {
  const Fence term = Take(std::chrono::minutes(5));
  auto first = journal().Begin(Soon());
  ASSERT_OK(first);
  ASSERT_OK((*first)->Read({.fences = {term}}));
  auto renewing = std::async(std::launch::async, [&] {
    return engine().leases().Renew(term, std::chrono::minutes(5), Soon());
  });
  first->reset();
  const auto renewed = renewing.get();
  ASSERT_OK(renewed);
  EXPECT_TRUE(renewed->held);
}

}  // namespace
}  // namespace engine::postgres
