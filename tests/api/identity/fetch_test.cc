#include "api/identity/fetch.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/key_server.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::StatusIs;
using testing::HasSubstr;

absl::StatusOr<std::string> Fetch(const std::string& url) {
  const std::atomic<bool> stop{false};
  return FetchText({.url = url, .ca_file = {}}, stop);
}

TEST(FetchTextTest, TheBodyOfASuccess) {
  support::KeyServer server("body");
  const auto text = Fetch(server.url());
  ASSERT_OK(text);
  EXPECT_EQ(*text, "body");
  for (const int status : {204, 302, 404, 503}) {
    server.Set("body", status);
    EXPECT_THAT(Fetch(server.url()), StatusIs(absl::StatusCode::kUnavailable,
                                              HasSubstr("answered " + std::to_string(status))));
  }
}

TEST(FetchTextTest, AnAnswerIsNotTooLarge) {
  support::KeyServer server(std::string((std::size_t{1} << 20) + 1, 'x'));
  EXPECT_THAT(Fetch(server.url()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("more than 1048576 bytes")));
  server.Set(std::string(std::size_t{1} << 20, 'x'));
  EXPECT_OK(Fetch(server.url()));
}

}  // namespace
}  // namespace api
