#include "api/spec_schema/yaml.h"

#include <gmock/gmock.h>

#include "api/json/canonical.h"

namespace api {
namespace {

using testing::HasSubstr;

// The JSON, or why there is none.
std::string Read(const std::string& yaml) {
  const auto value = JsonOfYaml(yaml);
  return value.ok() ? CanonicalJson(*value)
                    : std::string(value.status().message().data(), value.status().message().size());
}

TEST(YamlTest, ScalarsAreOfTheCoreSchema) {
  EXPECT_EQ(Read("[null, ~, true, False, yes, 1, +2, -0.5, .5, 1e3, '1', \"true\", 2024-01-01]"),
            R"([null,null,true,false,"yes",1,2,-0.5,0.5,1000,"1","true","2024-01-01"])");
  EXPECT_EQ(Read("[18446744073709551615, 36893488147419103232, 1.2.3, -, 3.0.3]"),
            R"([18446744073709551615,3.6893488147419103e+19,"1.2.3","-","3.0.3"])");
  EXPECT_EQ(Read("a: |\n  1\nb: >-\n  true\nc:\n200: x\n"),
            R"({"200":"x","a":"1\n","b":"true","c":null})");
  EXPECT_EQ(Read("a: &x {b: 1}\nc: *x\n"), R"({"a":{"b":1},"c":{"b":1}})");
}

TEST(YamlTest, WhatIsNoDocumentIsRefused) {
  EXPECT_EQ(Read("a: 1\nb: 2\na: 3\n"), "line 3: a is there twice");
  EXPECT_THAT(Read("a: [1\n"), HasSubstr("line "));
  EXPECT_THAT(Read("a: 1\n---\nb: 2\n"), HasSubstr("more than one document"));
  EXPECT_THAT(Read("? [1]\n: 2\n"), HasSubstr("expected a key"));
  EXPECT_THAT(Read("a: &x {b: 1}\nc:\n  <<: *x\n"), HasSubstr("merge keys"));
}

TEST(YamlTest, AliasesCannotMakeItHuge) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    std::string list = before;
    for (int k = 1; k < 10; ++k) {
      list += ", " + before;
    }
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + list + "]\n";
  }
  EXPECT_THAT(Read(bomb), HasSubstr("more than 200000 values"));
}

TEST(YamlTest, NestingHasAnEnd) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(Read(nested(kMaxJsonDepth)), nested(kMaxJsonDepth));
  EXPECT_THAT(Read(nested(kMaxJsonDepth + 1)), HasSubstr("nested deeper"));
  EXPECT_THAT(Read(nested(100'000)), HasSubstr("line "));
}

}  // namespace
}  // namespace api
