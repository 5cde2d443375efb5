#include "engine/file/index.h"

#include <gmock/gmock.h>

#include "tests/conformance/conformance.h"

namespace engine::file {
namespace {

using conformance::kAudit;
using conformance::kEvents;

std::vector<std::uint64_t> Positions(const std::vector<LocatedRow>& rows) {
  std::vector<std::uint64_t> positions;
  for (const LocatedRow& row : rows) {
    positions.push_back(Raw(row.position));
  }
  return positions;
}

TEST(IndexTest, ARangeEndsAtItsLimitAndAtItsLastRow) {
  Index index(conformance::Streams());
  for (std::uint32_t i = 0; i < 10; ++i) {
    index.Add(kEvents, Position{i + 1}, {i / 4, i}, {});
  }
  const std::vector<LocatedRow> sixth = index.Range(kEvents, Position{6}, Position{6}, 1);
  EXPECT_EQ(sixth.front().where.segment, 1U);
  EXPECT_EQ(sixth.front().where.offset, 5U);
  EXPECT_EQ(index.Range(kEvents, Position{3}, Position{10}, 100).size(), 8U);
  EXPECT_EQ(index.Range(kEvents, Position{3}, Position{10}, 2).size(), 2U);
  EXPECT_TRUE(index.Range(kEvents, Position{11}, Position{10}, 2).empty());
}

TEST(IndexTest, WhatCompactionRemovedIsNotThere) {
  Index index(conformance::Streams());
  for (std::uint32_t i = 1; i <= 10; ++i) {
    index.Add(kEvents, Position{i}, {0, i}, {});
  }
  index.Compact(kEvents, Position{4}, {Position{1}, Position{3}});
  EXPECT_THAT(Positions(index.Range(kEvents, Position{1}, Position{6}, 9)),
              testing::ElementsAre(2, 4, 5, 6));
  index.Compact(kEvents, Position{8}, {Position{2}, Position{6}});
  EXPECT_THAT(Positions(index.Range(kEvents, Position{1}, Position{99}, 9)),
              testing::ElementsAre(4, 5, 7, 8, 9, 10));
  EXPECT_THAT(Positions(index.Range(kEvents, Position{5}, Position{9}, 2)),
              testing::ElementsAre(5, 7));
  index.Add(kEvents, Position{11}, {1, 11}, {});
  index.Move(kEvents, Position{5}, {7, 77});
  index.Move(kEvents, Position{11}, {8, 88});
  EXPECT_EQ(index.Range(kEvents, Position{5}, Position{5}, 1).front().where.offset, 77U);
  EXPECT_EQ(index.Range(kEvents, Position{11}, Position{11}, 1).front().where.offset, 88U);
}

TEST(IndexTest, IsFilledWithTheGapsOfACompactedStream) {
  Index index(conformance::Streams());
  for (const std::uint64_t position : {2, 5, 6, 7}) {
    index.Add(kEvents, Position{position}, {0, 1}, Position{5});
  }
  EXPECT_THAT(Positions(index.Range(kEvents, Position{1}, Position{99}, 9)),
              testing::ElementsAre(2, 5, 6, 7));
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
