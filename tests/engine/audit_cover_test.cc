#include "engine/audit_cover.h"

#include <gmock/gmock.h>

#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace engine {
namespace {

Record Row(StreamId stream, std::uint64_t position) {
  Record row;
  row.stream = stream;
  row.position = Position{position};
  row.payload = Payload("payload " + std::to_string(position));
  return row;
}

TEST(AuditCoverTest, RangesAreByStreamAndPositionWhateverTheOrder) {
  const std::vector<Record> rows = {Row(support::kThings, 18), Row(support::kEvents, 4),
                                    Row(support::kThings, 17), Row(support::kThings, 20)};
  const std::vector<Record> shuffled = {rows[2], rows[3], rows[1], rows[0]};
  const AuditCover cover = CoverOf(rows);
  EXPECT_EQ(FormatCover(cover, support::Streams()), "events:4,things:17-18,things:20");
  EXPECT_EQ(CoverOf(shuffled).sha256, cover.sha256);
  EXPECT_EQ(cover.sha256.size(), 64U);
}

TEST(AuditCoverTest, EveryRowCountsForTheHash) {
  const std::vector<Record> rows = {Row(support::kThings, 1), Row(support::kThings, 2)};
  std::vector<Record> changed = rows;
  changed[1].payload = Payload("payload 3");
  EXPECT_NE(CoverOf(rows).sha256, CoverOf(changed).sha256);
  EXPECT_NE(CoverOf(rows).sha256, CoverOf({rows.data(), 1}).sha256);
}

TEST(AuditCoverTest, TheTextGoesBothWays) {
  const std::string text = "events:4,things:17-18,things:20";
  ASSERT_OK_AND_ASSIGN(const AuditCover cover, ParseCover(text, support::Streams()));
  EXPECT_EQ(FormatCover(cover, support::Streams()), text);
}

TEST(AuditCoverTest, OtherTextIsRefused) {
  for (const char* bad :
       {"", "things", "things:", "things:0", "things:01", "things:2-1", "things:1-", "nothing:1",
        "things:1,", ",things:1", "things:x", "things:1-2-3"}) {
    EXPECT_THAT(ParseCover(bad, support::Streams()), support::StatusIs(absl::StatusCode::kDataLoss))
        << bad;
  }
}

}  // namespace
}  // namespace engine
