// One table says what each error means: here it is again, by hand.

#include "engine/postgres/sqlstate.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/engine/postgres/sqlstates.h"
#include "tests/support/status_matchers.h"

namespace engine::postgres {
namespace {

TEST(SqlStateTest, EachErrorHasOneMeaning) {
  std::set<std::string> seen;
  for (const SqlStateGroup& group : kSqlStates) {
    for (const std::string& state : StatesOf(group)) {
      EXPECT_TRUE(seen.insert(state).second) << state;
      EXPECT_EQ(MeaningOf(state).code, group.code) << state;
      EXPECT_EQ(MeaningOf(state).after, group.after) << state;
    }
  }
  EXPECT_GE(seen.size(), 260U);
}

TEST(SqlStateTest, AConnectionThatFailedWithoutAStateIsUnavailable) {
  EXPECT_EQ(MeaningOf("").code, absl::StatusCode::kUnavailable);
  EXPECT_EQ(MeaningOf("").after, AfterError::kDrop);
}

TEST(SqlStateTest, WhatNobodyKnowsIsAnErrorOfOurs) {
  for (const char* state : {"ZZ999", "0", "P0", "99999"}) {
    EXPECT_EQ(MeaningOf(state).code, absl::StatusCode::kInternal) << state;
  }
}

TEST(SqlStateTest, AStatusSaysWhatWasTriedAndWhatTheServerSaid) {
  EXPECT_THAT(ErrorFor("55P03", "locking", "canceling statement due to lock timeout\n"),
              support::StatusIs(absl::StatusCode::kDeadlineExceeded,
                                "locking: canceling statement due to lock timeout "
                                "(SQLSTATE 55P03)"));
}

}  // namespace
}  // namespace engine::postgres
