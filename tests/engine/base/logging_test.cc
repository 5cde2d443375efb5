#include "engine/base/logging.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out;
}

TEST(JsonStringTest, PlainTextIsTakenAsItIs) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("plain text ~ 0-9"), "\"plain text ~ 0-9\"");
  EXPECT_EQ(Quoted("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80 \x7F!"),
            "\"gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80 \x7F!\"");
}

TEST(JsonStringTest, WhatJsonCannotShowIsEscapedWhereverItStands) {
  EXPECT_EQ(Quoted("\""), R"("\"")");
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted(std::string_view("\n\x01 x\0y", 6)), R"("\u000a\u0001 x\u0000y")");
}

// Runs of plain characters are found eight at a time.
TEST(JsonStringTest, EveryByteIsShownTheSameWhereverItStands) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    const std::string shown = Quoted(one).substr(1, Quoted(one).size() - 2);
    for (std::size_t before = 0; before < 18; ++before) {
      const std::string head(before, 'a');
      const std::string tail(17 - before, 'z');
      EXPECT_EQ(Quoted(head + one + tail), "\"" + head + shown + tail + "\"") << byte;
    }
  }
}

TEST(JsonStringTest, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Quoted("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(Quoted("\xC3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(Quoted("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace engine
