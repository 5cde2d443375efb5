#include "engine/file/floors.h"

#include <gmock/gmock.h>

#include "engine/base/bytes.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

using support::StatusIs;
using testing::ElementsAre;

constexpr StreamId kOne{3};
constexpr StreamId kTwo{7};

std::vector<Position> At(std::initializer_list<std::uint64_t> positions) {
  std::vector<Position> result;
  for (const std::uint64_t position : positions) {
    result.push_back(Position{position});
  }
  return result;
}

Floors Example() {
  const Floor floor{Position{5}, Digest{0x1111111111111111}, 2, 0x2222222222222222};
  return Floors().Raised(kOne, floor, At({1, 2, 4}));
}

// The example of docs/formats/floors.md.
TEST(FloorsTest, TheBytesAreThoseOfTheDocument) {
  EXPECT_EQ(ToHex(Example().Encode()),
            "48414c4f464c52530100000001000000030000000000000005000000000000001111111111111111"
            "020000000000000022222222222222220300000000000000010102848ea979a4bb8d36");
}

TEST(FloorsTest, WhatWasWrittenIsRead) {
  Floors floors = Example();
  floors = floors.Raised(kTwo, {Position{1'000'000'000'000}, Digest{1}, 9, 8},
                         At({5, 300, 70'000, 999'999'999'999}));
  floors = floors.Raised(kOne, {Position{9}, Digest{3}, 1, 4}, At({3, 6}));
  ASSERT_OK_AND_ASSIGN(const Floors read, Floors::Decode(floors.Encode()));
  EXPECT_EQ(read, floors);
  EXPECT_EQ(read.Of(kOne), (Floor{Position{9}, Digest{3}, 1, 4}));
  EXPECT_EQ(read.streams()[0].dead, At({1, 2, 3, 4, 6}));
  EXPECT_EQ(read.Of(StreamId{1}), Floor());
  EXPECT_TRUE(read.IsDead(kOne, Position{6}));
  EXPECT_FALSE(read.IsDead(kOne, Position{5}));
  EXPECT_FALSE(read.IsDead(StreamId{1}, Position{1}));
}

TEST(FloorsTest, WhatIsInNoSegmentAnyMoreIsForgotten) {
  const Floors left = Example().Without({{.stream = kOne, .floor = {}, .dead = At({2, 3})},
                                         {.stream = kTwo, .floor = {}, .dead = At({1})}});
  EXPECT_EQ(left.streams()[0].dead, At({1, 4}));
  EXPECT_EQ(left.Of(kOne), Example().Of(kOne));
}

TEST(FloorsTest, EveryFlippedBitIsRefused) {
  const std::string good = Example().Encode();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(Floors::Decode(bytes).ok()) << "bit " << bit;
  }
}

TEST(FloorsTest, EveryCutIsRefused) {
  const std::string good = Example().Encode();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(Floors::Decode(good.substr(0, size)), StatusIs(absl::StatusCode::kDataLoss));
  }
}

}  // namespace
}  // namespace engine::file
