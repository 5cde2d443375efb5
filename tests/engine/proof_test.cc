#include "engine/proof.h"

#include <gmock/gmock.h>

#include "tests/support/clocks.h"
#include "tests/support/status_matchers.h"

namespace engine {
namespace {

using support::StatusIs;

class ProofTest : public testing::Test {
 protected:
  const Origin ours_{"ours"};
  const Origin other_{"other"};
  support::HandClock clock_;
  Proof proof_{std::chrono::seconds(1), clock_};
};

TEST_F(ProofTest, NothingIsProvenBeforeTheFirstCommit) {
  EXPECT_THAT(proof_.Check(ours_), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(proof_.Age(), std::nullopt);
}

TEST_F(ProofTest, ACommitProvesForASecondFromBeforeItWasSent) {
  const Duration sent = clock_.SinceBoot();
  clock_.Advance(std::chrono::milliseconds(400));  // The answer took that long.
  proof_.Acknowledged(ours_, sent);
  EXPECT_OK(proof_.Check(ours_));
  clock_.Set(sent + std::chrono::seconds(1));
  EXPECT_OK(proof_.Check(ours_));
  clock_.Advance(std::chrono::nanoseconds(1));
  EXPECT_THAT(proof_.Check(ours_), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ProofTest, AnAcknowledgementReadAfterALongStopProvesNothing) {
  const Duration sent = clock_.SinceBoot();
  clock_.Advance(std::chrono::seconds(30));  // SIGSTOP, SIGCONT.
  proof_.Acknowledged(ours_, sent);
  EXPECT_THAT(proof_.Check(ours_), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ProofTest, AnotherLifesAnswerIsNotProven) {
  proof_.Acknowledged(ours_, clock_.SinceBoot());
  EXPECT_THAT(proof_.Check(other_), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ProofTest, AnOlderCommitThatIsToldLaterDoesNotCount) {
  proof_.Acknowledged(ours_, clock_.SinceBoot());
  proof_.Acknowledged(other_, clock_.SinceBoot() - std::chrono::milliseconds(10));
  EXPECT_OK(proof_.Check(ours_));
}

TEST_F(ProofTest, AnObjectionDeniesWhoeverAnswers) {
  proof_.Acknowledged(ours_, clock_.SinceBoot());
  proof_.SetObjection(absl::UnavailableError("replicas differ"));
  EXPECT_THAT(proof_.Check(ours_), StatusIs(absl::StatusCode::kUnavailable));
  absl::Status told;
  proof_.Ask(ours_, [&](const absl::Status& status) { told = status; });
  EXPECT_THAT(told, StatusIs(absl::StatusCode::kUnavailable)) << "no commit would help";
  proof_.SetObjection(absl::OkStatus());
  EXPECT_OK(proof_.Check(ours_));
}

TEST_F(ProofTest, WhoAsksTooEarlyIsToldByTheNextCommit) {
  int wanted = 0;
  proof_.SetOnWanted([&] { ++wanted; });
  std::vector<absl::Status> told;
  const auto ask = [&](const Origin& origin) {
    proof_.Ask(origin, [&](const absl::Status& status) { told.push_back(status); });
  };
  ask(ours_);
  ask(other_);
  EXPECT_THAT(told, testing::IsEmpty());
  EXPECT_EQ(wanted, 2);
  proof_.Acknowledged(ours_, clock_.SinceBoot());
  ASSERT_THAT(told, testing::SizeIs(2));
  EXPECT_OK(told[0]);
  EXPECT_THAT(told[1], StatusIs(absl::StatusCode::kUnavailable));
  ask(ours_);
  EXPECT_THAT(told, testing::SizeIs(3));
  EXPECT_EQ(wanted, 2);
}

TEST_F(ProofTest, ACommitThatFailsDeniesWhoWaits) {
  absl::Status told;
  proof_.Ask(ours_, [&](const absl::Status& status) { told = status; });
  proof_.Failed(absl::UnavailableError("store away"));
  EXPECT_THAT(told, StatusIs(absl::StatusCode::kUnavailable, testing::HasSubstr("store away")));
}

}  // namespace
}  // namespace engine
