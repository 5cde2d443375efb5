#include "engine/committer.h"

#include <atomic>
#include <utility>

#include "tests/engine/committer_fixture.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"

namespace engine {
namespace {

using Kind = CommandOutcome::Kind;
using support::AppendOne;
using support::Ended;
using support::kAudit;
using support::kThings;
using support::StatusIs;

class CommitterTest : public testing::Test, protected CommitterFixture {};

TEST_F(CommitterTest, ACommandAndItsAuditEntryCommitAsOne) {
  Open();
  Submit(PutAlways("a", "1"));
  const Ended ended = WaitForAll().front();
  EXPECT_EQ(ended.kind, Kind::kCommitted);
  const std::vector<Record> rows = AllRows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].stream, kAudit);
  EXPECT_EQ(rows[0].tx, rows[1].tx);
  EXPECT_EQ(ended.tx, rows[0].tx);
  ASSERT_EQ(ended.records.size(), 2U);
  EXPECT_EQ(ended.records.back().stream, kAudit);
  const std::string entry(rows[0].payload.view());
  EXPECT_NE(entry.find("\"halo.records\":\"things:1\""), std::string::npos) << entry;
  EXPECT_NE(entry.find("\"action\":\"toy.put\""), std::string::npos) << entry;
  EXPECT_EQ(audit_->view()->Find(kAudit)->position, Position{1});
}

TEST_F(CommitterTest, WhatQueuedMeanwhileIsOneTransaction) {
  Open();
  Hold();
  for (int i = 0; i < 20; ++i) {
    Submit(PutAlways("key" + std::to_string(i), "v"));
  }
  WaitForBegins(1);
  Release();
  for (const Ended& ended : WaitForAll()) {
    EXPECT_EQ(ended.kind, Kind::kCommitted);
    EXPECT_EQ(ended.tx, Tx{1});
  }
  EXPECT_EQ(committer_->counters().batches, 1U);
  EXPECT_EQ(committer_->counters().records, 40U);
}

TEST_F(CommitterTest, AViewThatHoldsACommandIsPublishedBeforeItIsAnswered) {
  Open();
  for (int i = 0; i < 20; ++i) {
    Submit(PutAlways("a", std::to_string(i)));
    WaitForAll();
    EXPECT_EQ(Values().at("a"), std::to_string(i));
  }
}

TEST_F(CommitterTest, ACommandThatTouchesAnEarlierOnesChangeWaitsForTheNextBatch) {
  Open();
  Hold();
  for (int i = 0; i < 5; ++i) {
    Submit(Increment("counter"));
  }
  Submit(PutIfAbsent("counter", "first"));
  WaitForBegins(1);
  Release();
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(Values().at("counter"), "5");
  EXPECT_THAT(ended[5].answer, testing::StartsWith("there: "));
  EXPECT_EQ(ended[5].kind, Kind::kNothing);
  EXPECT_GE(committer_->counters().deferred, 5U);
}

TEST_F(CommitterTest, OfTwoCreatesOfOneNameOneIsRefused) {
  Open();
  Hold();
  Submit(PutIfAbsent("name", "mine"));
  Submit(PutIfAbsent("name", "yours"));
  WaitForBegins(1);
  Release();
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[0].answer, "created");
  EXPECT_EQ(ended[1].answer, "there: mine");
  EXPECT_EQ(Values().at("name"), "mine");
}

TEST_F(CommitterTest, AForeignWriterBetweenQueueAndLockIsSeen) {
  Open();
  Hold();
  Submit(PutIfAbsent("name", "mine"));
  WaitForBegins(1);
  AppendOne(store_->journal(), kThings, "name", "foreign");
  Release();
  EXPECT_EQ(WaitForAll().front().answer, "there: foreign");
  EXPECT_EQ(AllRows().size(), 1U);
}

TEST_F(CommitterTest, NothingToWriteMeansNoTransaction) {
  Open();
  Submit([](support::ToyWork&) { return std::string("refused"); });
  EXPECT_EQ(WaitForAll().front().kind, Kind::kNothing);
  EXPECT_EQ(committer_->counters().batches, 0U);
  EXPECT_TRUE(AllRows().empty());
}

TEST_F(CommitterTest, OnlyTheGuiltyCommandOfAFailedBatchGetsTheError) {
  journal_.hooks.on_commit = [](const std::vector<Record>& rows, const auto& commit) {
    for (const Record& row : rows) {
      if (row.payload.view() == "poison") {
        return CommitOutcome{CommitOutcome::Kind::kFailed, absl::InternalError("poison")};
      }
    }
    return commit();
  };
  Open();
  Hold();
  Submit(PutAlways("a", "1"));
  Submit(PutAlways("b", "poison"));
  Submit(PutAlways("c", "3"));
  WaitForBegins(1);
  Release();
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[0].kind, Kind::kCommitted);
  EXPECT_EQ(ended[1].kind, Kind::kFailed);
  EXPECT_THAT(ended[1].why, StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(ended[2].kind, Kind::kCommitted);
  EXPECT_THAT(Values(), testing::ElementsAre(testing::Pair("a", "1"), testing::Pair("c", "3")));
}

TEST_F(CommitterTest, AStoreThatCannotBeReachedFailsEveryoneAndWritesNothing) {
  Open();
  Hold();
  Submit(PutAlways("a", "1"));
  Submit(PutAlways("b", "2"));
  WaitForBegins(1);
  Release(absl::UnavailableError("store away"));
  for (const Ended& ended : WaitForAll()) {
    EXPECT_EQ(ended.kind, Kind::kFailed);
    EXPECT_THAT(ended.why, StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_TRUE(AllRows().empty());
  Release();
  Submit(PutAlways("a", "1"));
  EXPECT_EQ(WaitForAll().back().kind, Kind::kCommitted) << "and it recovers";
}

TEST_F(CommitterTest, ACommandPastItsDeadlineIsDroppedUnjudged) {
  Open();
  Hold();
  bool judged = false;
  const Deadline deadline = Deadline::After(std::chrono::milliseconds(300));
  // It is in time when the lock is granted, and late when its turn comes.
  Submit([&](support::ToyWork& work) {
    support::WaitFor([&] { return deadline.HasPassed(); }, support::Soon());
    work.Put("a", "1");
    return std::string();
  });
  Submit(
      [&](support::ToyWork& work) {
        judged = true;
        work.Put("b", "2");
        return std::string();
      },
      deadline);
  WaitForBegins(1);
  Release();
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[0].kind, Kind::kCommitted);
  EXPECT_EQ(ended[1].kind, Kind::kFailed);
  EXPECT_THAT(ended[1].why, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_FALSE(judged);
}

TEST_F(CommitterTest, WhoseDeadlinePassesIsToldWhileTheOthersWaitOnForTheLock) {
  Open();
  Hold();
  Submit(PutAlways("a", "1"));
  Submit(PutAlways("b", "2"), Deadline::After(std::chrono::milliseconds(50)));
  const Ended late = outcomes_.WaitFor(1).front();
  EXPECT_THAT(late.why, StatusIs(absl::StatusCode::kDeadlineExceeded));
  Release();
  EXPECT_EQ(WaitForAll()[0].kind, Kind::kCommitted);
  EXPECT_EQ(Begins(), 1) << "the place in the queue for the lock was kept";
  EXPECT_THAT(Values(), testing::ElementsAre(testing::Pair("a", "1")));
}

TEST_F(CommitterTest, ACommitDoesNotBeginAfterADeadlineOfItsBatch) {
  // The store is quick to grant the lock and slow after it.
  Open();
  const Deadline deadline = Deadline::After(std::chrono::milliseconds(100));
  Hold();
  Submit(PutAlways("a", "1"));
  Submit(
      [&](support::ToyWork& work) {
        work.Put("b", "2");
        support::WaitFor([&] { return deadline.HasPassed(); }, support::Soon());
        return std::string();
      },
      deadline);
  WaitForBegins(1);
  Release();
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[0].kind, Kind::kCommitted);
  EXPECT_THAT(ended[1].why, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(Values(), testing::ElementsAre(testing::Pair("a", "1")));
}

TEST_F(CommitterTest, ABatchThatFailsThroughNobodysFaultIsTriedTogetherAgain) {
  int commits = 0;
  journal_.hooks.on_commit = [&commits](const std::vector<Record>&, const auto& commit) {
    if (++commits == 1) {
      return CommitOutcome{CommitOutcome::Kind::kFailed, absl::UnavailableError("broke")};
    }
    return commit();
  };
  Open();
  Hold();
  for (int i = 0; i < 10; ++i) {
    Submit(PutAlways("key" + std::to_string(i), "v"));
  }
  WaitForBegins(1);
  Release();
  for (const Ended& ended : WaitForAll()) {
    EXPECT_EQ(ended.kind, Kind::kCommitted);
  }
  EXPECT_EQ(commits, 2);
}

TEST_F(CommitterTest, AStoreThatGivesUpEarlyIsNotAskedAgainForTheSameCommand) {
  // As Postgres does, whose lock_timeout ends a little before the deadline.
  int begins = 0;
  journal_.hooks.before_begin = [&begins] {
    return ++begins == 1 ? absl::DeadlineExceededError("lock_timeout") : absl::OkStatus();
  };
  Open();
  Submit(PutAlways("a", "1"), Deadline::After(std::chrono::seconds(20)));
  EXPECT_THAT(WaitForAll().front().why, StatusIs(absl::StatusCode::kDeadlineExceeded));
  Submit(PutAlways("b", "2"));
  EXPECT_EQ(WaitForAll().back().kind, Kind::kCommitted);
  EXPECT_EQ(begins, 2);
}

TEST_F(CommitterTest, WhatNoTransactionCanHoldIsNoOverload) {
  Open();
  Submit([](support::ToyWork& work) {
    for (int i = 0; i < 5; ++i) {
      work.Put("k" + std::to_string(i), std::string(kMaxRecordBytes - 1000, 'x'));
    }
    return std::string();
  });
  EXPECT_THAT(WaitForAll().front().why, StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(CommitterTest, AFullQueueRefusesAtOnce) {
  Open({.max_queue = 2});
  Hold();
  Submit(PutAlways("a", "1"));
  WaitForBegins(1);
  Submit(PutAlways("b", "2"));
  Submit(PutAlways("c", "3"));
  const Ended refused = outcomes_.WaitFor(1).front();
  EXPECT_THAT(refused.why, StatusIs(absl::StatusCode::kResourceExhausted));
  Release();
  WaitForAll();
  EXPECT_THAT(Values(), testing::ElementsAre(testing::Pair("a", "1"), testing::Pair("b", "2")));
}

TEST_F(CommitterTest, WhatAConflictCarriesOverCountsAsQueued) {
  // Every commit of "hot" lets one through; the others wait on outside of the queue.
  Open({.max_queue = 8});
  Hold();
  Submit(PutAlways("hot", "0"));
  WaitForBegins(1);
  for (int i = 1; i < 8; ++i) {
    Submit(PutAlways("hot", std::to_string(i)));
  }
  bool second = false;
  journal_.hooks.on_commit = [this, &second](const auto&, const auto& commit) {
    if (!std::exchange(second, true)) {
      Hold();
    }
    return commit();
  };
  Release();
  WaitForBegins(2);  // Seven were carried over, and the second transaction holds nobody yet.
  Submit(PutAlways("a", "1"));
  Submit(PutAlways("b", "2"));
  Release();
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[8].kind, Kind::kCommitted);
  EXPECT_THAT(ended[9].why, StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(CommitterTest, AQueueForOneKeyIsNotJudgedAgainForEachCommit) {
  constexpr int kCommands = 50;
  std::atomic<int> judged = 0;
  Open();
  Hold();
  for (int i = 0; i < kCommands; ++i) {
    Submit([&judged](support::ToyWork& work) {
      ++judged;
      const std::string there = work.Get("hot");
      work.Put("hot", there + "x");
      return there;
    });
  }
  WaitForBegins(1);
  Release();
  WaitForAll();
  EXPECT_EQ(Values().at("hot"), std::string(kCommands, 'x'));
  EXPECT_LE(judged, 3 * kCommands) << "once with everyone, once when it is its turn";
}

TEST_F(CommitterTest, AStoppedStreamHoldsUpNoOther) {
  support::ExpectErrorLogs();
  std::vector<std::unique_ptr<Projection>> projections;
  projections.push_back(std::make_unique<support::ToyProjection>(support::kEvents));
  projections.push_back(std::make_unique<support::ToyProjection>());
  follower_ = std::make_unique<Follower>(std::move(projections));
  AppendOne(store_->journal(), support::kEvents, "", "undecodable");
  // More than a page of it, so that no page would ever be complete.
  const std::string big(kMaxRecordBytes, 'b');
  for (std::size_t bytes = 0; bytes <= kNewsPageBytes; bytes += big.size()) {
    AppendOne(store_->journal(), support::kEvents, "", big);
  }
  Open();
  Submit(PutAlways("a", "1"), Deadline::After(std::chrono::seconds(5)));
  EXPECT_EQ(WaitForAll().front().kind, Kind::kCommitted);
  EXPECT_EQ(Values().at("a"), "1");
  EXPECT_THAT(follower_->view()->Find(support::kEvents)->health,
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(CommitterTest, ARecordOverTheLimitFailsItsCommandOnly) {
  Open();
  Hold();
  Submit(PutAlways("a", std::string(kMaxRecordBytes + 1, 'x')));
  Submit(PutAlways("b", "2"));
  WaitForBegins(1);
  Release();
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_THAT(ended[0].why, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(ended[1].kind, Kind::kCommitted);
  EXPECT_THAT(Values(), testing::ElementsAre(testing::Pair("b", "2")));
}

TEST_F(CommitterTest, AStoreThatEndsElsewhereThanOurStateIsRefused) {
  support::ExpectErrorLogs();
  Open();
  Submit(PutAlways("a", "1"));
  WaitForAll();
  // The store's row is lost after we folded it, and no other life of it answers: someone took it.
  std::unique_ptr<Engine> shorter = memory::Open(support::Streams());
  journal_.SwitchTo(shorter->journal(), "");
  Submit(PutAlways("b", "2"));
  EXPECT_THAT(WaitForAll().back().why, StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_OK_AND_ASSIGN(const auto tails, shorter->journal().Tails(support::Soon()));
  EXPECT_EQ(tails.back().position, Position::kBeforeFirst);
  committer_.reset();  // It compares the histories after the answer, and before the store ends.
  EXPECT_EQ(follower_->view()->Find(kThings)->rebuilding, Rebuilding::kForgotten);
}

TEST_F(CommitterTest, AnotherHistoryUnderTheLockIsNotWrittenTo) {
  support::ExpectErrorLogs();
  Open();
  Submit(PutAlways("a", "1"));
  WaitForAll();
  // A restored database answers, under another life: as far along as we are, and not our history.
  const std::unique_ptr<Engine> restored = memory::Open(support::Streams());
  AppendOne(restored->journal(), kAudit, "", "another entry");
  AppendOne(restored->journal(), kThings, "z", "26");
  journal_.SwitchTo(restored->journal(), "restored");
  Submit(PutAlways("b", "2"));
  EXPECT_THAT(WaitForAll().back().answer, testing::HasSubstr("is being rebuilt"));
  committer_.reset();
}

TEST_F(CommitterTest, ADamagedAuditStopsWhatMustBeAudited) {
  support::ExpectErrorLogs();
  Open();
  AppendOne(store_->journal(), kAudit, "", "undecodable");
  ASSERT_OK(audit_->Replay(store_->journal(), std::nullopt, support::Soon()));
  Submit(PutAlways("a", "1"));
  EXPECT_THAT(WaitForAll().front().why, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(AllRows().size(), 1U);
}

}  // namespace
}  // namespace engine
