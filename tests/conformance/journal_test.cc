#include <algorithm>
#include <atomic>
#include <future>

#include <gmock/gmock.h>

#include "engine/append_check.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"
#include "tests/conformance/conformance.h"
#include "tests/support/status_matchers.h"

namespace conformance {
namespace {

using engine::CommitOutcome;
using engine::Deadline;
using engine::News;
using engine::Position;
using engine::Record;
using engine::Tx;
using support::StatusIs;

std::vector<std::string> Payloads(std::span<const Record> rows) {
  std::vector<std::string> payloads;
  for (const Record& row : rows) {
    payloads.emplace_back(row.payload.view());
  }
  return payloads;
}

TEST_P(JournalConformance, AnEmptyJournalHasEmptyTails) {
  ASSERT_OK_AND_ASSIGN(const auto tails, journal().Tails(Soon()));
  ASSERT_EQ(tails.size(), 3U);
  for (const auto& tail : tails) {
    EXPECT_EQ(tail.position, Position::kBeforeFirst);
    EXPECT_EQ(tail.digest, engine::Digest::kEmpty);
  }
  EXPECT_TRUE(AllRows().empty());
}

TEST_P(JournalConformance, CommittedRowsAreReadByEveryDoor) {
  AppendEvent("one");
  const Record two = AppendEvent("two");
  EXPECT_EQ(two.position, Position{2});
  EXPECT_EQ(two.tx, Tx{2});

  ASSERT_OK_AND_ASSIGN(const News news, journal().ReadAfter(FromTheStart(), Soon()));
  EXPECT_TRUE(news.complete);
  EXPECT_THAT(Payloads(news.rows), testing::ElementsAre("one", "two"));
  ASSERT_OK_AND_ASSIGN(const auto rows, journal().ReadStream(kEvents, Position{2}, 10, Soon()));
  EXPECT_THAT(Payloads(rows), testing::ElementsAre("two"));
  ASSERT_OK_AND_ASSIGN(const auto tails, journal().Tails(Soon()));
  EXPECT_EQ(tails[1].position, Position{2});
  EXPECT_EQ(tails[1].digest, two.digest);
  EXPECT_EQ(tails[1].tx, Tx{2});
  EXPECT_THAT(Payloads(AllRows()), testing::ElementsAre("one", "two"));
}

TEST_P(JournalConformance, RowsComeBackToTheByte) {
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  std::string every_byte;
  for (int i = 0; i < 256; ++i) {
    every_byte.push_back(static_cast<char>(i));
  }
  RowBuilder rows(state);
  rows.Add(kThings, every_byte, every_byte).Add(kThings, "k", "", Position{1}, 7);
  rows.Add(kAudit, "", "chained").Add(kEvents, "", std::string(100'000, 'x'));
  ASSERT_OK(transaction->Append(rows.rows(), {}));
  ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);

  std::vector<Record> read = AllRows();
  std::vector<Record> written = rows.rows();
  const auto order = [](const Record& a, const Record& b) {
    return std::tie(a.stream, a.position) < std::tie(b.stream, b.position);
  };
  std::ranges::sort(read, order);
  std::ranges::sort(written, order);
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(engine::RowBytes(read[i]), engine::RowBytes(written[i]));
    EXPECT_EQ(read[i].checksum, written[i].checksum);
    EXPECT_EQ(read[i].digest, written[i].digest);
  }
}

TEST_P(JournalConformance, ASecondBeginWaitsThenSeesTheFirstOnesRecords) {
  ASSERT_OK_AND_ASSIGN(auto first, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, first->Read({.after = FromTheStart()}));
  std::atomic<bool> committed = false;
  auto second = std::async(std::launch::async, [&]() -> absl::StatusOr<News> {
    auto transaction = journal().Begin(Soon());
    if (!transaction.ok()) {
      return transaction.status();
    }
    EXPECT_TRUE(committed) << "the lock was granted twice";
    auto locked = (*transaction)->Read({.after = FromTheStart()});
    return locked.ok() ? absl::StatusOr<News>(locked->news) : locked.status();
  });
  EXPECT_THAT(journal().Begin(Deadline::After(std::chrono::milliseconds(50))),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  ASSERT_OK(first->Append(RowBuilder(state).Add(kEvents, "", "first").rows(), {}));
  committed = true;
  ASSERT_EQ(first->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  const auto seen = second.get();
  ASSERT_OK(seen);
  EXPECT_THAT(Payloads(seen->rows), testing::ElementsAre("first"));
}

TEST_P(JournalConformance, ADroppedTransactionLeavesNoTraceAndFreesTheLock) {
  {
    ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
    ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
    ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "dropped").rows(), {}));
  }
  EXPECT_TRUE(AllRows().empty());
  EXPECT_EQ(AppendEvent("kept").position, Position{1});
}

TEST_P(JournalConformance, RowsThatDoNotFollowTheTailsAreRefused) {
  AppendEvent("one");
  const auto refused = [&](auto change) {
    auto transaction = journal().Begin(Soon());
    EXPECT_OK(transaction);
    auto state = (*transaction)->Read({.after = FromTheStart()});
    EXPECT_OK(state);
    change(*state);
    return (*transaction)->Append(RowBuilder(*state).Add(kEvents, "", "two").rows(), {});
  };
  const auto aborted = StatusIs(absl::StatusCode::kAborted);
  EXPECT_THAT(refused([](auto& state) { state.tails[1].position = Position{0}; }), aborted);
  EXPECT_THAT(refused([](auto& state) { state.tails[1].position = Position{2}; }), aborted);
  EXPECT_THAT(refused([](auto& state) { state.last_tx = Tx{0}; }), aborted);
  EXPECT_THAT(refused([](auto& state) { state.last_tx = Tx{5}; }), aborted);
  EXPECT_THAT(refused([](auto& state) { state.tails[1].digest = engine::Digest{1}; }),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(AllRows().size(), 1U);
}

TEST_P(JournalConformance, RecordsOverTheLimitsAreRefused) {
  const auto append = [&](engine::StreamId stream, const std::string& key,
                          const std::string& payload) {
    auto transaction = journal().Begin(Soon());
    EXPECT_OK(transaction);
    const auto state = (*transaction)->Read({.after = FromTheStart()});
    EXPECT_OK(state);
    return (*transaction)->Append(RowBuilder(*state).Add(stream, key, payload).rows(), {});
  };
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(append(kEvents, "", std::string(engine::kMaxRecordBytes + 1, 'x')), invalid);
  EXPECT_THAT(append(kThings, std::string(engine::kMaxKeyBytes + 1, 'k'), "x"), invalid);
  EXPECT_THAT(append(kThings, "", "a keyed stream needs a key"), invalid);
  EXPECT_THAT(append(kEvents, "key", "an unkeyed stream has none"), invalid);
  EXPECT_OK(append(kEvents, "", std::string(engine::kMaxRecordBytes, 'x')));
  EXPECT_OK(append(kThings, std::string(engine::kMaxKeyBytes, 'k'), "x"));
  EXPECT_TRUE(AllRows().empty());
}

TEST_P(JournalConformance, ATransactionOfVeryManySmallRowsIsRefused) {
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({}));
  RowBuilder rows(state);
  for (std::size_t cost = 0; cost <= engine::kMaxTransactionBytes; cost += engine::RowCost(0, 1)) {
    rows.Add(kEvents, "", "x");
  }
  EXPECT_THAT(transaction->Append(rows.rows(), {}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(JournalConformance, UnderTheLockNewsTailsAndTimeAreOneCut) {
  AppendEvent("one");
  const Record two = AppendEvent("two");
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  engine::Cursors cursors = FromTheStart();
  cursors[1].position = Position{1};
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = cursors}));
  EXPECT_THAT(Payloads(state.news.rows), testing::ElementsAre("two"));
  EXPECT_EQ(state.news.after, cursors);
  EXPECT_EQ(state.tails[1].position, Position{2});
  EXPECT_EQ(state.tails[1].digest, two.digest);
  EXPECT_EQ(state.last_tx, Tx{2});
  EXPECT_GE(state.now, two.at);
}

TEST_P(JournalConformance, TimeDoesNotFallBehindTheLastRow) {
  // A row of tomorrow: the clock was set back since, or is another machine's.
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(auto state, transaction->Read({}));
  state.now.micros += 24LL * 3600 * 1'000'000;
  const std::vector<Record> rows = RowBuilder(state).Add(kEvents, "", "tomorrow").rows();
  ASSERT_OK(transaction->Append(rows, {}));
  ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  transaction.reset();
  const Record next = AppendEvent("today");
  EXPECT_GE(next.at, rows.front().at);
}

TEST_P(JournalConformance, ManySmallRowsAreLimitedAsAPageIs) {
  // What the rows of a transaction cost beside their payloads must not make it larger than a page
  // of news, or nobody could ever read past it.
  constexpr std::size_t kMost = engine::kMaxTransactionBytes / engine::RowCost(1, 1);
  const auto append = [&](std::size_t rows) -> absl::Status {
    ASSIGN_OR_RETURN(auto transaction, journal().Begin(Soon()));
    ASSIGN_OR_RETURN(const auto state, transaction->Read({}));
    RowBuilder builder(state);
    for (std::size_t i = 0; i < rows; ++i) {
      builder.Add(kThings, "k", "v");
    }
    RETURN_IF_ERROR(transaction->Append(builder.rows(), {}));
    return transaction->Commit(Soon()).why;
  };
  EXPECT_THAT(append(kMost + 1), StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_OK(append(kMost));
  ASSERT_OK_AND_ASSIGN(const News news, journal().ReadAfter(FromTheStart(), Soon()));
  EXPECT_EQ(news.rows.size(), kMost);
}

TEST_P(JournalConformance, TheTailOfAChainedStreamCarriesItsLastRecord) {
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(auto state, transaction->Read({}));
  EXPECT_EQ(state.tails[0].last_payload.size(), 0U);
  ASSERT_OK(transaction->Append(
      RowBuilder(state).Add(kAudit, "", "entry 1").Add(kAudit, "", "entry 2").rows(), {}));
  ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  transaction.reset();
  ASSERT_OK_AND_ASSIGN(transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(state, transaction->Read({}));
  EXPECT_EQ(state.tails[0].last_payload.view(), "entry 2");
  EXPECT_EQ(state.last_tx, Tx{1});
}

TEST_P(JournalConformance, NewsIsOfTheAskedStreamsOnly) {
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(
      RowBuilder(state).Add(kAudit, "", "a").Add(kEvents, "", "e").Add(kThings, "k", "t").rows(),
      {}));
  ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  const engine::Cursors some = {{kEvents, {}, {}}, {kThings, {}, {}}};
  ASSERT_OK_AND_ASSIGN(const News news, journal().ReadAfter(some, Soon()));
  EXPECT_THAT(Payloads(news.rows), testing::ElementsAre("e", "t"));
}

TEST_P(JournalConformance, APageOfNewsHoldsWholeTransactions) {
  constexpr int kTransactions = 8;
  const std::string big(engine::kMaxRecordBytes, 'b');
  for (int i = 0; i < kTransactions; ++i) {
    ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
    ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({}));
    RowBuilder rows(state);
    rows.Add(kEvents, "", big).Add(kThings, "k", "small").Add(kEvents, "", big);
    ASSERT_OK(transaction->Append(rows.rows(), {}));
    ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  }
  engine::Cursors cursors = {{kEvents, {}, {}}, {kThings, {}, {}}};
  std::size_t rows = 0;
  int pages = 0;
  for (bool complete = false; !complete; ++pages) {
    ASSERT_OK_AND_ASSIGN(const News news, journal().ReadAfter(cursors, Soon()));
    ASSERT_FALSE(news.rows.empty()) << "a page makes progress";
    const auto events = std::ranges::count(news.rows, kEvents, &Record::stream);
    const auto things = std::ranges::count(news.rows, kThings, &Record::stream);
    EXPECT_EQ(events, 2 * things) << "part of a transaction in page " << pages;
    for (const Record& row : news.rows) {
      auto& cursor = cursors[row.stream == kEvents ? 0 : 1];
      ASSERT_EQ(row.position, engine::Next(cursor.position));
      cursor.position = row.position;
    }
    rows += news.rows.size();
    complete = news.complete;
  }
  EXPECT_EQ(rows, 3U * kTransactions);
  EXPECT_GT(pages, 1);
}

TEST_P(JournalConformance, ConcurrentWritersMakeOneDenseOrder) {
  constexpr int kWriters = 8;
  constexpr int kEach = 12;
  {
    std::vector<engine::Thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back("writer", [this, writer] {
        for (int i = 0; i < kEach; ++i) {
          AppendEvent(std::to_string(writer) + "/" + std::to_string(i));
        }
      });
    }
  }
  const std::vector<Record> rows = AllRows();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kWriters * kEach));
  engine::Digest digest{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].position, Position{i + 1});
    EXPECT_EQ(rows[i].tx, Tx{i + 1});
    EXPECT_EQ(rows[i].digest, engine::ChainDigest(digest, rows[i].checksum));
    digest = rows[i].digest;
    EXPECT_TRUE(i == 0 || rows[i - 1].at <= rows[i].at);
  }
}

TEST_P(JournalConformance, ReadersSeeWholeTransactionsWhileWritersGo) {
  std::atomic<bool> done = false;
  engine::Thread writer("writer", [&] {
    for (int i = 0; i < 60; ++i) {
      auto transaction = journal().Begin(Soon());
      ASSERT_OK(transaction);
      const auto state = (*transaction)->Read({});
      ASSERT_OK(state);
      RowBuilder rows(*state);
      rows.Add(kEvents, "", "e").Add(kThings, "k", "t").Add(kEvents, "", "e");
      ASSERT_OK((*transaction)->Append(rows.rows(), {}));
      ASSERT_EQ((*transaction)->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
    }
    done = true;
  });
  while (!done) {
    ASSERT_OK_AND_ASSIGN(const News news, journal().ReadAfter(FromTheStart(), Soon()));
    EXPECT_EQ(std::ranges::count(news.rows, kEvents, &Record::stream),
              2 * std::ranges::count(news.rows, kThings, &Record::stream));
  }
}

TEST_P(JournalConformance, AScanStopsAfterTheTransactionItIsTold) {
  for (const char* payload : {"one", "two", "three"}) {
    AppendEvent(payload);
  }
  std::vector<std::string> seen;
  const auto take = [&](std::span<const Record> rows) {
    std::ranges::copy(Payloads(rows), std::back_inserter(seen));
    return absl::OkStatus();
  };
  engine::ScanOptions options{.after = FromTheStart(), .through = Tx{2}};
  ASSERT_OK(journal().Scan(options, take, Soon()));
  EXPECT_THAT(seen, testing::ElementsAre("one", "two"));
  seen.clear();
  options.after[1].position = Position{1};
  ASSERT_OK(journal().Scan(options, take, Soon()));
  EXPECT_THAT(seen, testing::ElementsAre("two"));
}

// What a replay holds beside what it folds: docs/operations.md has the budget.
TEST_P(JournalConformance, AScanHoldsAWindowAndNotTheHistory) {
  constexpr std::size_t kRows = 48;
  constexpr std::size_t kRowBytes = std::size_t{256} << 10;  // 12 MiB in all.
  constexpr std::size_t kWindow = std::size_t{5} << 18;      // 1 MiB and the row that fills it.
  for (std::size_t i = 0; i < kRows; ++i) {
    AppendEvent(std::string(kRowBytes, 'x'));
  }
  std::size_t rows = 0;
  std::size_t most = 0;
  const auto take = [&](std::span<const Record> batch) {
    std::size_t bytes = 0;
    for (const Record& row : batch) {
      bytes += row.payload.size();
    }
    rows += batch.size();
    most = std::max(most, bytes);
    return absl::OkStatus();
  };
  ASSERT_OK(journal().Scan({.after = FromTheStart(), .through = {}}, take, Soon()));
  EXPECT_EQ(rows, kRows);
  if (store().engine().backend() != "memory") {  // There the rows are shared with the store.
    EXPECT_LE(most, kWindow);
  }
}

TEST_P(JournalConformance, AScanEndsWithTheErrorOfItsSink) {
  AppendEvent("one");
  const auto refuse = [](std::span<const Record>) { return absl::CancelledError("enough"); };
  EXPECT_THAT(journal().Scan({.after = FromTheStart(), .through = {}}, refuse, Soon()),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(AllRows().size(), 1U) << "the journal is still readable";
}

TEST_P(JournalConformance, AStreamIsReadInPieces) {
  for (const char* payload : {"one", "two", "three"}) {
    AppendEvent(payload);
  }
  ASSERT_OK_AND_ASSIGN(const auto first, journal().ReadStream(kEvents, Position{1}, 2, Soon()));
  EXPECT_THAT(Payloads(first), testing::ElementsAre("one", "two"));
  ASSERT_OK_AND_ASSIGN(const auto rest, journal().ReadStream(kEvents, Position{3}, 2, Soon()));
  EXPECT_THAT(Payloads(rest), testing::ElementsAre("three"));
  ASSERT_OK_AND_ASSIGN(const auto none, journal().ReadStream(kEvents, Position{4}, 2, Soon()));
  EXPECT_TRUE(none.empty());
}

TEST_P(JournalConformance, ASecondProcessSharesTheLockAndTheRows) {
  if (store().second() == nullptr) {
    GTEST_SKIP() << "this backend has one process";
  }
  engine::Journal& other = store().second()->journal();
  AppendEvent("one");
  {
    ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
    EXPECT_THAT(other.Begin(Deadline::After(std::chrono::milliseconds(50))),
                StatusIs(absl::StatusCode::kDeadlineExceeded));
  }
  ASSERT_OK_AND_ASSIGN(auto transaction, other.Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  EXPECT_THAT(Payloads(state.news.rows), testing::ElementsAre("one"));
}

TEST_P(JournalConformance, RowsSurviveAReopening) {
  AppendEvent("one");
  const Record two = AppendEvent("two");
  if (!store().Reopen()) {
    GTEST_SKIP() << "nothing survives in this backend";
  }
  const auto rows = AllRows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].digest, two.digest);
  const Record three = AppendEvent("three");
  EXPECT_EQ(three.position, Position{3});
  EXPECT_EQ(three.tx, Tx{3});
  EXPECT_EQ(three.digest, engine::ChainDigest(two.digest, three.checksum));
}

TEST_P(JournalConformance, AStoreThatCanBeWrittenIsReady) {
  EXPECT_OK(store().engine().CheckReady(Soon()));
  EXPECT_FALSE(store().engine().backend().empty());
}

}  // namespace
}  // namespace conformance
