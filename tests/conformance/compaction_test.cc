// Compaction as every backend does it: floors, what remains, and what readers are told.

#include "tests/conformance/compaction.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>

#include "engine/compactor.h"
#include "engine/follower.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace conformance {
namespace {

using support::StatusIs;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(CompactionConformance, NothingIsCompactedAtFirst) {
  Put("a", "1");
  EXPECT_EQ(Tail().floor, Floor());
}

TEST_P(CompactionConformance, OfEachKeyTheNewestRemainsAndOfAGoneOneNothing) {
  Put("a", "1");
  Put("b", "1");
  Put("a", "2");
  Put("b", nullptr);
  const Record c = Put("c", "1");
  const Record a = Put("a", "3");
  const std::string before = Fold(journal());
  Raise(5);
  EXPECT_THAT(Positions(), ElementsAre(3, 5, 6));
  const std::vector<Record> rows = Rows();
  EXPECT_EQ(Tail().floor, (Floor{Position{5}, c.digest, 2, rows[0].checksum + c.checksum}));
  EXPECT_EQ(Tail().position, Position{6});
  EXPECT_EQ(Tail().digest, a.digest);
  EXPECT_EQ(Fold(journal()), before);
}

TEST_P(CompactionConformance, ATombstoneAtTheFloorGoesWithTheNextStep) {
  Put("a", "1");
  Put("a", nullptr);
  Put("b", "1");
  Put("c", "1");
  const std::string before = Fold(journal());
  Raise(2);
  EXPECT_THAT(Positions(), ElementsAre(2, 3, 4));
  EXPECT_EQ(Fold(journal()), before);
  Raise(3);
  EXPECT_THAT(Positions(), ElementsAre(3, 4));
  EXPECT_EQ(Fold(journal()), before);
}

TEST_P(CompactionConformance, AKeyThatComesBackIsAnotherOne) {
  Put("a", "1");
  Put("a", nullptr);
  Put("a", "2");
  Put("z", "1");
  const std::string before = Fold(journal());
  Raise(2);
  Raise(3);
  EXPECT_THAT(Positions(), ElementsAre(3, 4));
  EXPECT_EQ(Fold(journal()), before);
}

TEST_P(CompactionConformance, WritersGoOnAsBefore) {
  Put("a", "1");
  Put("a", "2");
  Raise(1);
  const Record three = Put("a", "3");
  EXPECT_EQ(three.position, Position{3});
  Raise(2);
  EXPECT_THAT(Positions(), ElementsAre(2, 3));
  Put("a", "4");
  Raise(3);
  EXPECT_THAT(Positions(), ElementsAre(3, 4));
}

TEST_P(CompactionConformance, ItSurvivesAReopening) {
  for (int i = 0; i < 30; ++i) {
    Put("key" + std::to_string(i % 4), std::to_string(i).c_str());
  }
  Put("key1", nullptr);
  Put("end", "1");
  const std::string before = Fold(journal());
  Raise(20);
  Raise(31);
  const Floor floor = Tail().floor;
  const std::vector<std::uint64_t> positions = Positions();
  if (!store().Reopen()) {
    GTEST_SKIP() << "nothing survives in this backend";
  }
  EXPECT_EQ(Tail().floor, floor);
  EXPECT_EQ(Positions(), positions);
  EXPECT_EQ(Fold(journal()), before);
  Put("key2", "more");
  Raise(32);
  ASSERT_TRUE(store().Reopen());
  EXPECT_EQ(Tail().floor.position, Position{32});
  EXPECT_EQ(Rows().back().position, Position{33});
}

TEST_P(CompactionConformance, ACursorBelowTheFloorIsTold) {
  Put("a", "1");
  Put("a", "2");
  const Record three = Put("a", "3");
  const Record four = Put("a", "4");
  AppendEvent("event");
  Raise(3);
  for (const std::uint64_t at : {0, 1}) {
    ASSERT_OK_AND_ASSIGN(
        const News news,
        journal().ReadAfter({{kEvents, {}, {}}, {kThings, Position{at}, {}}}, Soon()));
    EXPECT_THAT(news.compacted, ElementsAre(kThings)) << at;
    ASSERT_EQ(news.rows.size(), 1U) << "what is left must not pass for everything";
    EXPECT_EQ(news.rows[0].stream, kEvents);
  }
  // The row at the floor is always there, so whoever has all before it can go on.
  ASSERT_OK_AND_ASSIGN(const News news, journal().ReadAfter({{kThings, Position{2}, {}}}, Soon()));
  EXPECT_THAT(news.compacted, IsEmpty());
  ASSERT_EQ(news.rows.size(), 2U);
  EXPECT_EQ(news.rows[0].digest, three.digest);
  EXPECT_EQ(news.rows[1].digest, four.digest);
}

TEST_P(CompactionConformance, AWriterBelowTheFloorIsToldUnderTheLock) {
  for (const char* value : {"1", "2", "3", "4"}) {
    Put("a", value);
  }
  Raise(3);
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  const engine::Question question{.after = {{kThings, Position{1}, {}}}};
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read(question));
  EXPECT_THAT(state.news.compacted, ElementsAre(kThings));
  EXPECT_THAT(state.news.rows, IsEmpty());
}

TEST_P(CompactionConformance, AScanTellsTheFloorsOfItsCutFirst) {
  Put("a", "1");
  Put("a", "2");
  Put("a", "3");
  Raise(2);
  std::vector<StreamTail> tails;
  std::size_t rows = 0;
  const engine::ScanOptions options{.after = FromTheStart(),
                                    .on_tails = [&](std::span<const StreamTail> all) {
                                      EXPECT_EQ(rows, 0U);
                                      tails.assign(all.begin(), all.end());
                                      return absl::OkStatus();
                                    }};
  ASSERT_OK(journal().Scan(
      options,
      [&](std::span<const Record> some) {
        rows += some.size();
        return absl::OkStatus();
      },
      Soon()));
  EXPECT_EQ(rows, 2U);
  const auto tail = std::ranges::find(tails, kThings, &StreamTail::stream);
  ASSERT_NE(tail, tails.end());
  EXPECT_EQ(tail->floor, Tail().floor);
  EXPECT_EQ(tail->position, Position{3});
}

TEST_P(CompactionConformance, TwoCompactorsCannotBothRaiseTheFloor) {
  for (const char* value : {"1", "2", "3", "4"}) {
    Put("a", value);
  }
  const CompactionStep stale = Plan(Position{2});
  Raise(3);
  const Floor floor = Tail().floor;
  EXPECT_THAT(journal().Compact(stale, Soon()), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(Tail().floor, floor);
  EXPECT_THAT(Positions(), ElementsAre(3, 4));
}

TEST_P(CompactionConformance, ARowThatIsNotThereOrOfAnotherKeyStopsTheStep) {
  Put("a", "1");
  Put("b", "1");
  Put("a", "2");
  Put("a", "3");
  CompactionStep other_key = Plan(Position{3});
  other_key.remove[0].key = "b";
  CompactionStep not_there = Plan(Position{3});
  not_there.remove.push_back({Position{99}, "a"});
  CompactionStep above = Plan(Position{3});
  above.remove.push_back({Position{4}, "a"});
  for (const CompactionStep& step : {other_key, not_there, above}) {
    EXPECT_FALSE(journal().Compact(step, Soon()).ok());
    EXPECT_EQ(Tail().floor, Floor());
    EXPECT_THAT(Positions(), ElementsAre(1, 2, 3, 4));
  }
  Raise(3);
}

TEST_P(CompactionConformance, OnlyKeyedStreamsAreCompactedAndOnlyBelowTheirEnd) {
  AppendEvent("event");
  AppendEvent("another");
  Put("a", "1");
  Put("a", "2");
  CompactionStep of_events = Plan(Position{1});
  of_events.stream = kEvents;
  of_events.remove.clear();
  CompactionStep to_the_end = Plan(Position{2});
  CompactionStep back = Plan(Position{1});
  back.to = Position::kBeforeFirst;
  for (const CompactionStep& step : {of_events, to_the_end, back}) {
    EXPECT_THAT(journal().Compact(step, Soon()), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(Positions(), ElementsAre(1, 2));
}

TEST_P(CompactionConformance, AnotherProcessSeesTheFloor) {
  if (store().second() == nullptr) {
    GTEST_SKIP() << "this backend has one process";
  }
  Put("a", "1");
  Put("a", "2");
  Put("a", "3");
  Raise(2);
  EXPECT_EQ(TailIn(store().second()->journal()).floor, Tail().floor);
  EXPECT_EQ(Fold(store().second()->journal()), Fold(journal()));
}

TEST_P(CompactionConformance, StatesAtAndAboveTheFloorStayExactAndOlderOnesAreRefused) {
  std::vector<std::string> states;
  for (int i = 0; i < 12; ++i) {
    Put("key" + std::to_string(i % 3), i % 5 == 4 ? nullptr : std::to_string(i).c_str());
    states.push_back(Fold(journal()));
  }
  Raise(5);
  Raise(8);
  for (std::uint64_t tx = 1; tx <= 12; ++tx) {
    const std::string state = Fold(journal(), engine::Tx{tx});
    if (tx < 8) {
      EXPECT_THAT(state, testing::HasSubstr("OUT_OF_RANGE")) << tx;
    } else {
      EXPECT_EQ(state, states[tx - 1]) << tx;
    }
  }
}

TEST_P(CompactionConformance, RandomHistoriesFoldToTheSameStateBeforeAndAfter) {
  support::SeededRandom random;
  std::vector<std::unique_ptr<engine::Projection>> projections;
  projections.push_back(std::make_unique<support::ToyProjection>(kThings));
  engine::Follower live(std::move(projections));
  ASSERT_OK(live.Replay(journal(), std::nullopt, Soon()));
  for (int round = 0; round < 12; ++round) {
    for (std::uint64_t i = random.Below(20); i > 0; --i) {
      const std::string key = "key" + std::to_string(random.Below(6));
      const bool exists = newest_[key] != Position::kBeforeFirst;
      Put(key, exists && random.Below(3) == 0 ? nullptr : std::to_string(i).c_str());
      if (random.Below(8) == 0) {
        AppendEvent("between");
      }
    }
    const StreamTail tail = Tail();
    const std::uint64_t room = engine::Raw(tail.position) - engine::Raw(tail.floor.position);
    if (room > 1) {
      Raise(engine::Raw(tail.floor.position) + 1 + random.Below(room - 1));
    }
    if (random.Below(4) == 0) {
      store().Reopen();
    }
    ASSERT_OK_AND_ASSIGN(const News news, journal().ReadAfter(live.cursors(), Soon()));
    if (!news.compacted.empty()) {
      // It fell behind the floor: reads anew, as Replay does.
      ASSERT_OK(live.Replay(journal(), std::nullopt, Soon()));
    } else {
      live.Deliver(news);
    }
    ASSERT_EQ(Fold(journal()), StateOf(live));
    // A replaced row at or below the floor remains only if what replaced it lies above.
    for (const Record& row : Rows()) {
      if (row.position >= Tail().floor.position || newest_[row.key] == row.position) {
        continue;
      }
      const std::vector<Record> rows = Rows();
      EXPECT_TRUE(std::ranges::any_of(rows, [&](const Record& later) {
        return later.previous == row.position && later.position > Tail().floor.position;
      })) << engine::Raw(row.position);
    }
  }
}

TEST_P(CompactionConformance, TheCompactorKeepsWhatIsYoungerThanTheRetention) {
  for (int i = 0; i < 25; ++i) {
    Put("key" + std::to_string(i % 2), std::to_string(i).c_str());
  }
  const std::string before = Fold(journal());
  const auto always = [] { return true; };
  engine::Compactor patient(journal(),
                            {.retentions = {{kThings, std::chrono::hours(1)}}, .rows_a_step = 7});
  ASSERT_OK_AND_ASSIGN(auto report, patient.Run(always, std::chrono::seconds(30)));
  EXPECT_EQ(report.steps, 0U);
  EXPECT_EQ(Tail().floor, Floor());
  engine::Compactor eager(
      journal(), {.retentions = {{kThings, std::chrono::nanoseconds(1)}}, .rows_a_step = 7});
  ASSERT_OK_AND_ASSIGN(report, eager.Run(always, std::chrono::seconds(30)));
  EXPECT_EQ(report.steps, 4U);
  EXPECT_EQ(report.passed, 24U);
  EXPECT_EQ(report.removed, 22U);
  EXPECT_THAT(Positions(), ElementsAre(23, 24, 25));
  EXPECT_EQ(Fold(journal()), before);
  EXPECT_THAT(report.damaged, IsEmpty());
}

}  // namespace
}  // namespace conformance
