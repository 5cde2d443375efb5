// Every error that a server can name, raised by a real one while we insert and while we commit.

#include <gmock/gmock.h>

#include "tests/engine/postgres/fixture.h"
#include "tests/engine/postgres/sqlstates.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

// The row of `fault` names the SQLSTATE that an insert into the journal ends with, if any.
class SqlStateFaultTest : public PostgresTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PostgresTest::SetUp());
    Run("create table fault (state text); insert into fault values (null);"
        "create function fail() returns trigger language plpgsql as $$"
        " declare wanted text := (select state from public.fault); begin"
        "  if wanted is not null then"
        "   raise exception 'injected' using errcode = wanted; end if;"
        "  return null; end $$");
  }

  // Commits once an error. The engine is the same all the time, and sound in the end.
  void MeetEachError() {
    support::Session faults(url());
    for (const SqlStateGroup& group : kSqlStates) {
      for (const std::string& state : StatesOf(group)) {
        ASSERT_TRUE(faults.Run("update fault set state = '" + state + "'").ok);
        const CommitOutcome outcome = Prepared("x")->Commit(Soon());
        const bool kept = group.after == AfterError::kKeep;
        EXPECT_EQ(outcome.kind, kept ? CommitOutcome::Kind::kFailed : CommitOutcome::Kind::kUnknown)
            << state;
        if (kept) {
          EXPECT_EQ(outcome.why.code(), group.code) << state;
        }
      }
    }
    ASSERT_TRUE(faults.Run("update fault set state = null").ok);
    EXPECT_EQ(Prepared("y")->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
    EXPECT_EQ(Value("select count(*) from halo_journal"), "1");
  }
};

// An error before the COMMIT, on a connection that is dropped: nothing says that the COMMIT behind
// it was not run.
TEST_F(SqlStateFaultTest, AnyErrorOfTheInsertIsAFailureOrUnknownAndNeverACommit) {
  Run("create trigger fail after insert on halo_journal for each row execute function fail()");
  MeetEachError();
}

TEST_F(SqlStateFaultTest, AnyErrorOfTheCommitToo) {
  Run("create constraint trigger fail after insert on halo_journal deferrable initially deferred"
      " for each row execute function fail()");
  MeetEachError();
}

}  // namespace
}  // namespace engine::postgres
