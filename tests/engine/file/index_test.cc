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

std::vector<std::uint64_t> Found(const Index& index, std::uint64_t from, std::uint64_t through,
                                 std::size_t limit) {
  return Positions(index.Find(kEvents, Position{from}, Position{through}, limit).rows);
}

TEST(IndexTest, ARangeEndsAtItsLimitAndAtItsLastRow) {
  Index index(conformance::Streams());
  for (std::uint32_t i = 0; i < 10; ++i) {
    index.Add(kEvents, Position{i + 1}, {i / 4, i});
  }
  const Index::Range sixth = index.Find(kEvents, Position{6}, Position{6}, 1);
  EXPECT_EQ(sixth.rows.front().where.segment, 1U);
  EXPECT_EQ(sixth.rows.front().where.offset, 5U);
  EXPECT_EQ(sixth.unread, std::nullopt);
  EXPECT_EQ(Found(index, 3, 10, 100).size(), 8U);
  EXPECT_EQ(Found(index, 3, 10, 2).size(), 2U);
  EXPECT_TRUE(Found(index, 11, 10, 2).empty());
  EXPECT_EQ(index.SegmentOf(kEvents, Position{5}), 1U);
  EXPECT_EQ(index.SegmentOf(kEvents, Position{11}), std::nullopt);
}

TEST(IndexTest, WhatCompactionRemovedIsNotThere) {
  Index index(conformance::Streams());
  for (std::uint32_t i = 1; i <= 10; ++i) {
    index.Add(kEvents, Position{i}, {i / 6, i});
  }
  EXPECT_THAT(index.Remove(kEvents, {Position{1}, Position{3}, Position{6}}),
              testing::ElementsAre(testing::Pair(0, 2), testing::Pair(1, 1)));
  EXPECT_THAT(Found(index, 1, 6, 9), testing::ElementsAre(2, 4, 5));
  EXPECT_TRUE(index.Remove(kEvents, {}).empty());
  index.Remove(kEvents, {Position{2}, Position{5}});
  EXPECT_THAT(Found(index, 1, 99, 9), testing::ElementsAre(4, 7, 8, 9, 10));
  EXPECT_THAT(Found(index, 5, 9, 2), testing::ElementsAre(7, 8));
}

TEST(IndexTest, ASegmentThatWasWrittenAnewHasItsRowsElsewhere) {
  Index index(conformance::Streams());
  for (std::uint32_t i = 1; i <= 9; ++i) {
    index.Add(kEvents, Position{i}, {i / 4, i});
  }
  Index anew(conformance::Streams());
  anew.Add(kEvents, Position{5}, {0, 50});
  anew.Add(kEvents, Position{7}, {0, 70});
  index.Replace(1, std::move(anew));
  EXPECT_THAT(Found(index, 1, 99, 99), testing::ElementsAre(1, 2, 3, 5, 7, 8, 9));
  EXPECT_EQ(index.Find(kEvents, Position{6}, Position{9}, 1).rows.front().where.offset, 70U);
  EXPECT_EQ(index.Find(kEvents, Position{6}, Position{9}, 1).rows.front().where.segment, 1U);
  index.Replace(1, Index(conformance::Streams()));
  EXPECT_THAT(Found(index, 1, 99, 99), testing::ElementsAre(1, 2, 3, 8, 9));
}

TEST(IndexTest, RowsEndWhereASegmentHasToBeReadFirst) {
  Index index(conformance::Streams());
  index.Add(kEvents, Position{1}, {0, 1});
  index.AddUnread(kEvents, 1, Position{2}, Position{5});
  index.AddUnread(kAudit, 1, Position{1}, Position{1});
  index.Add(kEvents, Position{6}, {2, 6});
  EXPECT_FALSE(index.IsRead(1));
  EXPECT_TRUE(index.IsRead(0));
  const Index::Range range = index.Find(kEvents, Position{1}, Position{6}, 9);
  EXPECT_EQ(range.rows.size(), 1U);
  EXPECT_EQ(range.unread, 1U);
  EXPECT_EQ(index.Find(kEvents, Position{1}, Position{1}, 9).unread, std::nullopt);
  EXPECT_THAT(Found(index, 6, 6, 9), testing::ElementsAre(6));
  EXPECT_EQ(index.SegmentOf(kEvents, Position{3}), 1U);
  EXPECT_THAT(index.Remove(kEvents, {Position{3}}), testing::ElementsAre(testing::Pair(1, 1)));
  Index rows(conformance::Streams());
  rows.Add(kEvents, Position{4}, {0, 4});
  index.Replace(1, std::move(rows));
  EXPECT_TRUE(index.IsRead(1));
  EXPECT_THAT(Found(index, 1, 9, 9), testing::ElementsAre(1, 4, 6));
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
