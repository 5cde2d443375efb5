#include "engine/postgres/server_facts.h"

#include <gmock/gmock.h>

#include "engine/base/reason.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/logs.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/poll.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

using support::StatusIs;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

ServerFacts Sound() {
  ServerFacts facts;
  facts.version = 150004;
  facts.fsync = facts.full_page_writes = "on";
  facts.synchronous_standby_names = "FIRST 1 (a, b)";
  return facts;
}

TEST(ServerFactsTest, AnOldServerIsRefused) {
  ServerFacts facts = Sound();
  EXPECT_OK(CheckFacts(facts, false));
  facts.version = 130011;
  EXPECT_THAT(CheckFacts(facts, false),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("version 13")));
}

TEST(ServerFactsTest, SynchronousMeansAnotherMachineAndADisk) {
  EXPECT_OK(CheckFacts(Sound(), true));
  for (const char* none : {"", "  "}) {
    ServerFacts facts = Sound();
    facts.synchronous_standby_names = none;
    EXPECT_OK(CheckFacts(facts, false));
    EXPECT_THAT(CheckFacts(facts, true), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  ServerFacts facts = Sound();
  facts.fsync = "off";
  EXPECT_THAT(CheckFacts(facts, true), StatusIs(absl::StatusCode::kFailedPrecondition));
}

class ServerFactsOfAServerTest : public PostgresTest {
 protected:
  absl::Status TryOpen(const Options& options) {
    return Open(conformance::Streams(), options).status();
  }
  std::string Database() { return Value("select current_database()"); }
};

TEST_F(ServerFactsOfAServerTest, WithoutAStandbyItIsRefusedWhenOneIsDemanded) {
  Options options = OptionsFor(url());
  EXPECT_OK(TryOpen(options));
  options.require_synchronous = true;
  EXPECT_THAT(TryOpen(options),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--require-synchronous")));
}

// Names can be taken away under open connections.
TEST(SynchronousServerTest, StopsToTakeWritesWhenItStopsToBeSynchronousAndGoesOnWhenItIsAgain) {
  ASSERT_OK_AND_ASSIGN(const auto primary, support::PostgresCluster::Start());
  ASSERT_OK_AND_ASSIGN(const auto standby, support::PostgresCluster::StartStandby(*primary, "two"));
  ASSERT_OK_AND_ASSIGN(const std::string url, primary->CreateDatabase("halo"));
  ASSERT_OK(Migrate(OptionsFor(url)));
  const auto name_standbys = [&](const char* names) {
    ASSERT_OK(primary->Set("synchronous_standby_names", names));
    primary->Reload();
  };
  name_standbys("two");
  Options options = OptionsFor(url);
  options.require_synchronous = true;
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(support::WaitFor(
      [&] {
        auto opened = Open(conformance::Streams(), options);
        engine = opened.ok() ? *std::move(opened) : nullptr;
        return engine != nullptr;
      },
      Soon()));
  ASSERT_OK(engine->journal().Begin(Soon()));
  ASSERT_OK(engine->journal().ReadAfter(conformance::FromTheStart(), Soon()));
  const auto put = [&] { return engine->key_value().Put("key", "value", std::nullopt, Soon()); };
  ASSERT_OK(put());

  name_standbys("");
  ASSERT_TRUE(support::WaitFor([&] { return !engine->journal().Begin(Soon()).ok(); }, Soon()));
  const absl::Status refused = engine->journal().Begin(Soon()).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("was emptied")));
  EXPECT_EQ(ReasonOf(refused), Reason::kNotSynchronous);
  ASSERT_TRUE(support::WaitFor([&] { return !put().ok(); }, Soon()));
  EXPECT_EQ(ReasonOf(put()), Reason::kNotSynchronous);
  ASSERT_TRUE(support::WaitFor([&] { return !engine->CheckReady(Soon()).ok(); }, Soon()));
  EXPECT_EQ(ReasonOf(engine->CheckReady(Soon())), Reason::kNotSynchronous);
  EXPECT_OK(engine->journal().ReadAfter(conformance::FromTheStart(), Soon()));

  name_standbys("two");
  ASSERT_TRUE(support::WaitFor([&] { return engine->CheckReady(Soon()).ok(); }, Soon()));
  EXPECT_TRUE(support::WaitFor([&] { return put().ok(); }, Soon()));
}

TEST_F(ServerFactsOfAServerTest, WhatItIsIsShownAndLogged) {
  Run("alter database " + Database() + " set default_transaction_isolation = 'repeatable read'");
  Run("alter database " + Database() + " set synchronous_commit = off");
  Options options = OptionsFor(url());
  options.stats = std::make_shared<Stats>();
  ASSERT_OK(TryOpen(options));
  const Stats::Facts facts = options.stats->facts();
  EXPECT_THAT(facts, Contains(Pair("replication", "none or asynchronous")));
  EXPECT_THAT(facts, Contains(Pair("default_transaction_isolation", "repeatable read")));
  EXPECT_THAT(facts, Contains(Pair("synchronous_commit", "on"))) << "ours, not the role's";
  EXPECT_THAT(facts, Contains(Pair("fsync", "on")));
  EXPECT_THAT(support::LogLines(), Contains(HasSubstr("\"message\":\"database server\"")));
}

TEST_F(ServerFactsOfAServerTest, ARoleThatCannotSetATimeoutInTimeIsRefused) {
  support::Session admin(url());  // Of before: its own timeout stays.
  const std::string set = "alter database " + Database() + " set statement_timeout = ";
  ASSERT_TRUE(admin.Run(set + "'300ms'").ok);
  EXPECT_THAT(TryOpen(OptionsFor(url())),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("statement_timeout")));
  // So short that not even the question is always answered: refused one way or the other.
  ASSERT_TRUE(admin.Run(set + "'1ms'").ok);
  EXPECT_FALSE(TryOpen(OptionsFor(url())).ok());
  ASSERT_TRUE(admin.Run(set + "'2s'").ok);
  EXPECT_OK(TryOpen(OptionsFor(url())));
}

// A new connection looks again: what was right at start may have been changed since.
TEST_F(ServerFactsOfAServerTest, AServerThatStopsToFitIsNotReadyAndSaysWhy) {
  Options options = OptionsFor(url());
  options.conn_max_lifetime = std::chrono::nanoseconds(1);
  ASSERT_OK_AND_ASSIGN(const auto engine, Open(conformance::Streams(), options));
  ASSERT_OK(engine->CheckReady(Soon()));
  Run("insert into halo_schema_migrations values (900, 'later.sql', 900)");
  EXPECT_THAT(engine->CheckReady(Soon()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("later.sql")));
  Run("delete from halo_schema_migrations where version = 900");
  EXPECT_OK(engine->CheckReady(Soon()));
}

TEST_F(ServerFactsOfAServerTest, TheDirectWayLeadsToTheSameDatabase) {
  ASSERT_OK_AND_ASSIGN(const auto bouncer, support::PgBouncer::Start(support::SharedCluster()));
  Options options = OptionsFor(bouncer->Through(url()));
  options.direct_url = url();
  EXPECT_OK(TryOpen(options));
  ASSERT_OK_AND_ASSIGN(options.direct_url, support::SharedCluster().CreateDatabase("other"));
  EXPECT_THAT(TryOpen(options),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another database")));
  options.direct_url = "postgresql://db.example/halo";
  EXPECT_THAT(TryOpen(options), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace engine::postgres
