#include "api/resources/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/resources/removed.h"
#include "engine/compactor.h"
#include "engine/memory/memory.h"
#include "schemas/streams.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using engine::Position;
using support::StatusIs;
using testing::ElementsAre;
using testing::IsEmpty;

class ChangesTest : public testing::Test {
 protected:
  // The next record of `key`; its position.
  Position Write(const std::string& key, const std::string& payload = "p",
                 std::uint16_t flags = 0) {
    auto transaction = *journal().Begin(support::Soon());
    const auto state = transaction->Read({});
    const auto rows = support::RowBuilder(*state)
                          .Add(schemas::kResourcesStream, key, payload, newest_[key], flags)
                          .rows();
    EXPECT_OK(transaction->Append(rows, {}));
    EXPECT_OK(transaction->Commit(support::Soon()).why);
    head_ = {schemas::kResourcesStream, rows.front().position, rows.front().digest};
    return newest_[key] = rows.front().position;
  }
  void RaiseFloor(Position to) {
    engine::Compactor compactor(journal(), {});
    EXPECT_OK(compactor.RaiseTo(schemas::kResourcesStream, to, std::chrono::seconds(30)));
  }
  absl::StatusOr<Changes> Read(Position from, int limit = 10) {
    return ReadChanges(journal(), "a", from, limit, support::Soon());
  }
  std::optional<Position> Removed(const std::string& key) {
    return *removed_.Find(journal(), key, head_, support::Soon());
  }
  static std::vector<std::uint64_t> PositionsOf(const Changes& changes) {
    std::vector<std::uint64_t> positions;
    for (const engine::Record& record : changes.records) {
      positions.push_back(engine::Raw(record.position));
    }
    return positions;
  }
  engine::Journal& journal() { return engine_->journal(); }

  std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
  std::map<std::string, Position> newest_;
  engine::StreamCursor head_;
  RemovedResources removed_;
};

TEST_F(ChangesTest, AreThoseOfTheKeyNewestFirst) {
  Write("a");
  Write("b");
  Write("a");
  Write("b");
  const Position newest = Write("a");
  ASSERT_OK_AND_ASSIGN(const Changes all, Read(newest));
  EXPECT_THAT(PositionsOf(all), ElementsAre(5, 3, 1));
  EXPECT_TRUE(all.complete());
  ASSERT_OK_AND_ASSIGN(const Changes page, Read(newest, 2));
  EXPECT_THAT(PositionsOf(page), ElementsAre(5, 3));
  EXPECT_FALSE(page.complete());
  ASSERT_OK_AND_ASSIGN(const Changes rest, Read(page.next, 2));
  EXPECT_THAT(PositionsOf(rest), ElementsAre(1));
  EXPECT_TRUE(rest.complete());
}

TEST_F(ChangesTest, EndWhereCompactionBegan) {
  Write("a");
  Write("a");
  Write("b");
  Write("a");
  const Position newest = Write("a");
  RaiseFloor(Position{3});
  ASSERT_OK_AND_ASSIGN(const Changes left, Read(newest));
  EXPECT_THAT(PositionsOf(left), ElementsAre(5, 4, 2)) << "the newest below the floor is kept";
  EXPECT_FALSE(left.complete());
  EXPECT_EQ(left.next, Position::kBeforeFirst);
  EXPECT_EQ(left.floor, Position{3});
  EXPECT_THAT(Read(Position{1}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ChangesTest, LargeRecordsFillAPageEarly) {
  Position newest{};
  for (int i = 0; i < 8; ++i) {
    newest = Write("a", std::string(engine::kMaxRecordBytes - 200, 'x'));
  }
  ASSERT_OK_AND_ASSIGN(const Changes page, Read(newest));
  EXPECT_LT(page.records.size(), 8u);
  EXPECT_EQ(engine::Raw(page.next), 8 - page.records.size());
}

TEST_F(ChangesTest, ARecordOfAnotherKeyIsNoChange) {
  Write("b");
  EXPECT_THAT(Read(Position{1}), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Read(Position{2}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ChangesTest, ARecordThatIsMissingIsDamage) {
  Write("a");
  const Position newest = Write("a");
  support::HookedJournal damaged(journal());
  damaged.hooks.on_rows = [](std::vector<engine::Record>& rows) {
    std::erase_if(rows, [](const engine::Record& row) { return row.position == Position{1}; });
  };
  EXPECT_THAT(ReadChanges(damaged, "a", newest, 10, support::Soon()).status(),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(ChangesTest, TombstonesAreFound) {
  Write("a");
  EXPECT_EQ(Removed("a"), std::nullopt);
  const Position gone = Write("a", "t", engine::kTombstone);
  Write("b");
  EXPECT_EQ(Removed("a"), gone);
  EXPECT_EQ(Removed("b"), std::nullopt);
  const Position later = Write("b", "t", engine::kTombstone);
  EXPECT_EQ(Removed("b"), later);
  EXPECT_EQ(Removed("a"), gone);
  Write("c");
  RaiseFloor(Position{3});
  Write("c");
  EXPECT_EQ(Removed("a"), std::nullopt) << "compaction took it";
  EXPECT_EQ(Removed("b"), later);
}

// Whoever has the older view may have its turn later; the stream is not read again for that.
TEST_F(ChangesTest, AnOlderViewForgetsNothing) {
  Write("a");
  const Position gone = Write("a", "t", engine::kTombstone);
  Write("b");
  const engine::StreamCursor older = head_;
  const Position later = Write("b", "t", engine::kTombstone);
  Write("c");
  EXPECT_EQ(Removed("b"), later);
  RaiseFloor(gone);  // Who reads again does not find it any more.
  EXPECT_EQ(*removed_.Find(journal(), "a", older, support::Soon()), gone);
  EXPECT_EQ(*removed_.Find(journal(), "b", older, support::Soon()), std::nullopt);
  EXPECT_EQ(Removed("b"), later);
}

TEST_F(ChangesTest, AViewThatCompactionHasPassedIsNotReadFor) {
  for (const char* key : {"a", "b"}) {
    Write(key);
  }
  const engine::StreamCursor older = head_;
  for (const char* key : {"c", "d", "e"}) {
    Write(key);
  }
  RaiseFloor(Position{4});
  EXPECT_THAT(removed_.Find(journal(), "x", older, support::Soon()).status(),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ChangesTest, TombstonesOfAnotherHistoryAreForgotten) {
  Write("a", "t", engine::kTombstone);
  Write("b");
  ASSERT_TRUE(Removed("a").has_value());
  engine_ = engine::memory::Open(schemas::Streams());
  newest_.clear();
  Write("b");
  Write("b");
  Write("b");
  EXPECT_EQ(Removed("a"), std::nullopt);
}

}  // namespace
}  // namespace api
