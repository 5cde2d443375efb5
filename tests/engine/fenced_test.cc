#include "engine/fenced.h"

#include <gmock/gmock.h>

#include "tests/engine/committer_fixture.h"

namespace engine {
namespace {

using support::Soon;
using support::StatusIs;

class FencedWriterTest : public CommitterFixture, public testing::Test {
 protected:
  Fence Take(const std::string& holder) {
    const auto answer =
        store_->leases().Acquire("controller", holder, std::chrono::minutes(5), Soon());
    EXPECT_OK(answer);
    return {.lease = "controller", .holder = holder, .token = answer->token};
  }
  static FencedWriter::Body Put(const std::string& key, const std::string& value) {
    return [=](const DecideContext& context, const InTerm&) -> absl::StatusOr<Proposal> {
      support::ToyWork work(context);
      work.Put(key, value);
      return std::move(work).proposal();
    };
  }
};

TEST_F(FencedWriterTest, WritesWhileItsTermLives) {
  Open();
  FencedWriter writer(*committer_, Take("one"));
  const FencedOutcome outcome = writer.Write(
      [&](const DecideContext& context, const InTerm& term) -> absl::StatusOr<Proposal> {
        EXPECT_EQ(term.fence(), writer.fence());
        support::ToyWork work(context);
        work.Put("a", "1");
        return std::move(work).proposal();
      },
      Soon());
  ASSERT_OK(outcome.status);
  EXPECT_EQ(outcome.tx, Tx{1});
  EXPECT_EQ(outcome.position, Position{1});
  EXPECT_EQ(Values().at("a"), "1");
}

TEST_F(FencedWriterTest, ARefusalOfItsBodyIsTold) {
  Open();
  FencedWriter writer(*committer_, Take("one"));
  const FencedOutcome outcome = writer.Write(
      [](const DecideContext&, const InTerm&) -> absl::StatusOr<Proposal> {
        return absl::AbortedError("another version");
      },
      Soon());
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_FALSE(writer.ended());
  EXPECT_TRUE(AllRows().empty());
}

TEST_F(FencedWriterTest, NothingToWriteIsNoError) {
  Open();
  FencedWriter writer(*committer_, Take("one"));
  const FencedOutcome outcome = writer.Write(
      [](const DecideContext&, const InTerm&) -> absl::StatusOr<Proposal> { return Proposal{}; },
      Soon());
  EXPECT_OK(outcome.status);
  EXPECT_EQ(outcome.position, Position::kBeforeFirst);
}

TEST_F(FencedWriterTest, IsOverWithItsFirstFencedWrite) {
  Open();
  FencedWriter writer(*committer_, Take("one"));
  ASSERT_OK(store_->leases().Release(writer.fence(), Soon()));
  EXPECT_TRUE(IsFenced(writer.Write(Put("a", "1"), Soon()).status));
  EXPECT_TRUE(writer.ended());
  EXPECT_TRUE(IsFenced(writer.Write(Put("a", "2"), Soon()).status));
  EXPECT_TRUE(AllRows().empty());
  FencedWriter next(*committer_, Take("one"));
  EXPECT_OK(next.Write(Put("a", "3"), Soon()).status);
}

TEST_F(FencedWriterTest, ADeadlineIsNoFence) {
  Open();
  FencedWriter writer(*committer_, Take("one"));
  const FencedOutcome late = writer.Write(Put("a", "1"), Deadline::After(Duration(0)));
  EXPECT_THAT(late.status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_FALSE(writer.ended());
  EXPECT_OK(writer.Write(Put("a", "2"), Soon()).status);
}

}  // namespace
}  // namespace engine
