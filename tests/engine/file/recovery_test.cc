// What is read back from damaged files: a torn last frame is repaired, all else is refused with
// its place.

#include "engine/file/recovery.h"

#include <filesystem>
#include <set>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/file/head_file.h"
#include "tests/conformance/conformance.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/logs.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

using conformance::kEvents;
using support::StatusIs;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kFirst[] = "journal-0000000000000001";

// Five transactions in one segment: `early_` as it was after the second, `files_` after all, with
// the head mark that the last Close wrote.
class RecoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    {
      const auto engine = data_.Open();
      AppendEvent(*engine, "one");
      AppendEvent(*engine, "two");
    }
    early_ = data_.ReadAll();
    {
      const auto engine = data_.Open();
      for (const char* payload : {"three", "four", "five"}) {
        AppendEvent(*engine, payload);
      }
    }
    files_ = data_.ReadAll();
    offsets_ = FrameOffsets(segment());
    ASSERT_EQ(offsets_.size(), 6U);
  }

  std::string& segment() { return files_[kFirst]; }
  // As if the process had been killed before it wrote a head mark for the last three.
  void MarkLagsBehind() { files_["head"] = early_["head"]; }

  // Reads without changing anything.
  absl::StatusOr<Contents> Read() {
    data_.WriteAll(files_);
    auto directory = Directory::OpenForReading(data_.path());
    EXPECT_OK(directory);
    const auto mark = ReadHeadMark(*directory);
    EXPECT_OK(mark);
    return ReadContents(*directory, conformance::Streams(), *mark, Floors());
  }

  // Opens for writing; the payloads that are there then, or why not.
  absl::StatusOr<std::vector<std::string>> Recover() {
    data_.WriteAll(files_);
    auto engine = file::Open(conformance::Streams(), data_.options());
    if (!engine.ok()) {
      return engine.status();
    }
    return AllPayloads(**engine);
  }

  testing::Matcher<const absl::StatusOr<Contents>&> DamageAt(std::uint64_t offset) {
    return StatusIs(absl::StatusCode::kDataLoss,
                    HasSubstr(absl::StrFormat("%s at byte %d: ", kFirst, offset)));
  }

  DataDirectory data_;
  Files early_;
  Files files_;
  std::vector<std::uint64_t> offsets_;
};

TEST_F(RecoveryTest, WhatIsWholeIsReadWhole) {
  ASSERT_OK_AND_ASSIGN(const Contents contents, Read());
  EXPECT_EQ(contents.end.tx, Tx{5});
  EXPECT_EQ(contents.end.offset, segment().size());
  EXPECT_EQ(contents.torn_bytes, 0U);
  ASSERT_OK_AND_ASSIGN(const auto payloads, Recover());
  EXPECT_THAT(payloads, ElementsAre("one", "two", "three", "four", "five"));
}

TEST_F(RecoveryTest, EveryTruncationOfTheLastThreeFramesKeepsTheWholeOnes) {
  MarkLagsBehind();
  const std::string whole = segment();
  for (std::uint64_t size = offsets_[2]; size <= whole.size(); ++size) {
    segment() = whole.substr(0, size);
    ASSERT_OK_AND_ASSIGN(const Contents contents, Read());
    std::uint64_t kept = 2;
    while (kept + 1 < offsets_.size() && offsets_[kept + 1] <= size) {
      ++kept;
    }
    EXPECT_EQ(contents.end.tx, Tx{kept}) << size;
    EXPECT_EQ(contents.end.offset, offsets_[kept]) << size;
    EXPECT_EQ(contents.torn_bytes, size - offsets_[kept]) << size;
  }
}

TEST_F(RecoveryTest, ATornFrameIsCutOffOnceAndLogged) {
  MarkLagsBehind();
  const std::string whole = segment();
  for (const std::uint64_t cut : {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{40}}) {
    segment() = whole.substr(0, whole.size() - cut);
    ASSERT_OK_AND_ASSIGN(const auto payloads, Recover());
    EXPECT_THAT(payloads, ElementsAre("one", "two", "three", "four"));
    EXPECT_THAT(support::LogLines(),
                testing::Contains(HasSubstr(absl::StrFormat(
                    "\"offset\":%d,\"bytes\":%d", offsets_[4], whole.size() - cut - offsets_[4]))));
    EXPECT_EQ(data_.ReadAll()[kFirst], whole.substr(0, offsets_[4]));
  }
  const auto engine = data_.Open();
  EXPECT_EQ(AppendEvent(*engine, "five again").tx, Tx{5});
}

TEST_F(RecoveryTest, EveryFlippedBitOfTheLastFrameTearsIt) {
  MarkLagsBehind();
  const std::string whole = segment();
  for (std::uint64_t bit = offsets_[4] * 8; bit < whole.size() * 8; ++bit) {
    segment() = whole;
    segment()[bit / 8] = static_cast<char>(segment()[bit / 8] ^ (1 << bit % 8));
    const auto contents = Read();
    ASSERT_OK(contents) << "bit " << bit;
    ASSERT_EQ(contents->end.tx, Tx{4}) << "bit " << bit;
    ASSERT_EQ(contents->torn_bytes, whole.size() - offsets_[4]) << "bit " << bit;
  }
}

TEST_F(RecoveryTest, EveryFlippedBitBeforeTheLastFrameIsRefusedWithItsPlace) {
  MarkLagsBehind();
  const std::string whole = segment();
  for (std::size_t frame = 2; frame < 4; ++frame) {
    for (std::uint64_t bit = offsets_[frame] * 8; bit < offsets_[frame + 1] * 8; ++bit) {
      segment() = whole;
      segment()[bit / 8] = static_cast<char>(segment()[bit / 8] ^ (1 << bit % 8));
      ASSERT_THAT(Read(), DamageAt(offsets_[frame])) << "bit " << bit;
    }
  }
}

TEST_F(RecoveryTest, EveryFlippedBitBehindTheHeadMarkIsRefused) {
  const std::string whole = segment();
  for (std::uint64_t bit = offsets_[4] * 8; bit < whole.size() * 8; ++bit) {
    segment() = whole;
    segment()[bit / 8] = static_cast<char>(segment()[bit / 8] ^ (1 << bit % 8));
    ASSERT_THAT(Read(), DamageAt(offsets_[4])) << "bit " << bit;
  }
}

TEST_F(RecoveryTest, AcknowledgedFramesThatAreGoneAreMissed) {
  segment().resize(offsets_[4]);  // At the boundary of a frame: nothing is torn.
  EXPECT_THAT(Read(), DamageAt(offsets_[4]));
  EXPECT_THAT(Recover(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("tx 5")));
}

TEST_F(RecoveryTest, EveryFlippedBitOfTheHeaderIsRefused) {
  const std::string whole = segment();
  for (std::uint64_t bit = 0; bit < kSegmentHeaderBytes * 8; ++bit) {
    segment() = whole;
    segment()[bit / 8] = static_cast<char>(segment()[bit / 8] ^ (1 << bit % 8));
    ASSERT_THAT(Read(), DamageAt(0)) << "bit " << bit;
  }
}

TEST_F(RecoveryTest, TailsOfGarbageZerosAndOldFramesAreCutOff) {
  support::SeededRandom random;
  std::string garbage(1000, '\0');
  random.Fill(garbage.data(), garbage.size());
  const std::string whole = segment();
  const std::string old = whole.substr(offsets_[1], offsets_[3] - offsets_[1]);
  for (const std::string& tail : {garbage, std::string(5000, '\0'), old, old + garbage}) {
    segment() = whole + tail;
    ASSERT_OK_AND_ASSIGN(const Contents contents, Read());
    EXPECT_EQ(contents.torn_bytes, tail.size());
    ASSERT_OK_AND_ASSIGN(const auto payloads, Recover());
    EXPECT_EQ(payloads.size(), 5U);
    EXPECT_EQ(data_.ReadAll()[kFirst], whole);
  }
}

TEST_F(RecoveryTest, ATailLongerThanAnyFrameIsDamage) {
  const std::uint64_t end = segment().size();
  segment() += std::string(kMaxFrameBytes + 1, '\0');
  EXPECT_THAT(Read(), DamageAt(end));
}

// A client can have any bytes stored, a frame of a tx that is yet to come included; what it cannot
// know is the segment's marker.
TEST_F(RecoveryTest, AFrameInsideATornPayloadIsNoFrame) {
  const Record row =
      ToRecord(*DecodeRow(std::string_view(segment()).substr(offsets_[4] + kFrameHeaderBytes)));
  SegmentHeader guessed = *DecodeSegmentHeader(segment());
  guessed.marker ^= 1;
  const std::string frame = EncodeFrame(guessed, Tx{100}, FrameDigest{1}, {{&row, 1}, {}}).bytes;
  {
    data_.WriteAll(files_);
    const auto engine = data_.Open();
    AppendEvent(*engine, frame);
  }
  const std::string head = files_["head"];
  files_ = data_.ReadAll();
  files_["head"] = head;
  segment().pop_back();
  ASSERT_OK_AND_ASSIGN(const Contents contents, Read());
  EXPECT_EQ(contents.end.tx, Tx{5});
}

// A frame of another history with a right checksum, in the place of the fourth: the fifth tells.
TEST_F(RecoveryTest, AFrameOfAnotherHistoryIsRefused) {
  std::string& bytes = segment();
  Record row;
  {
    const std::string_view fourth = std::string_view(bytes).substr(offsets_[3]);
    const auto decoded = DecodeRow(fourth.substr(kFrameHeaderBytes));
    ASSERT_TRUE(decoded.has_value());
    row = ToRecord(*decoded);
  }
  // Another stream, so that only the frames' chain can tell.
  row.stream = conformance::kThings;
  row.position = Position{1};
  row.key = "k";
  row.checksum = RowChecksum(row);
  row.digest = ChainDigest(Digest::kEmpty, row.checksum);
  const SegmentHeader header = *DecodeSegmentHeader(bytes);
  const FrameDigest third{ReadU64(std::string_view(bytes).substr(offsets_[3] - 8))};
  // And the fifth made to fit as a row of its stream.
  Record last =
      ToRecord(*DecodeRow(std::string_view(bytes).substr(offsets_[4] + kFrameHeaderBytes)));
  const Record before =
      ToRecord(*DecodeRow(std::string_view(bytes).substr(offsets_[2] + kFrameHeaderBytes)));
  last.position = Next(before.position);
  last.checksum = RowChecksum(last);
  last.digest = ChainDigest(before.digest, last.checksum);
  const FrameDigest real_fourth{ReadU64(std::string_view(bytes).substr(offsets_[4] - 8))};
  const std::string spliced = EncodeFrame(header, Tx{4}, third, {{&row, 1}, {}}).bytes;
  bytes = bytes.substr(0, offsets_[3]) + spliced +
          EncodeFrame(header, Tx{5}, real_fourth, {{&last, 1}, {}}).bytes;
  MarkLagsBehind();
  EXPECT_THAT(Read(), DamageAt(offsets_[3] + spliced.size()));
}

TEST_F(RecoveryTest, OneHeadSlotIsEnoughAndNoneIsRefused) {
  std::string& head = files_["head"];
  ASSERT_GT(head.size(), kHeadSlotOffsets[1]);
  const std::string whole = head;
  for (const std::uint64_t offset : kHeadSlotOffsets) {
    head = whole;
    head[offset + 20] ^= 1;
    EXPECT_OK(Recover());
  }
  head = whole;
  head[kHeadSlotOffsets[0]] ^= 1;
  head[kHeadSlotOffsets[1]] ^= 1;
  EXPECT_THAT(Recover(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("head at byte 0")));
}

TEST_F(RecoveryTest, MissingFilesAreRefused) {
  const Files whole = files_;
  for (const char* name : {"head", "streams", kFirst}) {
    files_ = whole;
    files_.erase(name);
    EXPECT_THAT(Recover(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(" at byte "))) << name;
  }
}

TEST_F(RecoveryTest, EveryFlippedBitOfTheListOfStreamsIsRefused) {
  std::string& streams = files_["streams"];
  const std::string whole = streams;
  data_.WriteAll(files_);
  for (std::uint64_t bit = 0; bit < whole.size() * 8; ++bit) {
    streams = whole;
    streams[bit / 8] = static_cast<char>(streams[bit / 8] ^ (1 << bit % 8));
    ASSERT_THAT(DecodeStreams(streams), StatusIs(absl::StatusCode::kDataLoss)) << "bit " << bit;
  }
  EXPECT_THAT(Recover(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("streams at byte 0")));
}

TEST_F(RecoveryTest, AnotherVersionIsRefusedByItsNumber) {
  std::string header = segment().substr(0, kSegmentHeaderBytes - 8);
  header[8] = 3;
  AppendU64(Checksum64(header), header);
  segment().replace(0, kSegmentHeaderBytes, header);
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               AllOf(HasSubstr(kFirst), HasSubstr("format version 3"))));
}

// Several segments: what can become of files as such.
class SegmentsTest : public testing::Test {
 protected:
  void SetUp() override {
    Options options = data_.options();
    options.segment_bytes = 4096;
    const auto engine = data_.Open(options);
    for (int i = 0; i < 8; ++i) {
      AppendEvent(*engine, std::string(1500, static_cast<char>('a' + i)));
    }
  }

  // The names of the segments, and everything, after a clean end.
  Files Whole() {
    Files files = data_.ReadAll();
    for (const auto& [name, bytes] : files) {
      if (name.starts_with("journal-")) {
        names_.push_back(name);
      }
    }
    EXPECT_EQ(names_.size(), 4U);
    return files;
  }

  absl::Status Reopen(const Files& files) {
    data_.WriteAll(files);
    return file::Open(conformance::Streams(), data_.options()).status();
  }

  DataDirectory data_;
  std::vector<std::string> names_;
};

TEST_F(SegmentsTest, MissingOnesAreRefused) {
  const Files whole = Whole();
  for (const std::string& name : names_) {
    Files files = whole;
    files.erase(name);
    EXPECT_THAT(Reopen(files), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(" at byte ")))
        << name;
  }
}

TEST_F(SegmentsTest, RenamedDuplicatedAndSwappedOnesAreRefused) {
  const Files whole = Whole();
  Files renamed = whole;
  renamed["journal-0000000000000009"] = renamed[names_[3]];
  EXPECT_THAT(Reopen(renamed), StatusIs(absl::StatusCode::kDataLoss,
                                        HasSubstr("journal-0000000000000009 at byte 24")));
  renamed.erase(names_[3]);
  EXPECT_THAT(Reopen(renamed), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("renamed")));

  Files swapped = whole;
  std::swap(swapped[names_[1]], swapped[names_[2]]);
  EXPECT_THAT(Reopen(swapped), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("renamed")));
}

TEST_F(SegmentsTest, EmptyAndShortOnesAreRefused) {
  const Files whole = Whole();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{20}, kSegmentHeaderBytes, whole.at(names_[i]).size() - 1}) {
      Files files = whole;
      files[names_[i]].resize(size);
      EXPECT_THAT(Reopen(files), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(" at byte ")))
          << names_[i] << " cut to " << size;
    }
  }
}

// A whole segment is never torn, even when its last frame is damaged and no mark covers it.
TEST_F(SegmentsTest, OnlyTheLastSegmentCanBeTorn) {
  Files files = Whole();
  files.erase(names_[3]);
  std::string& last = files[names_[2]];
  const std::uint64_t torn_at = FrameOffsets(last)[1];
  const SegmentHeader header = *DecodeSegmentHeader(last);
  // No mark: the journal as it would be had none ever been written.
  files["head"] =
      EncodeHeadMark({.segment = Tx{1}, .offset = kSegmentHeaderBytes, .tx = {}, .digest = {}});
  last.pop_back();
  Files followed = files;
  followed[SegmentName(Tx{Raw(header.first_tx) + 2})] = EncodeSegmentHeader(
      {.marker = 7, .first_tx = Tx{Raw(header.first_tx) + 2}, .previous = FrameDigest{1}});
  EXPECT_THAT(Reopen(followed),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr(absl::StrFormat("%s at byte %d: ", names_[2], torn_at))));
  EXPECT_OK(Reopen(files));
}

TEST_F(SegmentsTest, ANewSegmentWithoutFramesIsFine) {
  Files files = Whole();
  const SegmentHeader header = *DecodeSegmentHeader(files[names_[3]]);
  files[names_[3]].resize(kSegmentHeaderBytes);
  const std::string& before = files[names_[2]];
  // The mark that the switch of segments leaves.
  files["head"] = EncodeHeadMark(
      {.segment = DecodeSegmentHeader(before)->first_tx,
       .offset = before.size(),
       .tx = Tx{Raw(header.first_tx) - 1},
       .digest = FrameDigest{ReadU64(std::string_view(before).substr(before.size() - 8))}});
  data_.WriteAll(files);
  const auto engine = data_.Open();
  EXPECT_EQ(AppendEvent(*engine, "goes on").tx, header.first_tx);
}

TEST_F(SegmentsTest, ForeignFilesAreLeftAloneUnlessTheyPassForOurs) {
  Files files = Whole();
  files["notes.txt"] = "mine";
  files["state.tmp"] = "mine too";
  files["journal-0000000000000009.tmp"] = "left over";
  EXPECT_OK(Reopen(files));
  const Files after = data_.ReadAll();
  EXPECT_TRUE(after.contains("notes.txt"));
  EXPECT_TRUE(after.contains("state.tmp"));
  EXPECT_FALSE(after.contains("journal-0000000000000009.tmp"));
  for (const char* name : {"journal-1", "journal-000000000000000G", "journal-000000000000000A"}) {
    files["x"] = "";
    Files odd = files;
    odd[name] = "";
    EXPECT_THAT(Reopen(odd), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(name)));
  }
}

}  // namespace
}  // namespace engine::file
