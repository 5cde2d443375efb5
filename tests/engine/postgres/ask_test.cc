// News that no thread waits for.

#include <poll.h>

#include "engine/journal.h"
#include "tests/conformance/conformance.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/row_builder.h"

namespace engine::postgres {
namespace {

using conformance::FromTheStart;
using conformance::kThings;
using support::AppendOne;

class AskTest : public PostgresTest {
 protected:
  // There has to be a connection at hand.
  std::unique_ptr<PendingNews> Ask(const Cursors& after) {
    EXPECT_OK(journal().ReadAfter(FromTheStart(), Soon()));
    std::unique_ptr<PendingNews> pending = journal().AskAfter(after);
    EXPECT_NE(pending, nullptr);
    return pending;
  }
  static absl::StatusOr<News> Answer(PendingNews& pending) {
    for (;;) {
      pollfd entry{.fd = pending.descriptor(), .events = POLLIN, .revents = 0};
      if (poll(&entry, 1, 20'000) != 1) {
        return absl::DeadlineExceededError("nothing came");
      }
      if (auto news = pending.Poll()) {
        return *std::move(news);
      }
    }
  }
  static std::vector<Digest> DigestsOf(const News& news) {
    std::vector<Digest> digests;
    for (const Record& row : news.rows) {
      digests.push_back(row.digest);
    }
    return digests;
  }
  absl::StatusOr<News> AskAndWait(const Cursors& after) {
    const std::unique_ptr<PendingNews> pending = Ask(after);
    return Answer(*pending);
  }
};

TEST_F(AskTest, AnswersAsReadAfterDoes) {
  for (int row = 0; row < 3; ++row) {
    ASSERT_OK_AND_ASSIGN(const News news, AskAndWait(FromTheStart()));
    ASSERT_OK_AND_ASSIGN(const News read, journal().ReadAfter(FromTheStart(), Soon()));
    EXPECT_EQ(news.after, read.after);
    EXPECT_EQ(DigestsOf(news), DigestsOf(read));
    EXPECT_EQ(news.origin, read.origin);
    EXPECT_TRUE(news.complete);
    AppendOne(journal(), kThings, "a", std::to_string(row));
  }
  ASSERT_OK_AND_ASSIGN(const News all, AskAndWait(FromTheStart()));
  EXPECT_EQ(all.rows.size(), 3U);
}

TEST_F(AskTest, SeesWhatWasAcknowledgedBeforeItWasAsked) {
  for (int round = 0; round < 100; ++round) {
    Cursors after = FromTheStart();
    const Record row = AppendOne(journal(), kThings, "a", std::to_string(round));
    for (StreamCursor& cursor : after) {
      if (cursor.stream == kThings) {
        cursor = {kThings, Position{Raw(row.position) - 1}, Digest::kEmpty};
      }
    }
    ASSERT_OK_AND_ASSIGN(const News news, AskAndWait(after));
    ASSERT_EQ(news.rows.size(), 1U) << round;
    EXPECT_EQ(news.rows[0].digest, row.digest);
  }
}

TEST_F(AskTest, AnUnansweredQuestionLeavesNoAnswerForTheNext) {
  AppendOne(journal(), kThings, "a", "1");
  Ask(FromTheStart());
  ASSERT_OK_AND_ASSIGN(const std::vector<StreamTail> tails, journal().Tails(Soon()));
  EXPECT_EQ(tails.size(), conformance::Streams().size());
  // In the middle, too: it knows that there is something and has asked what.
  {
    const std::unique_ptr<PendingNews> pending = Ask(FromTheStart());
    pollfd entry{.fd = pending->descriptor(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&entry, 1, 20'000), 1);
    EXPECT_FALSE(pending->Poll().has_value());
  }
  ASSERT_OK_AND_ASSIGN(const News news, AskAndWait(FromTheStart()));
  EXPECT_EQ(news.rows.size(), 1U);
}

TEST_F(AskTest, ASessionThatIsEndedMeanwhileIsUnavailable) {
  const std::unique_ptr<PendingNews> pending = Ask(FromTheStart());
  Run("select pg_terminate_backend(pid) from pg_stat_activity"
      " where pid <> pg_backend_pid() and datname = current_database()");
  // It had answered before, or is told that it is over; either way the next one is sound.
  const absl::StatusOr<News> news = Answer(*pending);
  EXPECT_TRUE(news.ok() || absl::IsUnavailable(news.status())) << news.status();
  EXPECT_OK(AskAndWait(FromTheStart()));
}

TEST_F(AskTest, WithoutAConnectionAtHandThereIsNoQuestion) {
  EXPECT_NE(Ask(FromTheStart()), nullptr);
  Run("select pg_terminate_backend(pid) from pg_stat_activity"
      " where pid <> pg_backend_pid() and datname = current_database()");
  EXPECT_EQ(journal().AskAfter(FromTheStart()), nullptr);
}

TEST_F(AskTest, AJournalThatIsGoneIsUnavailable) {
  EXPECT_OK(AskAndWait(FromTheStart()));
  Run("drop table halo_journal cascade");
  const std::unique_ptr<PendingNews> pending = journal().AskAfter(FromTheStart());
  ASSERT_NE(pending, nullptr);
  EXPECT_FALSE(Answer(*pending).ok());
}

}  // namespace
}  // namespace engine::postgres
