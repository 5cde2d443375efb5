// Commits whose answer was lost: settled under the lock, or called unknown.

#include <utility>

#include "tests/engine/committer_fixture.h"

namespace engine {
namespace {

using Kind = CommandOutcome::Kind;
using support::AppendOne;
using support::Ended;
using support::kAudit;
using support::kThings;
using support::StatusIs;

class UnknownOutcomeTest : public testing::Test, protected CommitterFixture {
 protected:
  // The first commit's answer is lost; `really` says whether it happened.
  void LoseFirstAnswer(bool really) {
    journal_.hooks.on_commit = [really, first = true](const auto&, const auto& commit) mutable {
      if (!std::exchange(first, false)) {
        return commit();
      }
      if (really) {
        commit();
      }
      return CommitOutcome{CommitOutcome::Kind::kUnknown, absl::UnknownError("cut")};
    };
  }
};

TEST_F(UnknownOutcomeTest, ThatWasACommitIsAnsweredAsOneAndDoneOnce) {
  LoseFirstAnswer(true);
  Open();
  Submit(Increment("counter"));
  const Ended ended = WaitForAll().front();
  EXPECT_EQ(ended.kind, Kind::kCommitted);
  EXPECT_EQ(Values().at("counter"), "1");
  EXPECT_EQ(AllRows().size(), 2U);
  EXPECT_EQ(committer_->counters().unknown, 1U);
}

TEST_F(UnknownOutcomeTest, ThatWasNoneWritesNothing) {
  LoseFirstAnswer(false);
  Open();
  Submit(Increment("counter"));
  EXPECT_EQ(WaitForAll().front().kind, Kind::kFailed);
  EXPECT_TRUE(AllRows().empty());
  Submit(Increment("counter"));
  EXPECT_EQ(WaitForAll().back().kind, Kind::kCommitted);
}

TEST_F(UnknownOutcomeTest, ForeignRowsAtItsPositionsMeanItFailed) {
  journal_.hooks.on_commit = [first = true](const auto&, const auto& commit) mutable {
    if (!std::exchange(first, false)) {
      return commit();
    }
    return CommitOutcome{CommitOutcome::Kind::kUnknown, absl::UnknownError("cut")};
  };
  Open();
  Submit(Increment("counter"));
  EXPECT_EQ(WaitForAll().front().kind, Kind::kFailed);
  AppendOne(store_->journal(), kThings, "counter", "41");
  Submit(Increment("counter"));
  EXPECT_EQ(WaitForAll().back().answer, "42");
}

TEST_F(UnknownOutcomeTest, AForeignWriterThatComesFirstIsNotTakenForIt) {
  // The lost commit never happened, and before it is settled another writer has its positions.
  LoseFirstAnswer(false);
  int begins = 0;
  journal_.hooks.before_begin = [this, &begins] {
    if (++begins == 2) {
      AppendOne(store_->journal(), kThings, "counter", "41");
      AppendOne(store_->journal(), kAudit, "", "foreign");
    }
    return absl::OkStatus();
  };
  Open();
  Submit(Increment("counter"));
  EXPECT_EQ(WaitForAll().front().kind, Kind::kFailed);
  Submit(Increment("counter"));
  EXPECT_EQ(WaitForAll().back().answer, "42");
}

TEST_F(UnknownOutcomeTest, ThatIsSettledAfterForeignRowsIsStillACommit) {
  LoseFirstAnswer(true);
  int begins = 0;
  journal_.hooks.before_begin = [this, &begins] {
    if (++begins == 2) {
      AppendOne(store_->journal(), kThings, "counter", "41");
    }
    return absl::OkStatus();
  };
  Open();
  Submit(Increment("counter"));
  EXPECT_EQ(WaitForAll().front().kind, Kind::kCommitted);
  Submit(Increment("counter"));
  EXPECT_EQ(WaitForAll().back().answer, "42");
}

TEST_F(UnknownOutcomeTest, OfABatchIsSettledForEachOfItsCommands) {
  LoseFirstAnswer(false);
  Open();
  Hold();
  for (int i = 0; i < 5; ++i) {
    Submit(PutAlways("key" + std::to_string(i), "v"));
  }
  WaitForBegins(1);
  Release();
  for (const Ended& ended : WaitForAll()) {
    EXPECT_EQ(ended.kind, Kind::kCommitted) << "all were tried again";
  }
  EXPECT_EQ(Values().size(), 5U);
  EXPECT_EQ(AllRows().size(), 10U);
}

TEST_F(UnknownOutcomeTest, EndsWithAShutdown) {
  journal_.hooks.on_commit = [this](const auto&, const auto&) {
    Release(absl::UnavailableError("store away"));
    return CommitOutcome{CommitOutcome::Kind::kUnknown, absl::UnknownError("cut")};
  };
  Open();
  Submit(Increment("counter"));
  WaitForBegins(2);  // It is being settled.
  Submit(Increment("counter"));
  committer_.reset();
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[0].kind, Kind::kUnknown);
  EXPECT_EQ(ended[1].kind, Kind::kFailed);
  EXPECT_THAT(ended[1].why, StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(UnknownOutcomeTest, IsCalledUnknownWhenTheStoreStaysAway) {
  journal_.hooks.on_commit = [this](const auto&, const auto& commit) {
    commit();
    Release(absl::UnavailableError("store away"));
    return CommitOutcome{CommitOutcome::Kind::kUnknown, absl::UnknownError("cut")};
  };
  Open();
  Submit(Increment("counter"), Deadline::After(std::chrono::milliseconds(300)));
  EXPECT_EQ(WaitForAll().front().kind, Kind::kUnknown);
  journal_.hooks.on_commit = {};
  Release();
  Submit(Increment("counter"));
  const Ended next = WaitForAll().back();
  EXPECT_EQ(next.answer, "2") << "what became of it is seen by the next command";
}

}  // namespace
}  // namespace engine
