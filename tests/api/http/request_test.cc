#include "api/http/request.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace api {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

RequestParts Parts(std::string target) {
  RequestParts parts;
  parts.target = std::move(target);
  return parts;
}

TEST(RequestTest, SplitsPathAndQuery) {
  const Request request(Parts("/a/b%20c?x=1&y=a+b%26c&x=2&flag&=v"));
  EXPECT_EQ(request.path(), "/a/b%20c");
  EXPECT_EQ(request.query(), "x=1&y=a+b%26c&x=2&flag&=v");
  EXPECT_EQ(request.Query("x"), "1");
  EXPECT_THAT(request.QueryAll("x"), ElementsAre("1", "2"));
  EXPECT_EQ(request.Query("y"), "a b&c");
  EXPECT_EQ(request.Query("flag"), "");
  EXPECT_EQ(request.Query("X"), std::nullopt);
  EXPECT_TRUE(request.well_formed());
}

TEST(RequestTest, TakesTheAbsoluteForm) {
  EXPECT_EQ(Request(Parts("http://halo.example:80/a/b?x=1")).path(), "/a/b");
  EXPECT_EQ(Request(Parts("HTTP://halo.example/a?x=1")).Query("x"), "1");
  EXPECT_EQ(Request(Parts("http://halo.example")).path(), "/");
  EXPECT_EQ(Request(Parts("/http://halo.example/a")).path(), "/http://halo.example/a");
  EXPECT_EQ(Request(Parts("*")).path(), "*");
}

TEST(RequestTest, SeesWhatDoesNotDecode) {
  for (const std::string target :
       {"/a%2", "/a%zz", "/a%00", "/a%ff", "/?x=%00", "/?%", "/?x=%c3%28", "/\xff"}) {
    EXPECT_FALSE(Request(Parts(target)).well_formed()) << target;
  }
  EXPECT_TRUE(Request(Parts("/%E2%82%AC?q=%e2%82%ac")).well_formed());
}

TEST(RequestTest, FindsHeadersWhateverTheirCase) {
  RequestParts parts;
  parts.headers = {{"If-Match", "\"1\""}, {"accept", "a"}, {"Accept", "b"}};
  const Request request(std::move(parts));
  EXPECT_EQ(request.Header("if-match"), "\"1\"");
  EXPECT_EQ(request.Header("ACCEPT"), "a");
  EXPECT_EQ(request.Header("Host"), std::nullopt);
}

TEST(RequestTest, KeepsAUsableIdAndMakesOneOtherwise) {
  const auto id_for = [](std::string inbound) {
    RequestParts parts;
    parts.headers = {{"x-request-id", std::move(inbound)}};
    return std::string(Request(std::move(parts)).id());
  };
  EXPECT_EQ(id_for("Abc-1.2_3"), "Abc-1.2_3");
  EXPECT_EQ(id_for(std::string(128, 'a')), std::string(128, 'a'));
  const std::string uuid_v7 = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
  EXPECT_THAT(id_for(std::string(129, 'a')), MatchesRegex(uuid_v7));
  EXPECT_THAT(id_for("a b"), MatchesRegex(uuid_v7));
  EXPECT_THAT(id_for(""), MatchesRegex(uuid_v7));
  EXPECT_THAT(std::string(Request(RequestParts{}).id()), MatchesRegex(uuid_v7));
}

TEST(RequestTest, KnowsMethods) {
  EXPECT_EQ(MethodFromName("PATCH"), Method::kPatch);
  EXPECT_EQ(MethodFromName("patch"), Method::kOther);
  EXPECT_EQ(MethodFromName("BREW"), Method::kOther);
  EXPECT_EQ(MethodName(Method::kDelete), "DELETE");
}

}  // namespace
}  // namespace api
