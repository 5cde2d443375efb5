#include "engine/file/index.h"

#include <gmock/gmock.h>

#include "tests/conformance/conformance.h"

namespace engine::file {
namespace {

using conformance::kAudit;
using conformance::kEvents;

TEST(IndexTest, ARangeEndsAtItsLimitAndAtItsLastRow) {
  Index index(conformance::Streams());
  for (std::uint32_t i = 0; i < 10; ++i) {
    index.Add(kEvents, {i / 4, i});
  }
  EXPECT_EQ(index.At(kEvents, Position{6}).segment, 1U);
  EXPECT_EQ(index.At(kEvents, Position{6}).offset, 5U);
  EXPECT_EQ(index.Range(kEvents, Position{3}, Position{10}, 100).size(), 8U);
  EXPECT_EQ(index.Range(kEvents, Position{3}, Position{10}, 2).size(), 2U);
  EXPECT_TRUE(index.Range(kEvents, Position{11}, Position{10}, 2).empty());
}

Record Row(StreamId stream, std::uint64_t position, std::size_t size) {
  Record row;
  row.stream = stream;
  row.position = Position{position};
  row.payload = Payload(std::string(size, 'x'));
  return row;
}

TEST(RecentRowsTest, RowsAreThereAllOrNotAtAll) {
  RecentRows recent(std::size_t{1} << 20);
  EXPECT_TRUE(recent.After(kEvents, Position{0}, 1).empty());
  for (std::uint64_t i = 5; i <= 8; ++i) {
    recent.Add(Row(kEvents, i, 10));
  }
  EXPECT_TRUE(recent.After(kEvents, Position{3}, 5).empty());
  EXPECT_EQ(recent.After(kEvents, Position{4}, 4).size(), 4U);
  const std::vector<Record> last = recent.After(kEvents, Position{7}, 1);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].position, Position{8});
}

TEST(RecentRowsTest, TheOldestGoFirstWhateverTheirStream) {
  RecentRows recent(3000);
  recent.Add(Row(kAudit, 1, 1000));
  recent.Add(Row(kEvents, 1, 1000));
  recent.Add(Row(kEvents, 2, 1000));
  EXPECT_TRUE(recent.After(kAudit, Position{0}, 1).empty());
  EXPECT_EQ(recent.After(kEvents, Position{0}, 2).size(), 2U);
  recent.Add(Row(kAudit, 2, 1000));
  EXPECT_TRUE(recent.After(kEvents, Position{0}, 2).empty());
  EXPECT_EQ(recent.After(kEvents, Position{1}, 1).size(), 1U);
  recent.Add(Row(kAudit, 3, 5000));  // More than all that is kept.
  EXPECT_TRUE(recent.After(kAudit, Position{2}, 1).empty());
  EXPECT_TRUE(recent.After(kEvents, Position{1}, 1).empty());
}

}  // namespace
}  // namespace engine::file
