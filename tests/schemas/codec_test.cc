#include "schemas/codec.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/journal.h"
#include "schemas/killswitch_generated.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace schemas {
namespace {

using engine::Payload;
using support::StatusIs;
using testing::HasSubstr;

std::string KillBytes(std::string_view name, std::string_view by,
                      Skippable skippable = Skippable::kNo) {
  flatbuffers::FlatBufferBuilder body;
  const auto name_offset = body.CreateString(name);
  const auto by_offset = body.CreateString(by);
  return Encode(body, CreateKill(body, name_offset, KillState::kKilled, by_offset), skippable);
}

std::string BodyOfUnknownType(Skippable skippable) {
  return EncodeBody(Tag{4711}, "what a later binary wrote", skippable);
}

std::string_view View(const flatbuffers::FlatBufferBuilder& finished) {
  return {reinterpret_cast<const char*>(finished.GetBufferPointer()), finished.GetSize()};
}

TEST(CodecTest, DecodeGivesWhatWasEncoded) {
  const Payload payload(KillBytes("checkout-v2", "ops@example.com", Skippable::kYes));
  ASSERT_OK_AND_ASSIGN(const RecordView record, Decode(payload));
  EXPECT_EQ(record.tag(), Tag::kKill);
  EXPECT_TRUE(record.skippable());
  EXPECT_TRUE(record.known());
  const Kill* kill = record.As<Kill>();
  ASSERT_NE(kill, nullptr);
  EXPECT_EQ(Text(kill->name()), "checkout-v2");
  EXPECT_EQ(Text(kill->by()), "ops@example.com");
  EXPECT_EQ(kill->state(), KillState::kKilled);
  EXPECT_EQ(Text(kill->reason()), "");
}

TEST(CodecTest, RecordBytesAreGolden) {
  // The bytes are stored and hashed: another layout would be another history.
  EXPECT_EQ(engine::ToHex(KillBytes("a", "b")),
            "1800000048414c4f0000000000000a000c000600000008000a00000000000100"
            "04000000300000001000000000000a001000080007000c000a00000000000001"
            "100000000400000001000000620000000100000061000000");
}

TEST(CodecTest, BodyIsAlignedForEverySize) {
  for (std::size_t size = 0; size < 64; ++size) {
    const Payload payload(KillBytes(std::string(size, 'n'), std::string(size / 3, 'b')));
    ASSERT_OK_AND_ASSIGN(const RecordView record, Decode(payload));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(record.body().data()) % 8, 0U);
  }
}

TEST(CodecTest, UnknownTypeIsRefusedUnlessSkippable) {
  EXPECT_THAT(Decode(Payload(BodyOfUnknownType(Skippable::kNo))),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("4711")));
}

TEST(CodecTest, UnknownSkippableTypeIsCarried) {
  const Payload payload(BodyOfUnknownType(Skippable::kYes));
  ASSERT_OK_AND_ASSIGN(const RecordView record, Decode(payload));
  EXPECT_EQ(record.tag(), Tag{4711});
  EXPECT_FALSE(record.known());
  EXPECT_EQ(record.As<Kill>(), nullptr);
  EXPECT_EQ(record.body(), "what a later binary wrote");
}

TEST(CodecTest, EmptyPayloadIsRefused) {
  EXPECT_THAT(Decode(Payload()), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(CodecTest, PayloadOverTheLimitIsRefused) {
  EXPECT_THAT(Decode(Payload(std::string(engine::kMaxRecordBytes + 1, '\0'))),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(CodecTest, EveryTruncationIsRefused) {
  const std::string bytes = KillBytes("checkout-v2", "ops@example.com");
  // The last bytes, fewer than eight, only fill up.
  for (std::size_t size = 0; size + 8 <= bytes.size(); ++size) {
    EXPECT_THAT(Decode(Payload(std::string_view(bytes).substr(0, size))),
                StatusIs(absl::StatusCode::kDataLoss))
        << size;
  }
}

TEST(CodecTest, OtherFileIdentifierIsRefused) {
  std::string bytes = KillBytes("a", "b");
  bytes.replace(4, 4, "ELSE");
  EXPECT_THAT(Decode(Payload(bytes)), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("envelope")));
}

TEST(CodecTest, RecordWithoutTypeIsRefused) {
  flatbuffers::FlatBufferBuilder builder;
  const auto body = builder.CreateVector(std::vector<std::uint8_t>());
  FinishEnvelopeBuffer(builder, CreateEnvelope(builder, Tag::kInvalid, true, body));
  EXPECT_THAT(Decode(Payload(View(builder))),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no type")));
}

TEST(CodecTest, BodyWithoutRequiredFieldIsRefused) {
  flatbuffers::FlatBufferBuilder body;
  const auto name = body.CreateString("checkout-v2");
  const auto start = body.StartTable();
  body.AddOffset(Kill::VT_NAME, name);
  body.Finish(flatbuffers::Offset<Kill>(body.EndTable(start)));
  EXPECT_THAT(Decode(Payload(EncodeBody(Tag::kKill, View(body), Skippable::kNo))),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no valid kill")));
}

TEST(CodecTest, BodyThatIsNotAlignedIsRefused) {
  const Payload good(KillBytes("a", "b"));
  ASSERT_OK_AND_ASSIGN(const RecordView kept, Decode(good));
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceVectorAlignment(kept.body().size() + 4, 1, 8);
  const auto body = builder.CreateVector(reinterpret_cast<const std::uint8_t*>(kept.body().data()),
                                         kept.body().size());
  FinishEnvelopeBuffer(builder, CreateEnvelope(builder, Tag::kKill, false, body));
  EXPECT_THAT(Decode(Payload(View(builder))),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("aligned")));
}

TEST(CodecTest, DecodeAsRefusesAnotherType) {
  const Payload unknown(BodyOfUnknownType(Skippable::kYes));
  EXPECT_THAT(DecodeAs<Kill>(unknown), StatusIs(absl::StatusCode::kDataLoss));
  const Payload kill(KillBytes("a", "b"));
  ASSERT_OK_AND_ASSIGN(const Kill* table, DecodeAs<Kill>(kill));
  EXPECT_EQ(Text(table->name()), "a");
}

// Reads all there is to read, so that a sanitizer sees a stray pointer.
std::size_t Touch(const Payload& payload) {
  const absl::StatusOr<RecordView> record = Decode(payload);
  if (!record.ok() || record->As<Kill>() == nullptr) {
    return 0;
  }
  const Kill* kill = record->As<Kill>();
  return std::string(Text(kill->name())).size() + std::string(Text(kill->by())).size() +
         std::string(Text(kill->reason())).size();
}

TEST(CodecTest, FlippedBitsNeverCrash) {
  const std::string good = KillBytes("checkout-v2", "ops@example.com");
  std::size_t read = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    read = std::max(read, Touch(Payload(bytes)));
  }
  EXPECT_GT(read, 0U);  // Flips inside the texts decode.
}

TEST(CodecTest, RandomBytesNeverCrash) {
  support::SeededRandom random;
  const std::string good = KillBytes("checkout-v2", "ops@example.com");
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    if (i % 2 == 0) {
      bytes.resize(8 + random.Below(200));
      random.Fill(bytes.data() + 8, bytes.size() - 8);
      bytes.replace(4, 4, "HALO");
      bytes[0] = static_cast<char>(random.Below(64));
      bytes.replace(1, 3, std::string(3, '\0'));
    } else {
      for (std::uint64_t flips = 1 + random.Below(8); flips > 0; --flips) {
        bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
      }
    }
    EXPECT_LE(Touch(Payload(bytes)), 3 * bytes.size());
  }
}

}  // namespace
}  // namespace schemas
