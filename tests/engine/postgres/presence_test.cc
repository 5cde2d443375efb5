// What is the database's about presence and about who answers; the contract of the seam itself is
// in tests/conformance.

#include "engine/presence.h"

#include <gmock/gmock.h>
#include <libpq-fe.h>

#include "tests/engine/postgres/fixture.h"

namespace engine::postgres {
namespace {

using support::StatusIs;

class PresenceTest : public PostgresTest {
 protected:
  absl::StatusOr<Pulse> Beat(const std::string& name) {
    return engine().presence().Beat({name, {}, 1, {}}, Soon());
  }
};

TEST_F(PresenceTest, TheSilentAreForgottenAndTheirRowsRemoved) {
  ASSERT_OK(Beat("old"));
  ASSERT_OK(Beat("ahead"));
  Run("update halo_heartbeat set at = clock_timestamp() - interval '61 seconds'"
      " where replica = 'old'");
  Run("update halo_heartbeat set at = clock_timestamp() + interval '61 seconds'"
      " where replica = 'ahead'");
  ASSERT_OK_AND_ASSIGN(const Pulse pulse, Beat("new"));
  ASSERT_EQ(pulse.replicas.size(), 1U);
  EXPECT_EQ(pulse.replicas[0].name, "new");
  EXPECT_EQ(Value("select count(*) from halo_heartbeat"), "1");
}

TEST_F(PresenceTest, ARowThatIsLockedIsLeftAndHoldsNobodyUp) {
  ASSERT_OK(Beat("old"));
  Run("update halo_heartbeat set at = clock_timestamp() - interval '61 seconds'");
  const std::unique_ptr<PGconn, decltype(&PQfinish)> stranger(PQconnectdb(url().c_str()), PQfinish);
  const std::unique_ptr<PGresult, decltype(&PQclear)> locked(
      PQexec(stranger.get(), "begin; select 1 from halo_heartbeat for update"), PQclear);
  ASSERT_EQ(PQresultStatus(locked.get()), PGRES_TUPLES_OK);
  EXPECT_OK(Beat("new"));
  EXPECT_EQ(Value("select count(*) from halo_heartbeat"), "2");
}

TEST_F(PresenceTest, ALifeIsNotedOnce) {
  ASSERT_OK_AND_ASSIGN(const Life life, engine().presence().NoteLife(Soon()));
  ASSERT_OK_AND_ASSIGN(const Pulse pulse, Beat("a"));
  EXPECT_EQ(pulse.life, life);
  EXPECT_EQ(Value("select count(*) from halo_epoch"), "1");
  EXPECT_EQ(Value("select epoch from halo_epoch"), std::to_string(life.epoch));
}

TEST_F(PresenceTest, ABeatIsAsDurableAsAnAppendWhateverTheRoleSays) {
  Run("alter database " + Value("select current_database()") + " set synchronous_commit = off");
  Run("create function note() returns trigger language plpgsql as $$ begin"
      " if current_setting('synchronous_commit') <> 'on' then raise exception 'weak'; end if;"
      " return new; end $$;"
      "create trigger note before insert or update on halo_heartbeat for each row"
      " execute function note()");
  EXPECT_OK(Beat("a"));
}

// A head that cannot be read is an error, never position 0.
TEST_F(PresenceTest, APolicyThatHidesRowsIsAnErrorAndNoEmptyJournal) {
  ASSERT_OK(support::SharedCluster().CreateRole("halo_hidden"));
  ASSERT_OK(Migrate(OptionsFor(url()), "halo_hidden"));
  auto transaction = Prepared("hidden");
  ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  transaction.reset();
  ASSERT_OK_AND_ASSIGN(const auto app, Open(conformance::Streams(),
                                            OptionsFor(support::WithRole(url(), "halo_hidden"))));
  ASSERT_OK(app->journal().Tails(Soon()));
  Run("alter table halo_journal enable row level security");
  EXPECT_THAT(app->journal().Tails(Soon()), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(app->journal().ReadAfter(conformance::FromTheStart(), Soon()),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(app->journal().ReadStream(conformance::kEvents, Position{1}, 1, Soon()),
              StatusIs(absl::StatusCode::kPermissionDenied));
  const auto nothing = [](std::span<const Record>) { return absl::OkStatus(); };
  EXPECT_FALSE(app->journal()
                   .Scan({.after = conformance::FromTheStart(), .through = {}}, nothing, Soon())
                   .ok());
  const auto locked = app->journal().Begin(Soon());
  EXPECT_FALSE(locked.ok() && (*locked)->Read({.after = conformance::FromTheStart()}).ok());
}

}  // namespace
}  // namespace engine::postgres
