#include "engine/base/checksum.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

// From xxHash's own sanity table: XXH3 with seed 0 of nothing.
TEST(ChecksumTest, OfNothingIsTheGoldenValue) {
  EXPECT_EQ(Checksum64(""), 0x2D06800538D394C2U);
}

TEST(ChecksumTest, EveryBitCounts) {
  const std::string bytes(100, 'x');
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(Checksum64(flipped), Checksum64(bytes)) << "bit " << bit;
  }
}

}  // namespace
}  // namespace engine
