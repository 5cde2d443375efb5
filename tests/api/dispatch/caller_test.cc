#include "api/dispatch/caller.h"

#include "tests/api/dispatch/hooked_engine.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using support::StatusIs;
using testing::HasSubstr;
using testing::Not;

std::optional<std::string> NameOf(const AdminTokens& tokens, const std::string& authorization) {
  return tokens.NameOf(*MakeRequest("GET", "/", {{"Authorization", authorization}}));
}

TEST(AdminTokensTest, TokensHaveNames) {
  ASSERT_OK_AND_ASSIGN(
      const AdminTokens tokens,
      AdminTokens::Parse("# people\n\nann:one\r\nbob:two:with colon  \nann:three"));
  EXPECT_EQ(NameOf(tokens, "Bearer one"), "ann");
  EXPECT_EQ(NameOf(tokens, "Bearer two:with colon"), "bob");
  EXPECT_EQ(NameOf(tokens, "Bearer three"), "ann");
}

TEST(AdminTokensTest, NothingElseIsATokenOfOurs) {
  ASSERT_OK_AND_ASSIGN(const AdminTokens tokens, AdminTokens::Parse("ann:one\n"));
  for (const std::string credential : {"Bearer two", "Bearer ", "Bearer", "bearer one",
                                       "Bearer  one", "one", "Bearer one ", "Basic one", ""}) {
    EXPECT_EQ(NameOf(tokens, credential), std::nullopt) << credential;
  }
  EXPECT_EQ(tokens.NameOf(*MakeRequest("GET", "/")), std::nullopt);
  EXPECT_EQ(NameOf(AdminTokens(), "Bearer one"), std::nullopt);
}

TEST(AdminTokensTest, BadLinesAreNamedWithoutTheirTokens) {
  for (const std::string line : {"secret", ":secret", "ann:", "a\tn:secret", "ann:sec\x01ret"}) {
    EXPECT_THAT(AdminTokens::Parse("ok:fine\n" + line),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::AllOf(HasSubstr("line 2"), Not(HasSubstr("secret")))))
        << line;
  }
  EXPECT_THAT(AdminTokens::Parse("ann:same\nbob:same"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 2")));
  EXPECT_THAT(AdminTokens::Parse(std::string(256, 'n') + ":token"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CallerTest, AddressesComeWithoutPorts) {
  EXPECT_EQ(AddressOf("192.0.2.7:41234"), "192.0.2.7");
  EXPECT_EQ(AddressOf("[2001:db8::1]:443"), "2001:db8::1");
  EXPECT_EQ(AddressOf(""), "");
}

TEST(CallerTest, BrowsersMustComeFromTheSameOrigin) {
  const auto crosses = [](std::vector<HeaderField> headers) {
    return IsCrossOrigin(*MakeRequest("POST", "/", std::move(headers)));
  };
  EXPECT_FALSE(crosses({}));
  EXPECT_FALSE(crosses({{"Origin", "https://halo.example"}}));
  EXPECT_FALSE(crosses({{"Origin", "https://HALO.example"}, {"Sec-Fetch-Site", "same-origin"}}));
  EXPECT_FALSE(crosses({{"Sec-Fetch-Site", "none"}}));
  EXPECT_TRUE(crosses({{"Origin", "https://halo.example:8443"}}));
  EXPECT_TRUE(crosses({{"Origin", "https://evil.example"}}));
  EXPECT_TRUE(crosses({{"Origin", "null"}}));
  EXPECT_TRUE(crosses({{"Sec-Fetch-Site", "cross-site"}}));
  EXPECT_TRUE(crosses({{"Origin", "https://halo.example"}, {"Sec-Fetch-Site", "same-site"}}));
}

}  // namespace
}  // namespace api
