#include "api/dispatch/past.h"

#include <atomic>
#include <latch>

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "engine/compactor.h"
#include "engine/memory/memory.h"
#include "schemas/streams.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/logs.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace api {
namespace {

using engine::Position;
using engine::Tx;
using support::StatusIs;

class PastTest : public testing::Test {
 protected:
  static std::vector<std::unique_ptr<engine::Projection>> Projections() {
    std::vector<std::unique_ptr<engine::Projection>> projections;
    projections.push_back(std::make_unique<support::ToyProjection>(support::kThings));
    return projections;
  }
  engine::Record Write() {
    return support::AppendOne(journal_, support::kThings, "k", std::to_string(++written_));
  }
  // The position of the stream in the state of then.
  absl::StatusOr<std::uint64_t> At(const PastPoint& point) {
    const auto view = past_.ViewAt(point, support::Soon());
    if (!view.ok()) {
      return view.status();
    }
    return engine::Raw((*view)->Find(support::kThings)->position);
  }

  int written_ = 0;
  std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(support::Streams());
  support::HookedJournal journal_{engine_->journal()};
  Past past_{journal_, Projections};
};

TEST(PastPointTest, IsATransactionOrATime) {
  EXPECT_EQ(ParsePastPoint("17"), PastPoint(Tx{17}));
  EXPECT_EQ(ParsePastPoint("1970-01-01T00:00:01Z"), PastPoint(engine::Timestamp{1'000'000}));
  for (const char* text : {"", "-1", "1.5", "yesterday", "99999999999999999999"}) {
    EXPECT_EQ(ParsePastPoint(text), std::nullopt) << text;
  }
}

TEST_F(PastTest, IsWhatWasThen) {
  const engine::Record first = Write();
  const engine::Record second = Write();
  Write();
  EXPECT_EQ(*At(Tx{0}), 0u);
  EXPECT_EQ(*At(Tx{2}), 2u);
  EXPECT_EQ(*At(Tx{3}), 3u);
  EXPECT_EQ(*At(engine::Timestamp{first.at.micros - 1}), 0u);
  EXPECT_GE(*At(second.at), 2u);
  EXPECT_THAT(At(Tx{4}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(At(engine::Timestamp{second.at.micros + 3'600'000'000}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(PastTest, WhatWasCompactedIsRefused) {
  std::vector<engine::Record> rows;
  for (int i = 0; i < 6; ++i) {
    rows.push_back(Write());
  }
  engine::Compactor compactor(journal_, {});
  ASSERT_OK(compactor.RaiseTo(support::kThings, Position{3}, std::chrono::seconds(30)));
  EXPECT_THAT(At(Tx{2}), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(*At(Tx{3}), 3u);
  EXPECT_EQ(*At(Tx{5}), 5u);
  EXPECT_THAT(At(engine::Timestamp{rows[0].at.micros - 1}),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(PastTest, TheNewestResultsAreKept) {
  Write();
  Write();
  ASSERT_EQ(*At(Tx{1}), 1u);
  const std::uint64_t scanned = journal_.rows_scanned();
  EXPECT_EQ(*At(Tx{1}), 1u);
  EXPECT_EQ(journal_.rows_scanned(), scanned);
  EXPECT_EQ(*At(Tx{2}), 2u);
  EXPECT_EQ(*At(Tx{0}), 0u);
  EXPECT_EQ(*At(Tx{1}), 1u);
  EXPECT_GT(journal_.rows_scanned(), scanned + 2);
}

TEST_F(PastTest, AKeptStateIsOfTheHistoryThatIs) {
  Write();
  const auto before = past_.ViewAt(Tx{1}, support::Soon());
  ASSERT_OK(before);
  const auto other = engine::memory::Open(support::Streams());
  journal_.SwitchTo(other->journal(), "other");
  written_ = 100;
  const engine::Record row = Write();
  const auto after = past_.ViewAt(Tx{1}, support::Soon());
  ASSERT_OK(after);
  EXPECT_EQ((*after)->Find(support::kThings)->digest, row.digest);
}

TEST_F(PastTest, OneAtATime) {
  Write();
  std::latch began(1);
  std::latch release(1);
  std::atomic<bool> holds = true;
  journal_.hooks.before_scan = [&] {
    if (!holds.exchange(false)) {
      return absl::OkStatus();
    }
    began.count_down();
    release.wait();
    return absl::OkStatus();
  };
  engine::Thread slow("slow", [&] { EXPECT_EQ(*At(Tx{1}), 1u); });
  began.wait();
  EXPECT_THAT(At(Tx{0}), StatusIs(absl::StatusCode::kResourceExhausted));
  release.count_down();
  slow.Join();
  EXPECT_EQ(*At(Tx{0}), 0u);
}

TEST_F(PastTest, ADamagedStreamHasNoPast) {
  Write();
  journal_.hooks.on_rows = [](std::vector<engine::Record>& rows) {
    for (engine::Record& row : rows) {
      row.at.micros += 1;
    }
  };
  support::ExpectErrorLogs();
  EXPECT_THAT(At(Tx{1}), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace api
