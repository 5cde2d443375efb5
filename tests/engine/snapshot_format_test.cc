#include "engine/snapshot_format.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/disk.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"

namespace engine {
namespace {

using support::StatusIs;
using testing::ElementsAre;

constexpr StreamId kOne{2};
constexpr StreamId kTwo{3};

SnapshotHeader Header() {
  return {
      .tx = Tx{9},
      .streams = {
          {.cursor = {kOne, Position{4}, Digest{0x1111111111111111}},
           .tx = Tx{9},
           .at = {1'780'000'000'000'000},
           .fold_version = 1,
           .state_digest = 0x2222222222222222},
          {.cursor = {kTwo, {}, {}}, .tx = {}, .at = {}, .fold_version = 1, .state_digest = 0}}};
}

std::string Example() {
  SnapshotEncoder encoder;
  std::string bytes = encoder.Header(Header());
  bytes += encoder.Add(kOne, "ab");
  bytes += encoder.Add(kOne, "");
  return bytes + encoder.Finish();
}

// What a reader makes of `bytes`: the parts by stream, or why not.
class SnapshotFormatTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make()); }

  absl::StatusOr<std::vector<std::string>> Read(const std::string& bytes) {
    const Fd directory(open(directory_->path().c_str(), O_RDONLY | O_DIRECTORY));
    SystemDisk().Remove(directory.get(), "file");
    const Fd file(SystemDisk().Create(directory.get(), "file"));
    EXPECT_OK(WriteAll(SystemDisk(), file.get(), bytes, 0));
    auto reader = SnapshotReader::Open(file.get());
    if (!reader.ok()) {
      return reader.status();
    }
    EXPECT_EQ(reader->header().streams, Header().streams);
    EXPECT_EQ(reader->header().tx, Tx{9});
    std::vector<std::string> parts;
    for (const SavedStream& stream : reader->header().streams) {
      const absl::Status read =
          reader->ReadStream(stream.cursor.stream, [&](std::string_view part) {
            parts.push_back(std::to_string(Raw(stream.cursor.stream)) + std::string(part));
            return absl::OkStatus();
          });
      if (!read.ok()) {
        return read;
      }
    }
    const absl::Status finished = reader->Finish();
    return finished.ok() ? absl::StatusOr<std::vector<std::string>>(parts) : finished;
  }

  std::unique_ptr<support::PrivateDirectory> directory_;
};

// The example of docs/formats/snapshot.md.
TEST_F(SnapshotFormatTest, TheBytesAreThoseOfTheDocument) {
  EXPECT_EQ(ToHex(Example()),
            "48414c4f534e4150010000000200000009000000000000000200000001000000"
            "0400000000000000111111111111111109000000000000000040b38be6520600"
            "2222222222222222030000000100000000000000000000000000000000000000"
            "0000000000000000000000000000000000000000000000005c910515f6191533"
            "02000000020000000a000000020000006162000000007f50e48eff02dd200000"
            "000000000000000000004d26146cd9e2c88e");
}

TEST_F(SnapshotFormatTest, WhatWasSavedIsRead) {
  ASSERT_OK_AND_ASSIGN(const auto parts, Read(Example()));
  EXPECT_THAT(parts, ElementsAre("2ab", "2"));
}

TEST_F(SnapshotFormatTest, LongStatesAreReadBlockByBlock) {
  SnapshotEncoder encoder;
  std::string bytes = encoder.Header(Header());
  std::vector<std::string> expected;
  for (int i = 0; i < 5; ++i) {
    const std::string part(std::size_t{700} << 10, static_cast<char>('a' + i));
    bytes += encoder.Add(i < 3 ? kOne : kTwo, part);
    expected.push_back((i < 3 ? "2" : "3") + part);
  }
  bytes += encoder.Finish();
  ASSERT_OK_AND_ASSIGN(const auto parts, Read(bytes));
  EXPECT_TRUE(parts == expected);
}

TEST_F(SnapshotFormatTest, EveryFlippedBitIsRefused) {
  const std::string example = Example();
  for (std::size_t bit = 0; bit < example.size() * 8; ++bit) {
    std::string bytes = example;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(Read(bytes).ok()) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST_F(SnapshotFormatTest, EveryCutAndEveryTailIsRefused) {
  const std::string example = Example();
  for (std::size_t size = 0; size < example.size(); ++size) {
    EXPECT_THAT(Read(example.substr(0, size)), StatusIs(absl::StatusCode::kDataLoss)) << size;
  }
  EXPECT_THAT(Read(example + "x"), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(SnapshotFormatTest, BlocksCannotBeSwappedOrLeftOut) {
  SnapshotEncoder encoder;
  const std::string header = encoder.Header(Header());
  encoder.Add(kOne, "first");
  const std::string first = encoder.Add(kTwo, "second");
  const std::string rest = encoder.Finish();
  EXPECT_OK(Read(header + first + rest));
  EXPECT_THAT(Read(header + rest), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Read(header + first + first + rest), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace engine
