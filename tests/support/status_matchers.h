// EXPECT_OK, ASSERT_OK, IsOkAndHolds and StatusIs, which this Abseil does not have yet.

#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace support {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <class T>
const absl::Status& StatusOf(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

MATCHER_P(StatusIs, code, "") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code;
}

MATCHER_P2(StatusIs, code, message_matcher, "") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  const std::string message(StatusOf(arg).message().data(), StatusOf(arg).message().size());
  return StatusOf(arg).code() == code &&
         ::testing::ExplainMatchResult(message_matcher, message, result_listener);
}

}  // namespace support

#define EXPECT_OK(expression) EXPECT_THAT(expression, ::support::IsOk())
#define ASSERT_OK(expression) ASSERT_THAT(expression, ::support::IsOk())
#define ASSERT_OK_AND_ASSIGN(declaration, expression) \
  ASSERT_OK_AND_ASSIGN_INNER(ENGINE_TEST_JOIN(status_or_, __LINE__), declaration, expression)
#define ENGINE_TEST_JOIN_INNER(a, b) a##b
#define ENGINE_TEST_JOIN(a, b) ENGINE_TEST_JOIN_INNER(a, b)
#define ASSERT_OK_AND_ASSIGN_INNER(name, declaration, expression) \
  auto name = (expression);                                       \
  ASSERT_THAT(name, ::support::IsOk());                           \
  declaration = *std::move(name)
