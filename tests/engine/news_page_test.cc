#include "engine/news_page.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr StreamId kFirst{1};
constexpr StreamId kSecond{2};
// Room for two rows of the payload below and what a row costs beside it, not for three.
constexpr std::size_t kPayload = 1000;
constexpr std::size_t kPage = 2500;

Record Row(StreamId stream, std::uint64_t position, std::uint64_t tx) {
  Record row;
  row.stream = stream;
  row.position = Position{position};
  row.tx = Tx{tx};
  row.payload = Payload(std::string(kPayload, 'x'));
  return row;
}

std::vector<std::pair<StreamId, std::uint64_t>> Places(const News& news) {
  std::vector<std::pair<StreamId, std::uint64_t>> places;
  for (const Record& row : news.rows) {
    places.emplace_back(row.stream, static_cast<std::uint64_t>(row.position));
  }
  return places;
}

TEST(NewsPageTest, WhatFitsIsComplete) {
  NewsPage page({}, kPage);
  EXPECT_TRUE(page.Add(Row(kFirst, 1, 1)));
  EXPECT_TRUE(page.Add(Row(kFirst, 2, 2)));
  const News news = std::move(page).Finish();
  EXPECT_TRUE(news.complete);
  EXPECT_THAT(Places(news), ElementsAre(Pair(kFirst, 1), Pair(kFirst, 2)));
}

TEST(NewsPageTest, EveryStreamMayFillAPageOfItsOwn) {
  NewsPage page({}, kPage);
  for (const StreamId stream : {kFirst, kSecond}) {
    EXPECT_TRUE(page.Add(Row(stream, 1, 1)));
    EXPECT_TRUE(page.Add(Row(stream, 2, 2)));
  }
  EXPECT_TRUE(std::move(page).Finish().complete);
}

// The first stream stops before transaction 3. What the second one has of 3 and later would show
// half of it, whatever room there is.
TEST(NewsPageTest, TheCutIsBeforeTheFirstRowLeftOutInAllStreams) {
  NewsPage page({}, kPage);
  EXPECT_TRUE(page.Add(Row(kFirst, 1, 1)));
  EXPECT_TRUE(page.Add(Row(kFirst, 2, 2)));
  EXPECT_FALSE(page.Add(Row(kFirst, 3, 3)));
  EXPECT_TRUE(page.Add(Row(kSecond, 1, 2)));
  EXPECT_TRUE(page.Add(Row(kSecond, 2, 3)));
  const News news = std::move(page).Finish();
  EXPECT_FALSE(news.complete);
  EXPECT_THAT(Places(news), ElementsAre(Pair(kFirst, 1), Pair(kFirst, 2), Pair(kSecond, 1)));
}

TEST(NewsPageTest, ATransactionThatIsCutWithinAStreamIsLeftOutWhole) {
  NewsPage page({}, kPage);
  EXPECT_TRUE(page.Add(Row(kFirst, 1, 1)));
  EXPECT_TRUE(page.Add(Row(kFirst, 2, 2)));
  EXPECT_FALSE(page.Add(Row(kFirst, 3, 2)));
  EXPECT_THAT(Places(std::move(page).Finish()), ElementsAre(Pair(kFirst, 1)));
}

TEST(NewsPageTest, TheEarliestCutOfAllStreamsHolds) {
  NewsPage page({}, kPage);
  EXPECT_TRUE(page.Add(Row(kFirst, 1, 1)));
  EXPECT_TRUE(page.Add(Row(kFirst, 2, 5)));
  EXPECT_FALSE(page.Add(Row(kFirst, 3, 6)));
  EXPECT_TRUE(page.Add(Row(kSecond, 1, 2)));
  EXPECT_TRUE(page.Add(Row(kSecond, 2, 3)));
  EXPECT_FALSE(page.Add(Row(kSecond, 3, 4)));
  EXPECT_THAT(Places(std::move(page).Finish()),
              ElementsAre(Pair(kFirst, 1), Pair(kSecond, 1), Pair(kSecond, 2)));
}

}  // namespace
}  // namespace engine
