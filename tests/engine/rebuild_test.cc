// Histories that change under a running replica: noticed, forgotten, folded again, shown as one
// cut.

#include <atomic>
#include <latch>

#include <gmock/gmock.h>

#include "engine/coalescer.h"
#include "engine/history.h"
#include "engine/memory/memory.h"
#include "engine/rebuilder.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace engine {
namespace {

using support::AppendOne;
using support::kEvents;
using support::kThings;
using support::Soon;
using support::StatusIs;
using support::ToyImage;

std::vector<std::unique_ptr<Projection>> Toys() {
  std::vector<std::unique_ptr<Projection>> projections;
  projections.push_back(std::make_unique<support::ToyProjection>(kThings));
  projections.push_back(std::make_unique<support::ToyProjection>(kEvents));
  return projections;
}

// A follower of two streams that knows one history, and a store that can become another.
class RebuildTest : public testing::Test {
 protected:
  // Two things and an event are known.
  void SetUp() override {
    AppendOne(journal_, kThings, "a", "1");
    AppendOne(journal_, kEvents, "", "event");
    AppendOne(journal_, kThings, "a", "2");
    follower_.Doubt();
    ASSERT_OK(CatchUp());
  }
  // From now on a store answers that lost the last thing and took another since.
  void LoseTheLastThing() {
    for (const Tx tx : {Tx{1}, Tx{2}}) {
      CopyTransaction(tx);
    }
    AppendOne(restored_->journal(), kThings, "b", "new");
    journal_.SwitchTo(restored_->journal(), "restored");
  }
  void CopyTransaction(Tx tx) {
    std::vector<Record> rows;
    const auto take = [&](std::span<const Record> all) {
      std::ranges::copy_if(all, std::back_inserter(rows),
                           [tx](const Record& row) { return row.tx == tx; });
      return absl::OkStatus();
    };
    const ScanOptions options{.after = support::FromTheStart(), .through = {}};
    ASSERT_OK(store_->journal().Scan(options, take, Soon()));
    ASSERT_OK_AND_ASSIGN(const auto transaction, restored_->journal().Begin(Soon()));
    ASSERT_OK(transaction->Read({.after = support::FromTheStart()}));
    ASSERT_OK(transaction->Append(rows, {}));
    ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  }
  // As a flight does it.
  absl::Status CatchUp() {
    auto news = journal_.ReadAfter(follower_.cursors(), Soon());
    while (news.ok() && !follower_.Deliver(*news)) {
      const absl::Status confirmed = ConfirmHistory(journal_, follower_, Soon());
      if (!confirmed.ok()) {
        return confirmed;
      }
      news = journal_.ReadAfter(follower_.cursors(), Soon());
    }
    return news.status();
  }
  std::string Value(const std::string& key) {
    const ViewPtr view = follower_.view();
    const auto image = ImageIn<ToyImage>(*view);
    if (!image.ok()) {
      return "refused";
    }
    const auto entry = (*image)->entries().find(key);
    return entry == (*image)->entries().end() ? "none" : entry->second.value;
  }
  StreamView Of(StreamId stream) { return *follower_.view()->Find(stream); }

  const std::unique_ptr<Engine> store_ = memory::Open(support::Streams());
  const std::unique_ptr<Engine> restored_ = memory::Open(support::Streams());
  support::HookedJournal journal_{store_->journal()};
  Follower follower_{Toys()};
};

TEST_F(RebuildTest, AnotherLifeWithTheSameHistoryIsGoneOnWith) {
  const std::uint64_t before = HistoryChanges();
  journal_.SwitchTo(store_->journal(), "promoted");
  AppendOne(journal_, kThings, "a", "3");
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "3");
  EXPECT_OK(follower_.view()->Whole());
  EXPECT_EQ(HistoryChanges(), before);
}

TEST_F(RebuildTest, OnlyTheStreamThatDiffersStartsOver) {
  support::ExpectErrorLogs();
  const std::uint64_t before = HistoryChanges();
  LoseTheLastThing();
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "refused");
  EXPECT_EQ(Of(kThings).rebuilding, Rebuilding::kForgotten);
  EXPECT_OK(Of(kEvents).health);
  EXPECT_EQ(Of(kEvents).position, Position{1});
  EXPECT_THAT(follower_.view()->Whole(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(HistoryChanges(), before + 1);
}

TEST_F(RebuildTest, ARefoldedStreamIsShownWithTheNextWholeCut) {
  support::ExpectErrorLogs();
  LoseTheLastThing();
  ASSERT_OK(CatchUp());
  ASSERT_OK(follower_.Refold(journal_, Soon()));
  EXPECT_EQ(Value("b"), "refused") << "its history was not compared with who answers now";
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "1");
  EXPECT_EQ(Value("b"), "new");
  EXPECT_OK(follower_.view()->Whole());
  EXPECT_EQ(follower_.view()->tx, Tx{3});
}

TEST_F(RebuildTest, AnAnswerOfTheLifeBeforeIsIgnored) {
  support::ExpectErrorLogs();
  AppendOne(journal_, kThings, "a", "late");
  ASSERT_OK_AND_ASSIGN(const News late, journal_.ReadAfter(follower_.cursors(), Soon()));
  LoseTheLastThing();
  ASSERT_OK(CatchUp());
  ASSERT_OK(follower_.Refold(journal_, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_FALSE(follower_.Deliver(late));
  EXPECT_EQ(Value("a"), "1");
  EXPECT_OK(Of(kThings).health);
}

TEST_F(RebuildTest, NewsThatAnotherStreamIsAheadOfShowsNothing) {
  support::ExpectErrorLogs();
  LoseTheLastThing();
  ASSERT_OK(CatchUp());
  ASSERT_OK(follower_.Refold(journal_, Soon()));
  ASSERT_OK(ConfirmHistory(journal_, follower_, Soon()));
  ASSERT_OK_AND_ASSIGN(const News early, journal_.ReadAfter(follower_.cursors(), Soon()));
  // A transaction of both streams, of which only the events come another way.
  ASSERT_OK_AND_ASSIGN(auto transaction, journal_.Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const LockedState state, transaction->Read({.after = follower_.cursors()}));
  const std::vector<Record> rows =
      support::RowBuilder(state).Add(kThings, "b", "newer").Add(kEvents, "", "too").rows();
  ASSERT_OK(transaction->Append(rows, {}));
  ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  transaction.reset();
  News events = early;
  events.after = {{kEvents, Position{1}, Of(kEvents).digest}};
  events.rows = {*std::ranges::find(rows, kEvents, &Record::stream)};
  ASSERT_TRUE(follower_.Deliver(events));
  ASSERT_TRUE(follower_.Deliver(early));
  EXPECT_EQ(Value("b"), "refused") << "half of the transaction would show";
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("b"), "newer");
  EXPECT_EQ(Of(kEvents).position, Position{2});
}

TEST_F(RebuildTest, NothingIsAdoptedThatWasNotCompared) {
  AppendOne(journal_, kThings, "a", "3");
  const Cursors compared = follower_.cursors();
  ASSERT_OK(CatchUp());
  EXPECT_FALSE(follower_.Adopt(Origin{"another"}, compared, {}));
  EXPECT_TRUE(follower_.Adopt(Origin{"another"}, follower_.cursors(), {}));
}

TEST_F(RebuildTest, WhatIsForgottenMeanwhileIsRefoldedToo) {
  const StreamId things[] = {kThings};
  const StreamId events[] = {kEvents};
  follower_.Rebuild(things, absl::UnavailableError("test"));
  std::atomic<int> scans = 0;
  journal_.hooks.before_scan = [&] {
    if (++scans == 1) {
      follower_.Rebuild(events, absl::UnavailableError("test"));
    }
    return absl::OkStatus();
  };
  EXPECT_THAT(follower_.Refold(journal_, Soon()), StatusIs(absl::StatusCode::kAborted));
  EXPECT_OK(follower_.Refold(journal_, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_OK(follower_.view()->Whole());
  EXPECT_EQ(Value("a"), "2");
}

TEST_F(RebuildTest, RowsThatAreGoneAreNoticedThoughNoOtherLifeAnswers) {
  support::ExpectErrorLogs();
  Follower* const followers[] = {&follower_};
  ASSERT_OK(CheckHeads(journal_, followers, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_OK(follower_.view()->Whole());
  CopyTransaction(Tx{1});
  journal_.SwitchTo(restored_->journal(), "");  // As if somebody had deleted the rest.
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "2") << "no news, and nothing to give it away";
  ASSERT_OK(CheckHeads(journal_, followers, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "refused");
  ASSERT_OK(follower_.Refold(journal_, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "1");
}

TEST_F(RebuildTest, RowsThatWereMadeAnewAreNoticedThoughNoOtherLifeAnswers) {
  support::ExpectErrorLogs();
  Follower* const followers[] = {&follower_};
  CopyTransaction(Tx{1});
  CopyTransaction(Tx{2});
  AppendOne(restored_->journal(), kThings, "a", "other");
  journal_.SwitchTo(restored_->journal(), "");
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "2") << "it ends where we are";
  ASSERT_OK(CheckHeads(journal_, followers, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "refused");
  ASSERT_OK(follower_.Refold(journal_, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "other");
}

TEST_F(RebuildTest, CanBeBrokenOff) {
  const StreamId things[] = {kThings};
  follower_.Rebuild(things, absl::UnavailableError("test"));
  const std::atomic<bool> cancelled = true;
  EXPECT_THAT(follower_.Refold(journal_, Soon(), &cancelled),
              StatusIs(absl::StatusCode::kCancelled));
  ASSERT_OK(follower_.Refold(journal_, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "2") << "what the first attempt folded is gone";
}

TEST_F(RebuildTest, ADamagedStreamStaysStopped) {
  support::ExpectErrorLogs();
  LoseTheLastThing();
  AppendOne(journal_, kThings, "c", "undecodable");
  ASSERT_OK(CatchUp());
  ASSERT_OK(follower_.Refold(journal_, Soon()));
  ASSERT_OK(CatchUp());
  Follower* const followers[] = {&follower_};
  ASSERT_OK(CheckHeads(journal_, followers, Soon()));
  EXPECT_THAT(Of(kThings).health, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_OK(follower_.view()->Whole());
}

// Somebody put the rows back and others wrote on, all while this replica was paused.
TEST_F(RebuildTest, AStreamThatStoppedAtAnotherHistoryStartsOver) {
  support::ExpectErrorLogs();
  const std::uint64_t before = HistoryChanges();
  CopyTransaction(Tx{1});
  CopyTransaction(Tx{2});
  AppendOne(restored_->journal(), kThings, "a", "other");
  AppendOne(restored_->journal(), kThings, "a", "later");
  journal_.SwitchTo(restored_->journal(), "");
  ASSERT_OK(CatchUp());
  EXPECT_THAT(Of(kThings).health, StatusIs(absl::StatusCode::kDataLoss));
  Follower* const followers[] = {&follower_};
  ASSERT_OK(CheckHeads(journal_, followers, Soon()));
  EXPECT_EQ(Value("a"), "refused");
  EXPECT_EQ(HistoryChanges(), before + 1);
  ASSERT_OK(follower_.Refold(journal_, Soon()));
  ASSERT_OK(CatchUp());
  EXPECT_EQ(Value("a"), "later");
}

TEST_F(RebuildTest, HappensInTheBackgroundUntilTheStoreCanBeRead) {
  support::ExpectErrorLogs();
  Coalescer coalescer(journal_, follower_, {});
  std::atomic<int> scans = 0;
  journal_.hooks.before_scan = [&] {
    return ++scans < 3 ? absl::UnavailableError("store away") : absl::OkStatus();
  };
  Rebuilder rebuilder(journal_, follower_,
                      {.max_jitter = std::chrono::milliseconds(1),
                       .retry_interval = std::chrono::milliseconds(1),
                       .refolded = [&] { coalescer.Join([](const absl::StatusOr<ViewPtr>&) {}); }});
  LoseTheLastThing();
  ASSERT_OK(coalescer.JoinAndWait());
  EXPECT_TRUE(support::WaitFor([&] { return Value("b") == "new"; }, Soon()));
  EXPECT_EQ(scans, 3);
}

}  // namespace
}  // namespace engine
