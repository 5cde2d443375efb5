// Commands that come with a retry key are done once, however often they are sent; fenced ones are
// written under a live term or not at all.

#include <gmock/gmock.h>

#include "tests/engine/committer_fixture.h"
#include "tests/support/poll.h"

namespace engine {
namespace {

using support::Ended;
using support::StatusIs;
using support::ToyKey;
using Kind = CommandOutcome::Kind;

class RetryTest : public CommitterFixture, public testing::Test {
 protected:
  std::size_t SubmitWith(RetryKey key, support::ToyBody body) {
    return Submit(std::move(body), support::ToyTerms{.key = std::move(key)});
  }
  // Gathers what `submit` submits into one batch.
  template <class Submitting>
  void InOneBatch(Submitting submit) {
    Hold();
    submit();
    WaitForBegins(1);
    Release();
  }
};

TEST_F(RetryTest, TheSecondRequestUnderAKeyGetsTheFirstAnswer) {
  Open();
  SubmitWith(ToyKey("k"), Increment("counter"));
  const Ended first = WaitForAll().front();
  EXPECT_EQ(first.kind, Kind::kCommitted);
  Submit(Increment("counter"));
  SubmitWith(ToyKey("k"), Increment("counter"));
  const Ended second = WaitForAll().back();
  EXPECT_EQ(second.kind, Kind::kRepeated);
  EXPECT_EQ(second.answer, "1");
  EXPECT_EQ(second.tx, first.tx);
  EXPECT_EQ(Values().at("counter"), "2");
  // Counted with its batch, which ends after its commands were told.
  EXPECT_TRUE(support::WaitFor([&] { return committer_->counters().repeated == 1; },
                               Deadline::After(std::chrono::seconds(30))));
}

TEST_F(RetryTest, AnotherRequestUnderTheKeyIsRefusedUnjudged) {
  Open();
  SubmitWith(ToyKey("k", "one"), Increment("counter"));
  bool judged = false;
  SubmitWith(ToyKey("k", "two"), [&](support::ToyWork& work) {
    judged = true;
    work.Put("other", "x");
    return std::string();
  });
  const Ended reused = WaitForAll().back();
  EXPECT_EQ(reused.kind, Kind::kKeyReused);
  EXPECT_EQ(reused.answer, "");
  EXPECT_FALSE(judged);
  EXPECT_EQ(Values().size(), 1U);
}

TEST_F(RetryTest, TwinsInOneBatchAreDoneOnce) {
  Open();
  InOneBatch([&] {
    for (int i = 0; i < 5; ++i) {
      SubmitWith(ToyKey("k"), Increment("counter"));
    }
  });
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[0].kind, Kind::kCommitted);
  for (std::size_t i = 1; i < ended.size(); ++i) {
    EXPECT_EQ(ended[i].kind, Kind::kRepeated);
    EXPECT_EQ(ended[i].answer, "1");
  }
  EXPECT_EQ(Values().at("counter"), "1");
  EXPECT_EQ(committer_->counters().failed, 0U);
}

TEST_F(RetryTest, RefusalsAndNoOpsAreJudgedAfresh) {
  Open();
  SubmitWith(ToyKey("k"), [](support::ToyWork&) { return std::string("refused"); });
  EXPECT_EQ(WaitForAll().front().kind, Kind::kNothing);
  SubmitWith(ToyKey("k"), Increment("counter"));
  EXPECT_EQ(WaitForAll().back().kind, Kind::kCommitted);
}

TEST_F(RetryTest, AFailedCommitKeepsNoAnswer) {
  journal_.hooks.on_commit = [first = true](const auto&, const auto& commit) mutable {
    if (std::exchange(first, false)) {
      return CommitOutcome{CommitOutcome::Kind::kFailed, absl::UnavailableError("broke")};
    }
    return commit();
  };
  Open();
  SubmitWith(ToyKey("k"), Increment("counter"));
  EXPECT_EQ(WaitForAll().front().kind, Kind::kFailed);
  SubmitWith(ToyKey("k"), Increment("counter"));
  EXPECT_EQ(WaitForAll().back().kind, Kind::kCommitted);
}

TEST_F(RetryTest, ARetryAfterAnUnknownOutcomeGetsTheAnswerOfWhatWasDone) {
  journal_.hooks.on_commit = [this](const auto&, const auto& commit) {
    commit();
    Release(absl::UnavailableError("store away"));
    return CommitOutcome{CommitOutcome::Kind::kUnknown, absl::UnknownError("cut")};
  };
  Open();
  Submit(Increment("counter"),
         support::ToyTerms{.deadline = Deadline::After(std::chrono::milliseconds(200)),
                           .key = ToyKey("k")});
  EXPECT_EQ(WaitForAll().front().kind, Kind::kUnknown);
  journal_.hooks.on_commit = {};
  Release();
  SubmitWith(ToyKey("k"), Increment("counter"));
  const Ended retried = WaitForAll().back();
  EXPECT_EQ(retried.kind, Kind::kRepeated);
  EXPECT_EQ(retried.answer, "1");
}

TEST_F(RetryTest, OfABatchWhoseOutcomeIsUnknownEachIsToldByItsOwnDeadline) {
  journal_.hooks.on_commit = [this, first = true](const auto&, const auto& commit) mutable {
    const CommitOutcome outcome = commit();
    if (!std::exchange(first, false)) {
      return outcome;
    }
    Release(absl::UnavailableError("store away"));
    return CommitOutcome{CommitOutcome::Kind::kUnknown, absl::UnknownError("cut")};
  };
  Open();
  InOneBatch([&] {
    Submit(PutAlways("a", "1"), Deadline::After(std::chrono::milliseconds(200)));
    SubmitWith(ToyKey("b"), PutAlways("b", "2"));
  });
  EXPECT_EQ(outcomes_.WaitFor(1).front().kind, Kind::kUnknown) << "it waits for no longer one";
  Release();
  EXPECT_EQ(WaitForAll()[1].kind, Kind::kCommitted);
  EXPECT_EQ(Values().size(), 2U);
}

TEST_F(RetryTest, AnAnswerThatIsTooLargeFailsItsCommandOnly) {
  Open();
  InOneBatch([&] {
    SubmitWith(ToyKey("large"), [](support::ToyWork& work) {
      work.Put("large", "x");
      return std::string(kMaxTransactionBytes, 'x');
    });
    SubmitWith(ToyKey("small"), Increment("counter"));
  });
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[0].kind, Kind::kFailed);
  EXPECT_EQ(ended[1].kind, Kind::kCommitted);
  EXPECT_THAT(Values(), testing::ElementsAre(testing::Pair("counter", "1")));
}

TEST_F(RetryTest, AFencedCommandOfAnEndedTermHarmsNoOther) {
  Open();
  const Fence ended_term{.lease = "controller", .holder = "old", .token = 1};
  InOneBatch([&] {
    Submit(Increment("counter"));
    Submit(PutAlways("fenced", "x"), support::ToyTerms{.fence = ended_term});
    Submit(PutAlways("fenced", "y"), support::ToyTerms{.fence = ended_term});
    Submit(PutAlways("other", "z"));
  });
  const std::vector<Ended> ended = WaitForAll();
  EXPECT_EQ(ended[0].kind, Kind::kCommitted);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(ended[i].kind, Kind::kFailed);
    EXPECT_TRUE(IsFenced(ended[i].why)) << ended[i].why;
  }
  EXPECT_EQ(ended[3].kind, Kind::kCommitted);
  EXPECT_THAT(Values(),
              testing::ElementsAre(testing::Pair("counter", "1"), testing::Pair("other", "z")));
}

Catalogue StreamsWithFencedThings() {
  Catalogue streams = support::Streams();
  for (StreamSpec& spec : streams) {
    spec.fenced = spec.id == support::kThings;
  }
  return streams;
}

class FencedStreamTest : public CommitterFixture, public testing::Test {
 protected:
  FencedStreamTest() : CommitterFixture(StreamsWithFencedThings()) {}
};

TEST_F(FencedStreamTest, IsNotWrittenWithoutATerm) {
  Open();
  Submit(PutAlways("thing", "x"));
  const Ended ended = WaitForAll().front();
  EXPECT_EQ(ended.kind, Kind::kFailed);
  EXPECT_THAT(ended.why, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(AllRows().empty());
}

}  // namespace
}  // namespace engine
