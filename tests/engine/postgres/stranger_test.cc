// A stranger who holds an old snapshot for hours costs us nothing: what the hot statements touch
// does not grow with the rows that were appended since. (In time: bench/stranger.cc.)

#include <cstdlib>

#include <gmock/gmock.h>

#include "engine/base/status_macros.h"
#include "engine/postgres/rows.h"
#include "engine/postgres/session.h"
#include "engine/postgres/statements.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

using conformance::FromTheStart;
using conformance::kEvents;
using conformance::kThings;
using conformance::RowBuilder;

// Blocks that the whole plan touched: the first line that tells of buffers is of its top.
std::int64_t Buffers(const std::string& plan) {
  const std::size_t at = plan.find("Buffers: shared");
  if (at == std::string::npos) {
    return 0;
  }
  const std::string line = plan.substr(at, plan.find('\n', at) - at);
  std::int64_t sum = 0;
  for (const std::string name : {" hit=", " read="}) {
    const std::size_t found = line.find(name);
    sum += found == std::string::npos ? 0 : std::atoll(line.c_str() + found + name.size());
  }
  return sum;
}

class StrangerTest : public PostgresTest {
 protected:
  struct Touched {
    std::int64_t news = 0;
    std::int64_t tails = 0;
    std::int64_t insert = 0;
  };

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PostgresTest::SetUp());
    ASSERT_OK_AND_ASSIGN(other_url_, support::SharedCluster().CreateDatabase("elsewhere"));
    ASSERT_OK_AND_ASSIGN(auto servers, ParseAddress(url(), false, "stranger"));
    Options options = OptionsFor(url());
    options.stats = std::make_shared<Stats>();
    const Connector connector(std::move(servers), Pooler::kNone, options);
    ASSERT_OK_AND_ASSIGN(connection_, connector.Connect(statements_, Soon()));
  }

  // `rows` rows of one key, which is what supersedes most.
  void Append(int rows) {
    constexpr int kOfATransaction = 500;
    for (int done = 0; done < rows; done += kOfATransaction) {
      auto transaction = journal().Begin(Soon());
      ASSERT_OK(transaction);
      const auto state = (*transaction)->Read({.after = cursors_});
      ASSERT_OK(state);
      RowBuilder builder(*state);
      for (int i = 0; i < kOfATransaction; ++i) {
        builder.Add(kThings, "key", "a payload of some length, to fill pages with");
      }
      ASSERT_OK((*transaction)->Append(builder.rows(), {}));
      ASSERT_EQ((*transaction)->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
      const Record last = builder.rows().back();
      cursors_ = {{kThings, last.position, last.digest}};
    }
  }

  absl::StatusOr<std::string> PlanOf(const Statement& statement, Params params) {
    const Statement explain{"",
                            "explain (analyze, buffers, costs off, timing off) " + statement.sql};
    const RunOutcome outcome = connection_->Run(
        {{statements_.begin, {}}, {explain, std::move(params)}, {statements_.rollback, {}}},
        Soon());
    RETURN_IF_ERROR(outcome.status);
    std::string plan;
    for (int row = 0; row < outcome.results[1].rows(); ++row) {
      plan += std::string(outcome.results[1].Bytes(row, 0)) + "\n";
    }
    return plan;
  }

  // What the news since the end, all tails and one more row touch.
  Touched Measure() {
    Touched touched;
    const auto news = PlanOf(statements_.news, NewsParams(cursors_, 1000, 1 << 20));
    const auto tails = PlanOf(statements_.tails, TailsParams(conformance::Streams()));
    EXPECT_OK(news);
    EXPECT_OK(tails);
    LockedState state;
    {
      auto transaction = journal().Begin(Soon());
      EXPECT_OK(transaction);
      state = *(*transaction)->Read({.after = cursors_});
    }
    const auto insert = PlanOf(
        statements_.insert,
        InsertParams(RowBuilder(state).Add(kThings, "key", "one more").rows(), std::nullopt));
    EXPECT_OK(insert);
    for (const auto* plan : {&news, &tails, &insert}) {
      EXPECT_EQ((*plan)->find("Seq Scan on halo_journal"), std::string::npos) << **plan;
    }
    touched.news = Buffers(*news);
    touched.tails = Buffers(*tails);
    touched.insert = Buffers(*insert);
    return touched;
  }

  static void HoldSnapshot(support::Session& session) {
    ASSERT_TRUE(session.Run("begin isolation level repeatable read").ok);
    ASSERT_TRUE(session.Run("select count(*) from pg_class").ok);
  }

  const Statements statements_{"public"};
  std::string other_url_;
  std::unique_ptr<Connection> connection_;
  Cursors cursors_ = FromTheStart();
};

TEST_F(StrangerTest, WhatIsTouchedDoesNotGrowWithWhatWasAppendedUnderHisSnapshot) {
  Append(500);
  support::Session here(url());
  support::Session elsewhere(other_url_);
  HoldSnapshot(here);
  HoldSnapshot(elsewhere);
  Measure();  // Catalogues are read once.
  const Touched before = Measure();
  Append(20'000);
  Measure();
  const Touched after = Measure();
  // The key's tree has a level more; nothing else may be there.
  constexpr std::int64_t kALevelMore = 4;
  EXPECT_GT(before.news, 0);
  EXPECT_GT(before.insert, 0);
  EXPECT_LE(after.news, before.news + kALevelMore);
  EXPECT_LE(after.tails, before.tails + 3 * kALevelMore) << "three streams";
  EXPECT_LE(after.insert, before.insert + 2 * kALevelMore);
  EXPECT_EQ(Value("select n_dead_tup <= 4 and n_tup_upd = 0 and n_tup_del = 0"
                  " from pg_stat_user_tables where relname = 'halo_journal'"),
            "t")
      << "appends leave nothing behind";
}

}  // namespace
}  // namespace engine::postgres
