#include "engine/file_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace engine {
namespace {

using support::StatusIs;
using testing::HasSubstr;

constexpr FileFormat kFormat{.magic = "HALOTEST", .version = 7, .name = "the file"};

std::string Example() {
  std::string bytes = FileHead(kFormat, 3) + "body";
  AppendChecksum(bytes);
  return bytes;
}

TEST(FileHeadTest, WhatWasWrittenIsRead) {
  const std::string bytes = Example();
  EXPECT_EQ(bytes.substr(0, kFileHeadBytes), std::string("HALOTEST\7\0\0\0\3\0\0\0", 16));
  EXPECT_OK(CheckMagic(kFormat, bytes));
  EXPECT_TRUE(EndsWithChecksum(bytes));
  EXPECT_OK(CheckVersion(kFormat, bytes));
  EXPECT_EQ(FileCount(bytes), 3U);
  EXPECT_EQ(FileBody(bytes), "body");
}

TEST(FileHeadTest, DamageAndAnotherVersionAreTold) {
  std::string bytes = Example();
  EXPECT_THAT(CheckMagic(kFormat, bytes.substr(0, kFileHeadBytes + kFileChecksumBytes - 1)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the file is damaged")));
  bytes[8] = 8;
  EXPECT_FALSE(EndsWithChecksum(bytes));
  EXPECT_THAT(CheckVersion(kFormat, bytes),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("the file is of format version 8; this program reads version 7")));
  bytes[0] = 'X';
  EXPECT_THAT(CheckMagic(kFormat, bytes),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("does not start with HALOTEST")));
}

}  // namespace
}  // namespace engine
