#include "api/json/parser.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json/canonical.h"

namespace api {
namespace {

using testing::HasSubstr;

// Accepts `text` and returns its canonical form; "refused: ..." otherwise.
std::string Reparse(std::string_view text) {
  const JsonParse parse = ParseJson(text);
  return parse.ok() ? CanonicalJson(*parse.value) : "refused: " + parse.error.message;
}

TEST(JsonParserTest, KeepsIntegersToTheLastDigit) {
  EXPECT_EQ(ParseJson("9007199254740993").value->as_int64(), 9007199254740993);
  EXPECT_EQ(ParseJson("-9223372036854775808").value->as_int64(), INT64_MIN);
  EXPECT_EQ(ParseJson("9223372036854775807").value->as_int64(), INT64_MAX);
  EXPECT_EQ(ParseJson("18446744073709551615").value->as_uint64(), UINT64_MAX);
}

TEST(JsonParserTest, RefusesIntegersBeyond64Bits) {
  for (const std::string text :
       {"18446744073709551616", "-9223372036854775809", "[100000000000000000000000]"}) {
    const JsonParse parse = ParseJson(text);
    ASSERT_FALSE(parse.ok()) << text;
    EXPECT_THAT(parse.error.message, HasSubstr("integer beyond 64 bits")) << text;
  }
}

TEST(JsonParserTest, RoundsDoublesToTheNearest) {
  EXPECT_EQ(ParseJson("1.5").value->as_double(), 1.5);
  EXPECT_EQ(ParseJson("9007199254740993.0").value->as_double(), 9007199254740992.0);
  // One that Boost.JSON 1.81 itself reads as its neighbour.
  EXPECT_EQ(ParseJson("0.12345678901234568").value->as_double(), 0.12345678901234568);
  EXPECT_EQ(ParseJson("2.2250738585072011e-308").value->as_double(), 2.2250738585072011e-308);
  EXPECT_EQ(ParseJson("1e-400").value->as_double(), 0.0);
  EXPECT_EQ(ParseJson("123e20").value->as_double(), 123e20);
  EXPECT_FALSE(ParseJson("1e400").ok());
  EXPECT_FALSE(ParseJson("-1e400").ok());
}

TEST(JsonParserTest, RefusesDuplicateKeysAtEveryDepth) {
  const JsonParse parse = ParseJson(R"({"a":1,"b":[{"x":1,"x":1}]})");
  ASSERT_FALSE(parse.ok());
  EXPECT_THAT(parse.error.message, HasSubstr("duplicate key \"x\""));
  EXPECT_FALSE(ParseJson(R"({"a":1,"\u0061":2})").ok()) << "the same key, spelled differently";
  EXPECT_TRUE(ParseJson(R"({"a":1,"A":2})").ok()) << "keys are case-sensitive";
}

TEST(JsonParserTest, RefusesDepthOver64) {
  EXPECT_TRUE(ParseJson(std::string(64, '[') + std::string(64, ']')).ok());
  const JsonParse parse = ParseJson(std::string(65, '[') + std::string(65, ']'));
  ASSERT_FALSE(parse.ok());
  EXPECT_THAT(parse.error.message, HasSubstr("deeper than 64"));
  std::string objects;
  for (int i = 0; i < 65; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_FALSE(ParseJson(objects + "1" + std::string(65, '}')).ok());
}

TEST(JsonParserTest, ReportsNulAsItsOwnKind) {
  for (const std::string text : {R"({"a":"x\u0000y"})", R"({"a\u0000":1})", R"(["\u0000"])"}) {
    const JsonParse parse = ParseJson(text);
    ASSERT_FALSE(parse.ok()) << text;
    EXPECT_EQ(parse.error.kind, JsonErrorKind::kNul) << text;
  }
  // A raw NUL is a control character, which JSON does not allow in strings at all.
  const JsonParse raw = ParseJson(std::string("\"a\0b\"", 5));
  ASSERT_FALSE(raw.ok());
  EXPECT_EQ(raw.error.kind, JsonErrorKind::kSyntax);
}

TEST(JsonParserTest, RefusesLoneSurrogatesAndBadUtf8) {
  for (const std::string text :
       {R"("\ud800")", R"("\udc00")", R"("\ud800x")", R"("\ud800\ud800")", R"({"\ud800":1})",
        "\"\xED\xA0\x80\"", "\"\xC0\x80\"", "\"\xFF\"", "\"\xF4\x90\x80\x80\"", "\"\xE2\x82\""}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
  EXPECT_EQ(Reparse(R"("\ud83d\ude00")"), "\"\xF0\x9F\x98\x80\"");
}

TEST(JsonParserTest, RefusesWhatIsNotOneDocument) {
  for (const std::string text :
       {"", " ", "{} {}", "[1] x", "nul", "{\"a\":}", "[1,]", "{,}", "01", "+1", ".5", "1.", "NaN",
        "'a'", "\xEF\xBB\xBF{}", "// c\n{}", "\"\t\""}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
  EXPECT_TRUE(ParseJson(" \r\n\t{} \n").ok());
}

TEST(JsonParserTest, RefusesKeysLongerThanOneKibibyte) {
  EXPECT_TRUE(ParseJson("{\"" + std::string(1024, 'k') + "\":1}").ok());
  EXPECT_FALSE(ParseJson("{\"" + std::string(1025, 'k') + "\":1}").ok());
}

TEST(JsonParserTest, ErrorsSayWhere) {
  const JsonParse bad = ParseJson(R"({"a": [1, ?]})");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error.offset, 10U);
  EXPECT_THAT(bad.error.message, HasSubstr("at byte 10"));
  const JsonParse trailing = ParseJson("{}  x");
  ASSERT_FALSE(trailing.ok());
  EXPECT_EQ(trailing.error.offset, 4U);
}

// ---- The public parsing suite -------------------------------------------------------------------

std::filesystem::path SuiteFolder() {
  const char* const data = std::getenv("HALO_TEST_DATA");
  const std::filesystem::path root =
      data != nullptr ? std::filesystem::path(data)
                      : std::filesystem::path(HALO_SOURCE_ROOT) / ".." / "shared" / "data";
  return root / "json-parsing" / "test_parsing";
}

// Files that the suite wants accepted and that we refuse on purpose.
constexpr std::array<std::string_view, 4> kStricter = {
    "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    "y_object_escaped_null_in_key.json", "y_string_null_escape.json"};

// Files where the suite leaves the choice and we accept; we refuse all its other i_ files.
constexpr std::array<std::string_view, 2> kAcceptedChoices = {"i_number_double_huge_neg_exp.json",
                                                              "i_number_real_underflow.json"};

template <std::size_t N>
bool Contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(JsonParserTest, AgreesWithThePublicSuite) {
  const std::filesystem::path folder = SuiteFolder();
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no suite in " << folder << "; set HALO_TEST_DATA";
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const bool wanted =
        name.starts_with("y_") ? !Contains(kStricter, name) : Contains(kAcceptedChoices, name);
    const JsonParse parse = ParseJson(text);
    EXPECT_EQ(parse.ok(), wanted) << name << ": " << parse.error.message;
    if (parse.ok()) {
      const std::string canonical = CanonicalJson(*parse.value);
      EXPECT_EQ(Reparse(canonical), canonical) << name;
    }
    ++files;
  }
  EXPECT_GT(files, 300);
}

}  // namespace
}  // namespace api
