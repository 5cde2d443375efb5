#include "engine/base/bytes.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(BytesTest, IntegersAreLittleEndian) {
  std::string bytes;
  AppendU16(0x0102, bytes);
  AppendU32(0x03040506, bytes);
  AppendU64(0x0708090A0B0C0D0E, bytes);
  EXPECT_EQ(ToHex(bytes), "0201060504030e0d0c0b0a090807");
  EXPECT_EQ(ReadU16(bytes), 0x0102);
  EXPECT_EQ(ReadU32(std::string_view(bytes).substr(2)), 0x03040506U);
  EXPECT_EQ(ReadU64(std::string_view(bytes).substr(6)), 0x0708090A0B0C0D0EU);
}

TEST(BytesTest, HexGoesBothWays) {
  EXPECT_EQ(ToHex(std::uint64_t{0xAB}), "00000000000000ab");
  EXPECT_EQ(FromHex("00fF"), std::string("\x00\xFF", 2));
  EXPECT_EQ(FromHex("0"), std::nullopt);
  EXPECT_EQ(FromHex("0g"), std::nullopt);
}

TEST(BytesTest, Utf8TakesWellFormedSequencesOnly) {
  for (const char* good :
       {"", "a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD"}) {
    EXPECT_TRUE(IsUtf8(good)) << ToHex(good);
  }
  for (const char* bad : {"\x80", "\xC0\xAF", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF5\x80\x80\x80", "\xF4\x90\x80\x80", "a\xFF"}) {
    EXPECT_FALSE(IsUtf8(bad)) << ToHex(bad);
  }
}

}  // namespace
}  // namespace engine
