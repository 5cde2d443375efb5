#include "api/dispatch/recent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace api {
namespace {

using engine::Position;
using engine::StreamId;

constexpr StreamId kA{2};
constexpr StreamId kB{3};

// A follower of two streams, as far as Recent knows one.
class RecentTest : public testing::Test {
 protected:
  void SetUp() override { recent_.Start(View()); }

  // One transaction with a record in each of these streams.
  void Commit(std::vector<StreamId> streams, const std::string& key = "", std::uint16_t flags = 0) {
    ++tx_;
    for (const StreamId stream : streams) {
      engine::StreamCursor& end = ends_[stream];
      engine::Record record;
      record.stream = stream;
      record.position = engine::Next(end.position);
      record.tx = engine::Tx{tx_};
      record.key = key;
      record.flags = flags;
      record.payload = engine::Payload(std::string(100, 'x'));
      record.checksum = tx_;
      record.digest = engine::ChainDigest(end.digest, record.checksum);
      end = {stream, record.position, record.digest};
      recent_.Fold(record);
    }
    recent_.Publish(View());
  }
  engine::View View() const {
    engine::View view;
    for (const auto& [id, end] : ends_) {
      engine::StreamView stream;
      stream.stream = id;
      stream.position = end.position;
      stream.digest = end.digest;
      stream.rebuilding = rebuilding_;
      view.streams.push_back(std::move(stream));
    }
    return view;
  }
  // `A1 B1 A2 ...` from these positions on, as far as it goes; how it ends.
  std::pair<std::string, Recent::Reach> ReadFrom(std::uint64_t a, std::uint64_t b) const {
    engine::Cursors cursors = {{kA, Position{a}, {}}, {kB, Position{b}, {}}};
    std::string read;
    while (true) {
      const Recent::Step step = recent_.Next(cursors);
      if (step.reach != Recent::Reach::kRecord) {
        return {read, step.reach};
      }
      const engine::Record& record = step.record->record;
      read += (record.stream == kA ? "A" : "B") + std::to_string(engine::Raw(record.position));
      cursors[record.stream == kA ? 0 : 1].position = record.position;
    }
  }

  std::map<StreamId, engine::StreamCursor> ends_ = {{kA, {kA, {}, {}}}, {kB, {kB, {}, {}}}};
  std::uint64_t tx_ = 0;
  engine::Rebuilding rebuilding_ = engine::Rebuilding::kNo;
  Recent recent_{5000};
};

TEST_F(RecentTest, GoesByTransactionThenByStream) {
  Commit({kB});
  Commit({kA, kB});
  Commit({kA});
  Commit({kB});
  using Reach = Recent::Reach;
  EXPECT_EQ(ReadFrom(0, 0), std::make_pair(std::string("B1A1B2A2B3"), Reach::kUpToDate));
  EXPECT_EQ(ReadFrom(1, 1), std::make_pair(std::string("B2A2B3"), Reach::kUpToDate));
  EXPECT_EQ(ReadFrom(2, 3), std::make_pair(std::string(), Reach::kUpToDate));
  EXPECT_EQ(ReadFrom(2, 9), std::make_pair(std::string(), Reach::kUpToDate)) << "seen elsewhere";
}

TEST_F(RecentTest, WhatIsNotPublishedIsNotThere) {
  Commit({kA});
  engine::Record next;
  next.stream = kA;
  next.position = Position{2};
  recent_.Fold(next);
  EXPECT_EQ(ReadFrom(1, 0).first, "");
}

TEST_F(RecentTest, TheOldestGoFirst) {
  for (int i = 0; i < 50; ++i) {
    Commit({i % 10 == 0 ? kA : kB});
  }
  EXPECT_EQ(ReadFrom(0, 0).second, Recent::Reach::kBehind);
  EXPECT_EQ(ReadFrom(5, 44), std::make_pair(std::string("B45"), Recent::Reach::kUpToDate));
  EXPECT_EQ(ReadFrom(0, 44).second, Recent::Reach::kBehind) << "one stream is enough";
}

TEST_F(RecentTest, WhatTombstonesHeldBeforeCounts) {
  recent_.Start(View(),
                [](const engine::Record&) { return engine::Payload(std::string(2000, 'x')); });
  for (int i = 0; i < 4; ++i) {
    Commit({kA}, "key", engine::kTombstone);
  }
  EXPECT_EQ(ReadFrom(1, 0).second, Recent::Reach::kBehind);
  EXPECT_EQ(ReadFrom(3, 0).first, "A4");
}

TEST_F(RecentTest, AStreamThatStartsOverIsNotGoneOnWith) {
  Commit({kA, kB});
  const std::uint64_t before = recent_.generation();
  rebuilding_ = engine::Rebuilding::kForgotten;
  ends_[kA] = {kA, {}, {}};
  recent_.Publish(View());
  EXPECT_EQ(ReadFrom(0, 0).second, Recent::Reach::kRebuilt);
  rebuilding_ = engine::Rebuilding::kNo;
  ends_[kA] = {kA, Position{7}, engine::Digest{7}};
  recent_.Publish(View());
  EXPECT_EQ(ReadFrom(1, 1).second, Recent::Reach::kBehind);
  EXPECT_GT(recent_.generation(), before);
  Commit({kA});
  EXPECT_EQ(ReadFrom(7, 1).first, "A8");
}

TEST_F(RecentTest, KnowsWhetherACursorIsOfItsHistory) {
  Commit({kA});
  const engine::StreamCursor first = ends_[kA];
  Commit({kA});
  EXPECT_EQ(recent_.Agrees({first, ends_[kB]}), true);
  EXPECT_EQ(recent_.Agrees({{kA, {}, {}}}), true);
  EXPECT_EQ(recent_.Agrees({{kA, first.position, engine::Digest{1}}}), false);
  EXPECT_EQ(recent_.Agrees({{kA, Position{9}, engine::Digest{1}}}), std::nullopt);
  EXPECT_EQ(recent_.Agrees({{StreamId{9}, Position{1}, engine::Digest{1}}}), std::nullopt);
  for (int i = 0; i < 50; ++i) {
    Commit({kA});
  }
  EXPECT_EQ(recent_.Agrees({first}), std::nullopt);
  EXPECT_EQ(recent_.Agrees({{kA, {}, {}}}), std::nullopt);
}

TEST_F(RecentTest, WakesThoseWhoSubscribed) {
  int woken = 0;
  const std::uint64_t subscription = recent_.Subscribe([&] { ++woken; });
  Commit({kA});
  EXPECT_EQ(woken, 1);
  recent_.Unsubscribe(subscription);
  Commit({kA});
  EXPECT_EQ(woken, 1);
}

TEST_F(RecentTest, TheTextOfARecordIsMadeOnce) {
  Commit({kA});
  const RecentPtr record = recent_.Next({{kA, {}, {}}}).record;
  int made = 0;
  const auto make = [&](const engine::Record&) { return std::to_string(++made); };
  EXPECT_EQ(record->Text(make), "1");
  EXPECT_EQ(record->Text(make), "1");
}

}  // namespace
}  // namespace api
