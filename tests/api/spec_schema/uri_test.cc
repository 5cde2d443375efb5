#include "api/spec_schema/uri.h"

#include "tests/api/spec_schema/testing.h"

namespace api {
namespace {

std::string Resolve(std::string_view base, std::string_view reference) {
  const UriAndFragment resolved = ResolveUri(base, reference);
  return resolved.fragment.empty() ? resolved.uri : resolved.uri + "#" + resolved.fragment;
}

// RFC 3986 5.4.
TEST(UriTest, ResolvesReferences) {
  const std::string base = "http://a/b/c/d;p?q";
  EXPECT_EQ(Resolve(base, "g:h"), "g:h");
  EXPECT_EQ(Resolve(base, "g"), "http://a/b/c/g");
  EXPECT_EQ(Resolve(base, "./g/"), "http://a/b/c/g/");
  EXPECT_EQ(Resolve(base, "/g"), "http://a/g");
  EXPECT_EQ(Resolve(base, "//g"), "http://g");
  EXPECT_EQ(Resolve(base, "?y"), "http://a/b/c/d;p?y");
  EXPECT_EQ(Resolve(base, ""), base);
  EXPECT_EQ(Resolve(base, "#s"), base + "#s");
  EXPECT_EQ(Resolve(base, "../../../g"), "http://a/g");
  EXPECT_EQ(Resolve(base, ".."), "http://a/b/");
  EXPECT_EQ(Resolve(base, "./../g"), "http://a/b/g");
  EXPECT_EQ(Resolve("", "#/a%25b"), "#/a%b");
  EXPECT_EQ(Resolve("urn:example:x", "#a"), "urn:example:x#a");
}

TEST(UriTest, FollowsPointers) {
  const JsonValue root = schema_test::Json(R"({"a/b": {"m~n": [1, {"": 2}]}})");
  EXPECT_EQ(*FollowPointer(root, "/a~1b/m~0n/0"), JsonValue(1));
  EXPECT_EQ(*FollowPointer(root, "/a~1b/m~0n/1/"), JsonValue(2));
  EXPECT_EQ(FollowPointer(root, ""), &root);
  for (const char* const pointer : {"/a", "/a~1b/m~0n/2", "/a~1b/m~0n/x", "/a~1b/m~0n/0/0"}) {
    EXPECT_EQ(FollowPointer(root, pointer), nullptr) << pointer;
  }
  EXPECT_EQ(PointerStep("a/b~c"), "/a~1b~0c");
}

}  // namespace
}  // namespace api
