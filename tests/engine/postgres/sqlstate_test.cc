// One table says what each error means: here it is again, by hand.

#include "engine/postgres/sqlstate.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace engine::postgres {
namespace {

struct Expected {
  std::string_view sqlstate;
  absl::StatusCode code;
  AfterError after;
};

TEST(SqlStateTest, EachErrorHasOneMeaning) {
  using enum absl::StatusCode;
  constexpr Expected kExpected[] = {
      {"", kUnavailable, AfterError::kDrop},
      {"08006", kUnavailable, AfterError::kDrop},
      {"08P01", kUnavailable, AfterError::kDrop},
      {"0A000", kUnavailable, AfterError::kDrop},
      {"22001", kInvalidArgument, AfterError::kKeep},
      {"22012", kInternal, AfterError::kKeep},
      {"23502", kInvalidArgument, AfterError::kKeep},
      {"23505", kAborted, AfterError::kKeep},
      {"23514", kInvalidArgument, AfterError::kKeep},
      {"25006", kUnavailable, AfterError::kDrop},
      {"25P02", kInternal, AfterError::kKeep},
      {"25P03", kUnavailable, AfterError::kDrop},
      {"26000", kUnavailable, AfterError::kDrop},
      {"28P01", kUnavailable, AfterError::kDrop},
      {"3D000", kUnavailable, AfterError::kDrop},
      {"40001", kAborted, AfterError::kKeep},
      {"40003", kUnavailable, AfterError::kDrop},
      {"40P01", kAborted, AfterError::kKeep},
      {"42501", kPermissionDenied, AfterError::kKeep},
      {"42601", kInternal, AfterError::kKeep},
      {"42P01", kUnavailable, AfterError::kDrop},
      {"53100", kResourceExhausted, AfterError::kKeep},
      {"53300", kUnavailable, AfterError::kDrop},
      {"54000", kInvalidArgument, AfterError::kKeep},
      {"55P03", kDeadlineExceeded, AfterError::kKeep},
      {"57014", kDeadlineExceeded, AfterError::kKeep},
      {"57P01", kUnavailable, AfterError::kDrop},
      {"57P05", kUnavailable, AfterError::kDrop},
      {"58030", kUnavailable, AfterError::kDrop},
      {"XX000", kInternal, AfterError::kDrop},
      {"XX001", kDataLoss, AfterError::kDrop},
      {"XX002", kDataLoss, AfterError::kDrop},
      {"ZZ999", kInternal, AfterError::kKeep},
  };
  for (const Expected& expected : kExpected) {
    EXPECT_EQ(MeaningOf(expected.sqlstate).code, expected.code) << expected.sqlstate;
    EXPECT_EQ(MeaningOf(expected.sqlstate).after, expected.after) << expected.sqlstate;
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
