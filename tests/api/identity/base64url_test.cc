#include "api/identity/base64url.h"

#include <gtest/gtest.h>

#include "tests/support/seeded_random.h"

namespace api {
namespace {

TEST(Base64UrlTest, BytesComeBack) {
  support::SeededRandom random;
  for (std::size_t size = 0; size < 100; ++size) {
    std::string bytes(size, '\0');
    random.Fill(bytes.data(), bytes.size());
    EXPECT_EQ(DecodeBase64Url(EncodeBase64Url(bytes)), bytes);
  }
  EXPECT_EQ(EncodeBase64Url("\xfb\xff"), "-_8");
}

TEST(Base64UrlTest, OneTextForEachSequenceOfBytes) {
  EXPECT_EQ(DecodeBase64Url("Zm9v"), "foo");
  EXPECT_EQ(DecodeBase64Url("Zg"), "f");
  // Bits at the end, padding, the other alphabet, a line break, half a byte.
  for (const char* bad : {"Zh", "Zg==", "+/8", "Zm9v\n", "Z", "Zm9vZ", "Zm 9v"}) {
    EXPECT_EQ(DecodeBase64Url(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace api
