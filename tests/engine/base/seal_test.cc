#include "engine/base/seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/bytes.h"

namespace engine {
namespace {

using testing::Optional;

const std::string kKey(Seal::kKeyBytes, 'k');

TEST(SealTest, OpensWhatItClosed) {
  const Seal seal(kKey);
  for (const std::string& text : {std::string(), std::string("a"), std::string(1000, '\0')}) {
    EXPECT_THAT(seal.Open("here", seal.Close("here", text)), Optional(text));
  }
}

TEST(SealTest, TheSameTextIsTheSameTokenForAllWhoShareTheKey) {
  EXPECT_EQ(Seal(kKey).Close("here", "text"), Seal(kKey).Close("here", "text"));
  EXPECT_NE(Seal(kKey).Close("here", "text"), Seal(kKey).Close("here", "texT"));
  EXPECT_NE(Seal(kKey).Close("here", "text"), Seal(kKey).Close("her", "etext"));
}

TEST(SealTest, ATokenShowsNothingOfItsText) {
  const std::string token = Seal(kKey).Close("here", std::string(64, 'A'));
  EXPECT_EQ(FromBase64Url(token)->find("AAA"), std::string::npos);
}

TEST(SealTest, EveryChangedBitIsRefused) {
  const Seal seal(kKey);
  const std::string sealed = *FromBase64Url(seal.Close("here", "text"));
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(seal.Open("here", ToBase64Url(changed)), std::nullopt) << bit;
  }
}

TEST(SealTest, AnotherKeyOrPurposeOpensNothing) {
  const std::string token = Seal(kKey).Close("here", "text");
  EXPECT_EQ(Seal(std::string(Seal::kKeyBytes, 'K')).Open("here", token), std::nullopt);
  EXPECT_EQ(Seal(kKey).Open("there", token), std::nullopt);
}

TEST(SealTest, WhatIsNoTokenIsRefused) {
  const Seal seal(kKey);
  const std::string token = seal.Close("here", "text");
  for (const std::string& text : {std::string(), std::string("17"), token + "A", token + "=",
                                  token.substr(1), token.substr(0, token.size() - 4)}) {
    EXPECT_EQ(seal.Open("here", text), std::nullopt) << text;
  }
}

TEST(Base64UrlTest, AsInTheStandard) {
  EXPECT_EQ(ToBase64Url(""), "");
  EXPECT_EQ(ToBase64Url("f"), "Zg");
  EXPECT_EQ(ToBase64Url("fo"), "Zm8");
  EXPECT_EQ(ToBase64Url("foo"), "Zm9v");
  EXPECT_EQ(ToBase64Url("\xFB\xFF"), "-_8");
  EXPECT_THAT(FromBase64Url("Zm9vYg"), Optional(std::string("foob")));
  EXPECT_EQ(FromBase64Url("Zh"), std::nullopt) << "its last bits are not zero";
  EXPECT_EQ(FromBase64Url("Z"), std::nullopt);
  EXPECT_EQ(FromBase64Url("Zg=="), std::nullopt);
  EXPECT_EQ(FromBase64Url("+/8"), std::nullopt);
}

}  // namespace
}  // namespace engine
