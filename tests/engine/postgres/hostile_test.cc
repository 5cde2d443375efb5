// What administrators set on databases and roles, one setting at a time, directly and behind a
// pooler: the journal is right, or refuses to start. (All together, under the whole suite of the
// seam: conformance_test.cc.)

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/poll.h"

namespace engine::postgres {
namespace {

using conformance::FromTheStart;
using conformance::kEvents;
using conformance::kThings;
using conformance::RowBuilder;

struct HostileSetting {
  const char* name;
  const char* value;
};

// Look-alikes of our tables and of functions that we call, in front of everything else.
constexpr char kDecoy[] =
    "create schema decoy;"
    "create table decoy.halo_journal (like public.halo_journal);"
    "create table decoy.halo_streams (stream_id int, name text, floor bigint);"
    "create table decoy.halo_kv (a int);"
    "create function decoy.clock_timestamp() returns timestamptz language sql"
    " as 'select timestamptz ''1999-01-01''';"
    "create function decoy.unnest(anyarray) returns setof anyelement language sql"
    " as 'select $1[1] where false';"
    "grant usage on schema decoy to public; grant all on all tables in schema decoy to public";

class HostileTest : public PostgresTest,
                    public testing::WithParamInterface<std::tuple<HostileSetting, bool>> {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PostgresTest::SetUp());
    Run(kDecoy);
    const auto& [setting, pooled] = GetParam();
    ASSERT_OK(support::SharedCluster().CreateRole("halo_app"));
    ASSERT_OK(Migrate(OptionsFor(url()), "halo_app"));
    Run("alter role halo_app in database " + Value("select current_database()") + " set " +
        setting.name + " = " + setting.value);
    app_ = support::WithRole(url(), "halo_app");
    if (pooled) {
      ASSERT_OK_AND_ASSIGN(bouncer_, support::PgBouncer::Start(support::SharedCluster()));
      app_ = bouncer_->Through(app_);
    }
  }

  std::unique_ptr<Engine> OpenOne() {
    auto engine = Open(conformance::Streams(), OptionsFor(app_));
    EXPECT_OK(engine);
    return *std::move(engine);
  }

  static std::string AllBytes() {
    std::string bytes;
    for (int c = 0; c < 256; ++c) {
      bytes.push_back(static_cast<char>(c));
    }
    return bytes + "\\x41'\\";
  }

  std::unique_ptr<support::PgBouncer> bouncer_;
  std::string app_;
};

TEST_P(HostileTest, TheJournalIsRightAllTheSame) {
  const auto first = OpenOne();
  const auto second = OpenOne();
  Timestamp last_at;
  for (int i = 0; i < 3; ++i) {
    Engine& writer = i % 2 == 0 ? *first : *second;
    ASSERT_OK_AND_ASSIGN(auto transaction, writer.journal().Begin(Soon()));
    ASSERT_OK_AND_ASSIGN(const LockedState state, transaction->Read({.after = FromTheStart()}));
    ASSERT_EQ(state.news.rows.size(), 2U * static_cast<std::size_t>(i));
    EXPECT_GT(state.now, last_at) << "the database clock, in UTC";
    last_at = state.now;
    RowBuilder rows(state);
    rows.Add(kEvents, "", AllBytes()).Add(kThings, AllBytes(), "v");
    ASSERT_OK(transaction->Append(rows.rows(), {}));
    ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  }
  ASSERT_OK_AND_ASSIGN(const News news, second->journal().ReadAfter(FromTheStart(), Soon()));
  ASSERT_EQ(news.rows.size(), 6U);
  EXPECT_EQ(news.rows[0].payload.view(), AllBytes());
  EXPECT_EQ(news.rows[5].key, AllBytes());
  EXPECT_EQ(news.rows[2].tx, Tx{3});
  std::vector<Record> scanned;
  ASSERT_OK(first->journal().Scan(
      {.after = FromTheStart(), .through = std::nullopt},
      [&](std::span<const Record> rows) {
        scanned.insert(scanned.end(), rows.begin(), rows.end());
        return absl::OkStatus();
      },
      Soon()));
  ASSERT_EQ(scanned.size(), 6U);
  for (const Record& row : scanned) {
    EXPECT_EQ(Value("select count(*) from public.halo_journal where digest = " +
                    std::to_string(static_cast<std::int64_t>(Raw(row.digest)))),
              "1");
  }
  ASSERT_OK_AND_ASSIGN(const auto tails, first->journal().Tails(Soon()));
  EXPECT_EQ(tails.size(), 3U);
  EXPECT_OK(first->CheckReady(Soon()));
  EXPECT_EQ(Value("select count(*) from decoy.halo_journal"), "0");
}

// A writer whose snapshot is older than the lock would number its rows from old ones.
TEST_P(HostileTest, AWaitingWriterSeesWhatTheHolderCommitted) {
  const auto first = OpenOne();
  const auto second = OpenOne();
  ASSERT_OK_AND_ASSIGN(auto holder, first->journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const LockedState state, holder->Read({.after = FromTheStart()}));
  ASSERT_OK(holder->Append(RowBuilder(state).Add(kEvents, "", "one").rows(), {}));
  absl::StatusOr<std::size_t> seen = absl::UnknownError("not run");
  Thread waiter("waiter", [&]() {
    auto transaction = second->journal().Begin(Soon());
    if (!transaction.ok()) {
      seen = transaction.status();
      return;
    }
    const auto read = (*transaction)->Read({.after = FromTheStart()});
    seen = read.ok() ? absl::StatusOr<std::size_t>(read->news.rows.size()) : read.status();
  });
  EXPECT_TRUE(support::WaitFor(
      [this] {
        return Value(
                   "select count(*) from pg_locks where not granted and locktype = 'advisory'"
                   " and database = (select oid from pg_database where datname ="
                   " current_database())") == "1";
      },
      Soon()));
  EXPECT_EQ(holder->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  waiter.Join();
  ASSERT_OK(seen);
  EXPECT_EQ(*seen, 1U);
}

constexpr HostileSetting kHostile[] = {
    {"default_transaction_isolation", "'repeatable read'"},
    {"default_transaction_isolation", "'serializable'"},
    {"default_transaction_read_only", "on"},
    {"default_transaction_deferrable", "on"},
    {"synchronous_commit", "off"},
    {"statement_timeout", "'1s'"},
    {"lock_timeout", "'1ms'"},
    {"idle_in_transaction_session_timeout", "'1h'"},
    {"search_path", "decoy, pg_catalog, public"},
    {"bytea_output", "escape"},
    {"timezone", "'Asia/Kathmandu'"},
    {"standard_conforming_strings", "off"},
    {"row_security", "off"},
    {"client_encoding", "'SQL_ASCII'"},
    {"client_min_messages", "error"},
};

std::string NameOf(const testing::TestParamInfo<HostileTest::ParamType>& info) {
  return std::to_string(info.index / 2) + "_" + std::get<0>(info.param).name +
         (std::get<1>(info.param) ? "_pooled" : "_direct");
}

INSTANTIATE_TEST_SUITE_P(Settings, HostileTest,
                         testing::Combine(testing::ValuesIn(kHostile), testing::Bool()), NameOf);

}  // namespace
}  // namespace engine::postgres
