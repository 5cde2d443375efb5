// The bytes on disk, to the byte: docs/formats shows what is checked here.

#include "engine/file/format.h"

#include <fstream>
#include <iterator>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/file/directory.h"
#include "engine/file/frame_reader.h"
#include "engine/file/sealed.h"
#include "engine/file/state_file.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

// The one of docs/formats: the first record of the keyed stream 3.
Record ExampleRow() {
  Record row;
  row.stream = StreamId{3};
  row.position = Position{1};
  row.tx = Tx{1};
  row.key = "node-7";
  row.at = *ParseTimestamp("2026-11-30T15:08:32.000125Z");
  row.payload = Payload("hello");
  row.checksum = RowChecksum(row);
  row.digest = ChainDigest(Digest::kEmpty, row.checksum);
  return row;
}

SegmentHeader ExampleHeader() {
  return {.marker = 0x1122334455667788, .first_tx = Tx{1}, .previous = FrameDigest::kNone};
}

// 16 bytes a line with the offset before them, as the documents have them.
std::string Dump(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    text += absl::StrFormat("%04x ", at);
    for (const char c : bytes.substr(at, 16)) {
      text += " " + ToHex(std::string_view(&c, 1));
    }
    text += "\n";
  }
  return text;
}

std::string Document(const std::string& name) {
  std::ifstream in(std::string(HALO_SOURCE_ROOT) + "/docs/formats/" + name);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(FormatTest, TheExamplesOfTheDocumentsAreTheBytesOnDisk) {
  const Record row = ExampleRow();
  const std::string segment = Document("segment.md");
  const std::string header = EncodeSegmentHeader(ExampleHeader());
  EXPECT_THAT(segment, testing::HasSubstr("```\n" + Dump(header) + "```\n"));
  const EncodedFrame frame =
      EncodeFrame(ExampleHeader(), Tx{1}, FrameDigest::kNone, {{&row, 1}, {}});
  EXPECT_THAT(segment, testing::HasSubstr("```\n" + Dump(frame.bytes) + "```\n"));
  const KeptAnswer answer{.key = std::string(32, '\x11'),
                          .request = std::string(32, '\x22'),
                          .answer = "201",
                          .tx = row.tx,
                          .at = row.at};
  const std::string answered =
      EncodeFrame(ExampleHeader(), Tx{1}, FrameDigest::kNone, {{&row, 1}, {&answer, 1}}).bytes;
  const std::size_t rows_end = frame.bytes.size() - kFrameTrailerBytes;
  EXPECT_THAT(segment,
              testing::HasSubstr(
                  "```\n" +
                  Dump(answered.substr(rows_end, answered.size() - kFrameTrailerBytes - rows_end)) +
                  "```\n"));
  const HeadMark mark{.segment = Tx{1},
                      .offset = header.size() + frame.bytes.size(),
                      .tx = Tx{1},
                      .digest = frame.digest};
  EXPECT_THAT(segment, testing::HasSubstr("```\n" + Dump(EncodeHeadMark(mark)) + "```\n"));
  const Catalogue streams = {{.id = StreamId{3}, .name = "resources", .keyed = true}};
  EXPECT_THAT(segment, testing::HasSubstr("```\n" + Dump(EncodeStreams(streams)) + "```\n"));
  SegmentFacts closed{.id = {.first = Tx{1}}, .marker = ExampleHeader().marker};
  closed.bytes = header.size() + frame.bytes.size();
  closed.last_tx = Tx{1};
  closed.digest = frame.digest;
  closed.Note(row.stream, row.position, row.tx, row.at, row.digest);
  EXPECT_THAT(segment, testing::HasSubstr("```\n" + Dump(EncodeSealed({&closed, 1})) + "```\n"));

  const std::string document = Document("row.md");
  EXPECT_THAT(document, testing::HasSubstr("```\n" + Dump(RowBytes(row)) + "```\n"));
  EXPECT_THAT(document, testing::HasSubstr("`" + ToHex(row.checksum) + "`"));
  EXPECT_THAT(document, testing::HasSubstr("`" + ToHex(Raw(row.digest)) + "`"));
}

// Two rows and the removal of one, as docs/formats/state.md shows them.
std::vector<StateChange> ExampleChanges() {
  const memory::RowKey lease{memory::Table::kLeases, "controller"};
  const memory::RowKey row{memory::Table::kKeyValue, "enroll/7"};
  const Timestamp then = *ParseTimestamp("2026-11-30T15:08:32.000125Z");
  return {{lease, memory::Row{.value = "h1", .number = 0x10000007b, .expires_at = then}},
          {row, memory::Row{.value = "v", .number = 0, .expires_at = std::nullopt}},
          {row, std::nullopt}};
}

TEST(FormatTest, TheExampleOfTheStateIsTheBytesOnDisk) {
  const std::string document = Document("state.md");
  const std::string header = EncodeSegmentHeader(ExampleHeader(), FrameType::kState);
  EXPECT_THAT(document, testing::HasSubstr("```\n" + Dump(header) + "```\n"));
  const EncodedFrame frame =
      EncodeStateFrame(ExampleHeader(), Tx{1}, FrameDigest::kNone, ExampleChanges());
  EXPECT_THAT(document, testing::HasSubstr("```\n" + Dump(frame.bytes) + "```\n"));
}

TEST(FormatTest, ChangesOfTheStateComeBackOrAreRefusedWhole) {
  const EncodedFrame frame =
      EncodeStateFrame(ExampleHeader(), Tx{1}, FrameDigest::kNone, ExampleChanges());
  ASSERT_OK_AND_ASSIGN(const Frame decoded,
                       DecodeFrame(ExampleHeader().marker, frame.bytes, FrameType::kState));
  EXPECT_EQ(decoded.rows, 3U);
  EXPECT_EQ(DecodeStateChanges(decoded.body, 3), ExampleChanges());
  EXPECT_EQ(DecodeStateChanges(decoded.body, 2), std::nullopt);
  EXPECT_EQ(DecodeStateChanges(decoded.body, 4), std::nullopt);
  for (std::size_t size = 0; size < decoded.body.size(); ++size) {
    EXPECT_EQ(DecodeStateChanges(decoded.body.substr(0, size), 3), std::nullopt) << size;
  }
  // A frame of one log is none of the other.
  EXPECT_FALSE(DecodeFrame(ExampleHeader().marker, frame.bytes).ok());
}

TEST(FormatTest, AnswersComeBackWholeOrNotAtAll) {
  const Record row = ExampleRow();
  const std::vector<KeptAnswer> answers = {
      {std::string(32, 'a'), std::string(32, 'b'), "first", row.tx, row.at},
      {std::string(32, 'c'), std::string(32, 'd'), "", row.tx, row.at}};
  const EncodedFrame encoded =
      EncodeFrame(ExampleHeader(), Tx{1}, FrameDigest::kNone, {{&row, 1}, answers});
  ASSERT_OK_AND_ASSIGN(const Frame frame, DecodeFrame(ExampleHeader().marker, encoded.bytes));
  const std::string_view bytes = frame.body.substr(RowSize(frame.body));
  EXPECT_EQ(DecodeAnswers(bytes, row.tx, row.at), answers);
  const std::size_t first = kAnswerFixedBytes + answers[0].answer.size();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    if (size != first) {
      EXPECT_EQ(DecodeAnswers(bytes.substr(0, size), row.tx, row.at), std::nullopt) << size;
    }
  }
}

TEST(FormatTest, ARowComesBackToTheByte) {
  const Record row = ExampleRow();
  const EncodedFrame frame = EncodeFrame(ExampleHeader(), Tx{1}, FrameDigest{9}, {{&row, 1}, {}});
  ASSERT_OK_AND_ASSIGN(const Frame decoded, DecodeFrame(ExampleHeader().marker, frame.bytes));
  EXPECT_EQ(decoded.previous, FrameDigest{9});
  EXPECT_EQ(decoded.digest, frame.digest);
  const auto view = DecodeRow(decoded.body);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->size(), decoded.body.size());
  EXPECT_EQ(frame.rows.front(), kFrameHeaderBytes);
  const Record read = ToRecord(*view);
  EXPECT_EQ(RowBytes(read), RowBytes(row));
  EXPECT_EQ(read.checksum, row.checksum);
  EXPECT_EQ(read.digest, row.digest);
}

TEST(FormatTest, EveryPrefixOfAFrameIsCutOff) {
  const Record row = ExampleRow();
  const std::string bytes =
      EncodeFrame(ExampleHeader(), Tx{1}, FrameDigest::kNone, {{&row, 1}, {}}).bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(DecodeFrame(ExampleHeader().marker, std::string_view(bytes).substr(0, size)),
                support::StatusIs(absl::StatusCode::kDataLoss, testing::HasSubstr("cut off")));
  }
}

TEST(FormatTest, AFrameOfAnUnknownTypeIsRefused) {
  const Record row = ExampleRow();
  std::string bytes =
      EncodeFrame(ExampleHeader(), Tx{1}, FrameDigest::kNone, {{&row, 1}, {}}).bytes;
  bytes.resize(bytes.size() - kFrameTrailerBytes);
  bytes[12] = 2;
  AppendU64(Checksum64(bytes), bytes);
  EXPECT_THAT(DecodeFrame(ExampleHeader().marker, bytes),
              support::StatusIs(absl::StatusCode::kDataLoss, testing::HasSubstr("type 2")));
}

TEST(FormatTest, TheListOfStreamsComesBack) {
  const Catalogue streams = {{.id = StreamId{1}, .name = "audit", .keyed = false, .chained = true},
                             {.id = StreamId{9}, .name = "things", .keyed = true}};
  ASSERT_OK_AND_ASSIGN(const Catalogue read, DecodeStreams(EncodeStreams(streams)));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name, "audit");
  EXPECT_TRUE(read[0].chained);
  EXPECT_EQ(read[1].id, StreamId{9});
  EXPECT_TRUE(read[1].keyed);
}

TEST(FrameReaderTest, FramesLargerAndSmallerThanItsReadsComeInOrder) {
  const DataDirectory data;
  {
    const auto engine = data.Open();
    for (int i = 0; i < 200; ++i) {
      AppendEvent(*engine, std::string(i % 20 == 0 ? kMaxRecordBytes : 10, 'x'));
    }
  }
  ASSERT_OK_AND_ASSIGN(const Directory directory, Directory::OpenForReading(data.path()));
  ASSERT_OK_AND_ASSIGN(const Fd file, directory.OpenFile(SegmentName(Tx{1}), false));
  ASSERT_OK_AND_ASSIGN(const std::uint64_t size, FileSize(file.get()));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, directory.ReadFile(SegmentName(Tx{1}), size));
  const SegmentHeader header = *DecodeSegmentHeader(bytes);
  const std::vector<std::uint64_t> offsets = FrameOffsets(bytes);
  FrameReader reader(file.get(), header.marker, kSegmentHeaderBytes, size);
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto frame, reader.Next());
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(frame->tx, Tx{i + 1});
    EXPECT_EQ(reader.offset(), offsets[i]);
  }
  ASSERT_OK_AND_ASSIGN(const auto end, reader.Next());
  EXPECT_FALSE(end.has_value());
}

}  // namespace
}  // namespace engine::file
