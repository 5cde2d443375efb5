#include "api/feed/backlog.h"

#include <gmock/gmock.h>

#include "engine/compactor.h"
#include "tests/api/feed/feed_fixture.h"
#include "tests/support/seeded_random.h"

namespace api {
namespace {

using engine::Position;
using feed_test::Writer;
using support::StatusIs;
using testing::IsEmpty;

class BacklogTest : public testing::Test {
 protected:
  // Where the journal was before its first record.
  static engine::Cursors Start() {
    return {{schemas::kKillSwitchStream, {}, {}}, {schemas::kResourcesStream, {}, {}}};
  }
  static void MoveOn(engine::Cursors& cursors, const std::vector<engine::Record>& rows) {
    for (const engine::Record& row : rows) {
      auto at = std::ranges::find(cursors, row.stream, &engine::StreamCursor::stream);
      EXPECT_EQ(row.position, engine::Next(at->position));
      *at = {row.stream, row.position, row.digest};
    }
  }
  absl::StatusOr<std::vector<engine::Record>> Read(const engine::Cursors& after) {
    return ReadBacklog(journal_, after, support::Soon());
  }
  static void ExpectInOrder(const std::vector<engine::Record>& rows) {
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const auto order = [](const engine::Record& row) {
        return std::make_tuple(row.tx, row.stream, row.position);
      };
      ASSERT_LT(order(rows[i - 1]), order(rows[i])) << i;
    }
  }

  const std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
  support::HookedJournal journal_{engine_->journal()};
  Writer writer_{journal_};
};

TEST_F(BacklogTest, GivesEveryRecordOnceByTransactionHoweverOftenItHasToAsk) {
  support::SeededRandom random;
  std::size_t written = 0;
  for (int i = 0; i < 150; ++i) {
    // Long stretches of one stream: what is read of it ends long before the other's does.
    const int many = 1 + static_cast<int>(random.Below(40));
    const int few = random.Below(8) == 0 ? 1 : 0;
    writer_.Write(i % 100 < 50 ? many : few, i % 100 < 50 ? few : many);
    written += static_cast<std::size_t>(many + few);
  }
  engine::Cursors cursors = Start();
  std::vector<engine::Record> all;
  while (true) {
    ASSERT_OK_AND_ASSIGN(const auto rows, Read(cursors));
    if (rows.empty()) {
      break;
    }
    MoveOn(cursors, rows);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  EXPECT_EQ(all.size(), written);
  ExpectInOrder(all);
}

TEST_F(BacklogTest, WhatIsWrittenMeanwhileIsLeftForTheNextTime) {
  writer_.Write(1, 1);
  int calls = 0;
  journal_.hooks.on_rows = [&](std::vector<engine::Record>&) {
    if (++calls == 1) {  // The first stream has been read, the second one has not.
      Writer(engine_->journal()).Write(1, 0);
      writer_.Write(0, 1);
    }
  };
  engine::Cursors cursors = Start();
  ASSERT_OK_AND_ASSIGN(auto all, Read(cursors));
  EXPECT_EQ(all.size(), 2u);
  MoveOn(cursors, all);
  ASSERT_OK_AND_ASSIGN(const auto rest, Read(cursors));
  all.insert(all.end(), rest.begin(), rest.end());
  EXPECT_EQ(all.size(), 4u);
  ExpectInOrder(all);
}

TEST_F(BacklogTest, IsNotMoreThanAMegabyteAndARecord) {
  for (int i = 0; i < 40; ++i) {
    support::AppendOne(journal_, schemas::kResourcesStream, "k",
                       std::string(std::size_t{100} << 10, 'x'));
  }
  ASSERT_OK_AND_ASSIGN(const auto rows, Read({{schemas::kResourcesStream, {}, {}}}));
  EXPECT_LE(rows.size(), 12u);
  EXPECT_GE(rows.size(), 10u);
}

TEST_F(BacklogTest, NothingNewIsNothing) {
  EXPECT_THAT(*Read(Start()), IsEmpty());
}

TEST_F(BacklogTest, BelowTheFloorItIsGone) {
  writer_.Write(0, 10);
  ASSERT_OK_AND_ASSIGN(const auto rows, Read(Start()));
  engine::Compactor compactor(journal_, {});
  ASSERT_OK(compactor.RaiseTo(schemas::kResourcesStream, Position{5}, std::chrono::seconds(30)));
  const auto from = [&](std::size_t i) {
    return engine::Cursors{{rows[i].stream, rows[i].position, rows[i].digest}};
  };
  EXPECT_THAT(Read(Start()), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(Read(from(3)), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(Read(from(4))->size(), 5u);
}

TEST_F(BacklogTest, AnotherHistoryIsGone) {
  writer_.Write(0, 2);
  const engine::Cursors other = {{schemas::kResourcesStream, Position{1}, engine::Digest{1}}};
  EXPECT_THAT(Read(other), StatusIs(absl::StatusCode::kFailedPrecondition));
  const engine::Cursors ahead = {{schemas::kResourcesStream, Position{9}, engine::Digest{1}}};
  EXPECT_THAT(Read(ahead), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(BacklogTest, ADamagedRowIsNotShown) {
  writer_.Write(0, 1);
  journal_.hooks.on_rows = [](std::vector<engine::Record>& rows) {
    for (engine::Record& row : rows) {
      row.payload = engine::Payload("changed");
    }
  };
  EXPECT_THAT(Read(Start()), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace api
