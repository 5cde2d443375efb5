// `halo journal cat --follow`, `tail` and `diff`.

#include <filesystem>

#include <gmock/gmock.h>

#include "api/cli/commands.h"
#include "engine/base/thread.h"
#include "tests/api/cli/kills.h"

namespace api::cli {
namespace {

using support::StatusIs;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FollowTest : public KillsTest {};
class DiffTest : public KillsTest {
 protected:
  std::string Copy() {
    const std::string copy = directory_->path() + "/copy";
    std::filesystem::copy(flags_.data_dir, copy, std::filesystem::copy_options::recursive);
    return copy;
  }
};

TEST_F(FollowTest, PrintsWhatWasThereAndWhatComes) {
  absl::Status status;
  {
    const engine::Thread reader("reader", [&] {
      status = JournalCat(
          {.store = flags_, .stream = "killswitch", .from = 4, .to = 7, .follow = true}, out_);
    });
    Commit(flags_.data_dir, {KillOf("e"), KillOf("f"), KillOf("g")});
  }
  ASSERT_OK(status);
  EXPECT_EQ(std::ranges::count(out_.str(), '\n'), 4);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(R"("position":4,)"), HasSubstr(R"("position":7,)"),
                                Not(HasSubstr(R"("position":8,)"))));
}

TEST_F(FollowTest, TailBeginsBehindTheEnd) {
  ASSERT_OK(JournalCat(
      {.store = flags_, .stream = "killswitch", .to = 5, .follow = true, .tail = true}, out_));
  EXPECT_EQ(out_.str(), "");
  ASSERT_OK(JournalCat(
      {.store = flags_, .stream = "killswitch", .from = 5, .to = 5, .follow = true, .tail = true},
      out_));
  EXPECT_THAT(out_.str(), HasSubstr(R"("position":5,)"));
}

TEST_F(FollowTest, ARangeThatEndsBeforeItBeginsIsWrongUse) {
  EXPECT_THAT(JournalCat({.store = flags_, .from = 5, .to = 2}, out_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--to 2 lies before")));
}

TEST_F(FollowTest, AMarkChangesWithWhatIsWritten) {
  const std::string before = WrittenMark(flags_);
  EXPECT_NE(before, "");
  EXPECT_EQ(WrittenMark(flags_), before);
  Commit(flags_.data_dir, {KillOf("e")});
  EXPECT_NE(WrittenMark(flags_), before);
}

TEST_F(DiffTest, ACopyIsTheSame) {
  ASSERT_OK(JournalDiff({flags_, Copy()}, Format::kJson, out_));
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(R"({"same":true,)"), Not(HasSubstr("differs_at"))));
}

TEST_F(DiffTest, OneThatWentOnDiffersBehindTheEndOfTheOther) {
  const std::string copy = Copy();
  Commit(copy, {KillOf("e"), KillOf("f")});
  EXPECT_THAT(JournalDiff({flags_, copy}, Format::kJson, out_),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("at position 6")));
  EXPECT_THAT(
      out_.str(),
      AllOf(HasSubstr(R"({"same":false,)"),
            HasSubstr(R"({"name":"killswitch","head":5,"other_head":7,"differs_at":6,"why":")"
                      R"(it ends before the other"})"),
            HasSubstr(R"({"name":"resources","head":0,"other_head":0})")));
}

// Eight records are the same on both, the ninth was written at another time.
TEST_F(DiffTest, TheFirstRecordThatIsAnotherIsFound) {
  Commit(flags_.data_dir, {KillOf("e"), KillOf("f"), KillOf("g")});
  const std::string copy = Copy();
  for (const std::string& dir : {flags_.data_dir, copy}) {
    Commit(dir, {KillOf("h"), KillOf("i"), KillOf("j"), KillOf("k"), KillOf("l")});
  }
  EXPECT_THAT(JournalDiff({flags_, copy}, Format::kText, out_),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("stream audit at position 9")));
  EXPECT_THAT(out_.str(), testing::ContainsRegex("killswitch +13 +13  at 9: another record"));
}

TEST_F(DiffTest, OtherJournalsDifferFromTheirFirstRecord) {
  const std::string other = directory_->path() + "/other";
  Commit(other, {KillOf("a")});
  EXPECT_THAT(JournalDiff({flags_, other}, Format::kText, out_),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("at position 1")));
  EXPECT_THAT(JournalDiff({flags_, ""}, Format::kText, out_),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_FALSE(JournalDiff({flags_, "/nowhere"}, Format::kText, out_).ok());
}

}  // namespace
}  // namespace api::cli
