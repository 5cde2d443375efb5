#include "engine/audit_chain.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/sha256.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace engine {
namespace {

using support::StatusIs;
using testing::HasSubstr;

constexpr Timestamp kTime{1'796'051'312'000'125};  // 2026-11-30T15:08:32.000125Z
constexpr char kZeroHash[] = "0000000000000000000000000000000000000000000000000000000000000000";

// The expected hashes of this file were computed by other programs: openssl dgst, node:crypto and
// Python's hashlib.
constexpr char kFirst[] =
    R"({"seq":1,"time":"2026-11-30T15:08:32.000125Z","actor":"ops@example.com",)"
    R"("action":"experiment.kill","target":"checkout-v2","ip":"10.0.0.7","requestId":"req-1",)"
    R"("details":{"halo.records":"killswitch:1","reason":"errors \u003e 5%"},"prev":"","hash":""})";
constexpr char kFirstHash[] = "e990bc4abc93e553ad723f5ad362e6ab76b9dd7326972e1a10e20f20b77c5665";
constexpr char kSecond[] =
    R"({"seq":2,"time":"2026-11-30T15:09:00Z","actor":"system@hyperfleet.local",)"
    R"("action":"resource.create",)"
    R"("prev":"e990bc4abc93e553ad723f5ad362e6ab76b9dd7326972e1a10e20f20b77c5665","hash":""})";
constexpr char kSecondHash[] = "c99f8e914a3f97a5ae887633652d976ef3e9b235555226afcf67d8051fda4972";

AuditEntry FirstEntry() {
  return {.seq = Position{1},
          .time = kTime,
          .what = {.actor = "ops@example.com",
                   .action = "experiment.kill",
                   .target = "checkout-v2",
                   .ip = "10.0.0.7",
                   .request_id = "req-1",
                   .details = {{"reason", "errors > 5%"}, {"halo.records", "killswitch:1"}}},
          .prev = ""};
}

AuditEntry EntryWithActor(std::string actor) {
  return {.seq = Position{1}, .time = kTime, .what = {.actor = std::move(actor)}, .prev = ""};
}

// The canonical entry with one part of it replaced.
std::string With(std::string_view part, std::string_view replacement) {
  std::string payload = kFirst;
  const std::size_t at = payload.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return payload.replace(at, part.size(), replacement);
}

TEST(Sha256Test, AgreesWithThePublishedExamples) {
  EXPECT_EQ(ToHex(Sha256Of("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ToHex(Sha256Of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 in_parts;
  in_parts.Update("a");
  in_parts.Update("bc");
  EXPECT_EQ(in_parts.Finish(), Sha256Of("abc"));
}

TEST(AuditChainTest, EntryIsGolden) {
  EXPECT_EQ(EncodeAuditEntry(FirstEntry()), kFirst);
  EXPECT_EQ(AuditHash(kFirst), kFirstHash);
}

TEST(AuditChainTest, EmptyFieldsAreLeftOut) {
  const AuditEntry entry{.seq = Position{2},
                         .time = {1'796'051'340'000'000},
                         .what = {.actor = "system@hyperfleet.local", .action = "resource.create"},
                         .prev = kFirstHash};
  EXPECT_EQ(EncodeAuditEntry(entry), kSecond);
  EXPECT_EQ(AuditHash(kSecond), kSecondHash);
}

TEST(AuditChainTest, TextIsEscapedAsGoDoes) {
  const AuditEntry entry{
      .seq = Position{3},
      .time = {1'796'051'340'500'000},
      .what = {.actor =
                   std::string("a<b>&\"\\\n\r\t\b\f\0\x1f\u2028\u2029/\x7f\u00e9\U0001F600", 28),
               .action = "x",
               .details = {{"\xff", "\xc0\xaf"}}},
      .prev = kSecondHash};
  const std::string payload = EncodeAuditEntry(entry);
  EXPECT_THAT(payload, HasSubstr(R"("actor":"a\u003cb\u003e\u0026\"\\\n\r\t\b\f\u0000\u001f)"
                                 "\\u2028\\u2029/\x7f\u00e9\U0001F600\""));
  EXPECT_THAT(payload, HasSubstr("\"details\":{\"\uFFFD\":\"\uFFFD\uFFFD\"}"));
  EXPECT_EQ(AuditHash(payload), "f3c524c995c9b8de40fff7f79a2c1ff406ccee7e67eb4d5d356ef04ecf809f4c");
}

TEST(AuditChainTest, InvalidUtf8IsReplacedByteByByte) {
  // A surrogate, an overlong slash, a sequence cut short, a byte that starts none.
  for (const auto& [bytes, count] : std::vector<std::pair<std::string, int>>{
           {"\xED\xA0\x80", 3}, {"\xC0\xAF", 2}, {"\xE2\x82", 2}, {"\xFF", 1}}) {
    std::string expected = "<";
    for (int i = 0; i < count; ++i) {
      expected += "\uFFFD";
    }
    const std::string payload = EncodeAuditEntry(EntryWithActor("<" + bytes + ">"));
    ASSERT_OK_AND_ASSIGN(const AuditEntry back, DecodeAuditEntry(payload));
    EXPECT_EQ(back.what.actor, expected + ">");
  }
}

TEST(AuditChainTest, DetailsAreSortedByBytesAfterReplacing) {
  AuditEntry entry = FirstEntry();
  entry.what.details = {
      {"b", "2"}, {"a", "1"}, {"\xFE", "stays"}, {"\xFF", "goes"}, {"\U0001F600", "last"}};
  EXPECT_THAT(EncodeAuditEntry(entry),
              HasSubstr("{\"a\":\"1\",\"b\":\"2\",\"\uFFFD\":\"stays\",\"\U0001F600\":\"last\"}"));
}

TEST(AuditChainTest, DecodeIsTheInverse) {
  ASSERT_OK_AND_ASSIGN(const AuditEntry entry, DecodeAuditEntry(kFirst));
  EXPECT_EQ(entry.seq, Position{1});
  EXPECT_EQ(entry.time, kTime);
  EXPECT_EQ(entry.what.details.at("reason"), "errors > 5%");
  EXPECT_EQ(EncodeAuditEntry(entry), kFirst);
}

TEST(AuditChainTest, ImportedSpellingsAreAccepted) {
  ASSERT_OK_AND_ASSIGN(const AuditEntry old,
                       DecodeAuditEntry(With("ops@example.com", R"(a\u0008\u000cb\b\f)")));
  EXPECT_EQ(old.what.actor, "a\b\fb\b\f");
  ASSERT_OK_AND_ASSIGN(const AuditEntry nanos, DecodeAuditEntry(With(".000125Z", ".000125999Z")));
  EXPECT_EQ(nanos.time, kTime);
  ASSERT_OK_AND_ASSIGN(const AuditEntry tenth, DecodeAuditEntry(With(".000125Z", ".5Z")));
  EXPECT_EQ(tenth.time, Timestamp{1'796'051'312'500'000});
}

TEST(AuditChainTest, OtherSpellingsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> others = {
      {"\"seq\":1", "\"seq\":01"},
      {"\"seq\":1", "\"seq\":0"},
      {"\"seq\":1", "\"seq\":-1"},
      {"\"seq\":1", "\"seq\":1.0"},
      {"\"seq\":1", "\"seq\":18446744073709551617"},
      {"{\"seq\"", "{ \"seq\""},
      {".000125Z", ".0001250Z"},
      {".000125Z", ".0001251234Z"},
      {".000125Z", ".Z"},
      {".000125Z", ".000125+00:00"},
      {"15:08:32.000125Z", "15:08:60Z"},
      {"2026-11-30", "2026-02-30"},
      {"ops@example.com", "ops\\u0040example.com"},
      {"ops@example.com", "a\\/b"},
      {"ops@example.com", "a<b"},
      {"ops@example.com", "a\nb"},
      {"ops@example.com", "a\u2028b"},
      {"ops@example.com", "a\\u003Cb"},
      {"ops@example.com", "a\\u000ab"},
      {"ops@example.com",
       "a\xFF"
       "b"},
      {"ops@example.com", "a\\"},
      {"\"target\":\"checkout-v2\"", "\"target\":\"\""},
      {"\"ip\":\"10.0.0.7\",\"requestId\":\"req-1\"",
       "\"requestId\":\"req-1\",\"ip\":\"10.0.0.7\""},
      {"\"action\":\"experiment.kill\",", ""},
      {"\"halo.records\":\"killswitch:1\",", "\"z\":\"\","},
      {"\"halo.records\":\"killswitch:1\"", "\"reason\":\"killswitch:1\""},
      {R"({"halo.records":"killswitch:1","reason":"errors \u003e 5%"})", "{}"},
      {"\"prev\":\"\"", std::string("\"prev\":\"") + kZeroHash + "\""},
      {"\"hash\":\"\"", std::string("\"hash\":\"") + kFirstHash + "\""},
      {"\"hash\":\"\"}", "\"hash\":\"\"} "},
      {"\"hash\":\"\"}", "\"hash\":\"\""},
  };
  for (const auto& [part, replacement] : others) {
    EXPECT_THAT(DecodeAuditEntry(With(part, replacement)), StatusIs(absl::StatusCode::kDataLoss))
        << replacement;
  }
  EXPECT_THAT(DecodeAuditEntry(""), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(AuditChainTest, PrevOfALaterEntryIsAHash) {
  EXPECT_OK(DecodeAuditEntry(kSecond));
  AuditEntry entry = FirstEntry();
  entry.seq = Position{2};
  for (const std::string& prev : {std::string(), std::string(63, 'a'), std::string(64, 'A')}) {
    entry.prev = prev;
    EXPECT_THAT(DecodeAuditEntry(EncodeAuditEntry(entry)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("prev")));
  }
}

TEST(AuditChainTest, AcceptedBytesAreCanonical) {
  // Whatever is accepted is what encoding gives again: no two texts for one entry.
  support::SeededRandom random;
  int accepted = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = kFirst;
    for (std::uint64_t edits = 1 + random.Below(2); edits > 0; --edits) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    const absl::StatusOr<AuditEntry> entry = DecodeAuditEntry(bytes);
    if (entry.ok()) {
      ++accepted;
      EXPECT_EQ(EncodeAuditEntry(*entry), bytes);
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(AuditChainTest, RandomTextSurvives) {
  support::SeededRandom random;
  for (int i = 0; i < 2'000; ++i) {
    AuditEntry entry = FirstEntry();
    std::string text(random.Below(24), '\0');
    random.Fill(text.data(), text.size());
    entry.what.actor = text;
    entry.what.details[text] = text;
    const std::string payload = EncodeAuditEntry(entry);
    ASSERT_OK_AND_ASSIGN(const AuditEntry back, DecodeAuditEntry(payload));
    EXPECT_EQ(EncodeAuditEntry(back), payload);
    EXPECT_EQ(back.what.actor == text, IsUtf8(text));
  }
}

Catalogue TestCatalogue() {
  return {{.id = StreamId{2}, .name = "killswitch"}, {.id = StreamId{3}, .name = "resources"}};
}

Record Row(StreamId stream, std::uint64_t position, std::string key, std::uint64_t previous,
           std::uint16_t flags, std::string_view payload) {
  return {.stream = stream,
          .position = Position{position},
          .tx = Tx{9},
          .key = std::move(key),
          .previous = Position{previous},
          .flags = flags,
          .at = kTime,
          .payload = Payload(payload)};
}

TEST(AuditChainTest, SealedEntryCoversItsRows) {
  const std::vector<Record> rows = {
      Row(StreamId{2}, 4, "", 0, 0, "kill"),
      Row(StreamId{3}, 17, "id-1", 12, 0, "first"),
      Row(StreamId{3}, 18, "id-2", 0, kTombstone, ""),
  };
  const AuditDraft draft{.actor = "ops@example.com", .action = "resource.delete"};
  const std::string payload =
      SealAuditEntry(draft, Position{2}, kTime, kFirst, rows, TestCatalogue());
  ASSERT_OK_AND_ASSIGN(const AuditEntry entry, DecodeAuditEntry(payload));
  EXPECT_EQ(entry.prev, kFirstHash);
  EXPECT_EQ(entry.time, kTime);
  EXPECT_EQ(entry.what.details.at("halo.records"), "killswitch:4,resources:17-18");
  EXPECT_EQ(entry.what.details.at("halo.sha256"),
            "fb6d12e1cf028e895d46586d3d87a8e477ebaa15281b8304c50743e8d5cbc445");
}

TEST(AuditChainTest, FirstEntryHasNoPrevAndAnEntryWithoutRowsCoversNone) {
  const AuditDraft draft{.actor = "ops@example.com", .action = "login"};
  ASSERT_OK_AND_ASSIGN(
      const AuditEntry entry,
      DecodeAuditEntry(SealAuditEntry(draft, Position{1}, kTime, "", {}, TestCatalogue())));
  EXPECT_EQ(entry.prev, "");
  EXPECT_TRUE(entry.what.details.empty());
}

TEST(AuditChainTest, CommandCannotForgeItsCover) {
  const std::vector<Record> rows = {Row(StreamId{2}, 4, "", 0, 0, "kill"),
                                    Row(StreamId{2}, 6, "", 0, 0, "kill")};
  const AuditDraft draft{.details = {{"halo.records", "none"}, {"halo.sha256", "none"}}};
  ASSERT_OK_AND_ASSIGN(
      const AuditEntry entry,
      DecodeAuditEntry(SealAuditEntry(draft, Position{1}, kTime, "", rows, TestCatalogue())));
  EXPECT_EQ(entry.what.details.at("halo.records"), "killswitch:4,killswitch:6");
  EXPECT_NE(entry.what.details.at("halo.sha256"), "none");
}

}  // namespace
}  // namespace engine
