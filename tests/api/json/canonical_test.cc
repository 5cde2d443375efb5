#include "api/json/canonical.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/json/writer.h"
#include "engine/base/bytes.h"

namespace api {
namespace {

std::string Canonical(std::string_view text) {
  const JsonParse parse = ParseJson(text);
  EXPECT_TRUE(parse.ok()) << text << ": " << parse.error.message;
  return parse.ok() ? CanonicalJson(*parse.value) : "";
}

std::string Number(std::uint64_t bits) {
  std::string out;
  AppendJsonNumber(std::bit_cast<double>(bits), out);
  return out;
}

TEST(CanonicalJsonTest, PrintsNumbersAsEcmaScript) {
  EXPECT_EQ(Number(0x0000000000000000), "0");
  EXPECT_EQ(Number(0x8000000000000000), "0");
  EXPECT_EQ(Number(0x0000000000000001), "5e-324");
  EXPECT_EQ(Number(0x8000000000000001), "-5e-324");
  EXPECT_EQ(Number(0x7fefffffffffffff), "1.7976931348623157e+308");
  EXPECT_EQ(Number(0xffefffffffffffff), "-1.7976931348623157e+308");
  EXPECT_EQ(Number(0x4340000000000000), "9007199254740992");
  EXPECT_EQ(Number(0xc340000000000000), "-9007199254740992");
  EXPECT_EQ(Number(0x44b52d02c7e14af6), "1e+23");
  EXPECT_EQ(Number(0x44b52d02c7e14af7), "1.0000000000000001e+23");
  EXPECT_EQ(Number(0x444b1ae4d6e2ef50), "1e+21");
  EXPECT_EQ(Number(0x3eb0c6f7a0b5ed8c), "9.999999999999997e-7");
  EXPECT_EQ(Number(0x3eb0c6f7a0b5ed8d), "0.000001");
  EXPECT_EQ(Number(0x41b3de4355555553), "333333333.3333332");
  EXPECT_EQ(Number(0x41b3de4355555554), "333333333.33333325");
  EXPECT_EQ(Number(0xbecbf647612f3696), "-0.0000033333333333333333");
  EXPECT_EQ(Number(0x43143ff3c1cb0959), "1424953923781206.2");
}

TEST(CanonicalJsonTest, NeverWritesADoubleThatReadsBackAsTooLongAnInteger) {
  EXPECT_EQ(Canonical("1e20"), "1e+20");
  EXPECT_EQ(Canonical("1e19"), "10000000000000000000");
  EXPECT_EQ(Canonical("-1e19"), "-1e+19");
  EXPECT_EQ(Canonical("-1e18"), "-1000000000000000000");
}

TEST(CanonicalJsonTest, SortsKeysByUtf16CodeUnits) {
  EXPECT_EQ(Canonical(R"({"b":1,"a":2,"ab":3,"":4})"), R"({"":4,"a":2,"ab":3,"b":1})");
  // U+1F600 is D83D DE00 in UTF-16 and so comes before U+FB33, though its bytes come after.
  EXPECT_EQ(
      Canonical(R"({"\ufb33":1,"\ud83d\ude00":2,"\u20ac":3,"\r":4,"1":5,"\u0080":6,"\u00f6":7})"),
      "{\"\\r\":4,\"1\":5,\"\xC2\x80\":6,\"\xC3\xB6\":7,\"\xE2\x82\xAC\":3,"
      "\"\xF0\x9F\x98\x80\":2,\"\xEF\xAC\xB3\":1}");
}

TEST(CanonicalJsonTest, UsesTheShortestEscapes) {
  EXPECT_EQ(Canonical(R"("\u0008\t\n\f\r\u000f\"\\\/\u007f\u20ac")"),
            "\"\\b\\t\\n\\f\\r\\u000f\\\"\\\\/\x7f\xE2\x82\xAC\"");
}

TEST(CanonicalJsonTest, EqualityIgnoresOrderAndNotDigits) {
  const auto equal = [](std::string_view a, std::string_view b) {
    return JsonEquals(*ParseJson(a).value, *ParseJson(b).value);
  };
  EXPECT_TRUE(equal(R"({"a":1,"b":[2]})", R"({"b":[2.0],"a":1.0})"));
  EXPECT_TRUE(equal("-0.0", "0"));
  EXPECT_TRUE(equal("100", "1e2"));
  EXPECT_FALSE(equal("9007199254740993", "9007199254740992"));
  EXPECT_FALSE(equal("[1,2]", "[2,1]"));
  EXPECT_FALSE(equal("1", "\"1\""));
  EXPECT_FALSE(equal("null", "{}"));
}

TEST(JsonWriterTest, PutsCommasAndNesting) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Key("a").Int(-1).Key("b").BeginArray().Uint(UINT64_MAX).Null().Bool(true).EndArray();
  json.Key("c").BeginObject().EndObject().Key("d").Raw("{\"x\":1}").Key("e\n").String("\xFF\"");
  json.Key("f").Double(0.5).Key("g").Value(*ParseJson("[1, 2]").value);
  json.EndObject();
  EXPECT_EQ(out,
            "{\"a\":-1,\"b\":[18446744073709551615,null,true],\"c\":{},\"d\":{\"x\":1},"
            "\"e\\n\":\"\xEF\xBF\xBD\\\"\",\"f\":0.5,\"g\":[1,2]}");
}

// ---- Properties ---------------------------------------------------------------------------------

// rapidcheck prints its seed; HALO_SEED repeats a run.
void UseSeed() {
  if (const char* const seed = std::getenv("HALO_SEED")) {
    setenv("RC_PARAMS", ("seed=" + std::string(seed)).c_str(), 1);
  }
}

// A string of valid UTF-8 without NUL, from all lengths of sequences.
std::string AnyText() {
  const auto points = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::oneOf(
      rc::gen::inRange<std::uint32_t>(1, 0x80), rc::gen::inRange<std::uint32_t>(0x80, 0x800),
      rc::gen::inRange<std::uint32_t>(0xE000, 0x10000),
      rc::gen::inRange<std::uint32_t>(0x10000, 0x110000)));
  std::string text;
  for (const std::uint32_t point : points) {
    if (point < 0x80) {
      text.push_back(static_cast<char>(point));
      continue;
    }
    const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    text.push_back(static_cast<char>((0xFF00 >> (more + 1) & 0xFF) | point >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) {
      text.push_back(static_cast<char>(0x80 | (point >> (6 * i) & 0x3F)));
    }
  }
  return text;
}

double AnyFiniteDouble() {
  const auto number = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());
  return std::isfinite(number) ? number : 0.25;
}

JsonValue AnyValue(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::arbitrary<std::uint64_t>();
    case 4:
      return AnyFiniteDouble();
    case 5:
      return boost::json::string(AnyText());
    case 6: {
      JsonArray array;
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
        array.push_back(AnyValue(depth - 1));
      }
      return array;
    }
    default: {
      JsonObject object;
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
        object.insert_or_assign(AnyText(), AnyValue(depth - 1));
      }
      return object;
    }
  }
}

TEST(CanonicalJsonTest, ReadsBackAsAnEqualValue) {
  UseSeed();
  EXPECT_TRUE(rc::check("parse(canonical(x)) equals x, and has the same form", [] {
    const JsonValue value = AnyValue(4);
    const std::string form = CanonicalJson(value);
    const JsonParse back = ParseJson(form);
    RC_ASSERT(back.ok());
    RC_ASSERT(CanonicalJson(*back.value) == form);
    RC_ASSERT(JsonEquals(value, *back.value));
  }));
}

TEST(CanonicalJsonTest, EveryDoubleReadsBackBitForBit) {
  UseSeed();
  EXPECT_TRUE(rc::check("double(canonical(x)) is x", [] {
    const double number = AnyFiniteDouble();
    std::string form;
    AppendJsonNumber(number, form);
    const JsonParse back = ParseJson(form);
    RC_ASSERT(back.ok());
    // Whole numbers come back as integers; the double nearest to them is the same.
    const double read = back.value->is_int64()    ? static_cast<double>(back.value->get_int64())
                        : back.value->is_uint64() ? static_cast<double>(back.value->get_uint64())
                                                  : back.value->as_double();
    RC_ASSERT(read == number);
  }));
}

TEST(CanonicalJsonTest, OneChangedDigitIsNotEqual) {
  UseSeed();
  EXPECT_TRUE(rc::check("neighbouring integers differ", [] {
    const auto number = *rc::gen::inRange<std::int64_t>(INT64_MIN, INT64_MAX - 1);
    RC_ASSERT(!JsonEquals(JsonValue(number), JsonValue(number + 1)));
  }));
}

}  // namespace
}  // namespace api
