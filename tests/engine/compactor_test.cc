#include "engine/compactor.h"

#include <gmock/gmock.h>

#include "engine/follower.h"
#include "engine/history.h"
#include "engine/history_verifier.h"
#include "engine/memory/memory.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/logs.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace engine {
namespace {

using support::kAudit;
using support::kEvents;
using support::kThings;
using support::Soon;
using support::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Duration kPatience = std::chrono::seconds(30);

Catalogue WithRetention() {
  Catalogue catalogue = support::Streams();
  catalogue[2].retention = std::chrono::hours(24);
  return catalogue;
}

TEST(RetentionsTest, TheCataloguesAreTheDefault) {
  const Catalogue catalogue = WithRetention();
  const Retentions expected = {{kThings, std::chrono::hours(24)}};
  EXPECT_EQ(DefaultRetentions(catalogue), expected);
  EXPECT_EQ(*ParseRetentions(catalogue, ""), expected);
  EXPECT_THAT(DefaultRetentions(support::Streams()), IsEmpty());
}

TEST(RetentionsTest, EachCanBeChanged) {
  const Catalogue catalogue = WithRetention();
  const auto of = [&](std::string_view text) {
    return (*ParseRetentions(catalogue, text))[kThings];
  };
  EXPECT_EQ(of("things=2d"), std::chrono::hours(48));
  EXPECT_EQ(of("things=12h"), std::chrono::hours(12));
  EXPECT_EQ(of("things=15m"), std::chrono::minutes(15));
  EXPECT_EQ(of("things=90s"), std::chrono::seconds(90));
  EXPECT_THAT(*ParseRetentions(catalogue, "things=never"), IsEmpty());
}

TEST(RetentionsTest, WhatMeansNothingIsRefused) {
  for (const char* wrong : {"things", "things=", "things=1", "things=d", "things=-1d", "things=0d",
                            "things=1.5d", "things=1w", "things=99999d", "nothing=1d", "=1d", ",",
                            "things=1d,,things=2d", "things=1d,things=3d"}) {
    EXPECT_THAT(ParseRetentions(WithRetention(), wrong),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << wrong;
  }
  for (const char* kept : {"audit=1d", "events=1d", "audit=never"}) {
    EXPECT_THAT(ParseRetentions(WithRetention(), kept),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("keeps every record")))
        << kept;
  }
}

class CompactorTest : public testing::Test {
 protected:
  void Put(const std::string& key, const std::string& value, std::uint16_t flags = 0) {
    auto transaction = journal_.Begin(Soon());
    ASSERT_OK(transaction);
    const auto state = (*transaction)->Read({});
    ASSERT_OK(state);
    const std::vector<Record> rows =
        RowBuilder(*state).Add(kThings, key, value, newest_[key], flags).rows();
    ASSERT_OK((*transaction)->Append(rows, {}));
    ASSERT_OK((*transaction)->Commit(Soon()).why);
    newest_[key] = flags == 0 ? rows.front().position : Position::kBeforeFirst;
  }
  void PutMany(int count) {
    for (int i = 0; i < count; ++i) {
      Put("key" + std::to_string(i % 3), std::to_string(i));
    }
  }
  CompactionReport Run(Duration retention = std::chrono::nanoseconds(1), int rows_a_step = 10) {
    Compactor compactor(journal_,
                        {.retentions = {{kThings, retention}}, .rows_a_step = rows_a_step});
    const auto report = compactor.Run([] { return true; }, kPatience);
    EXPECT_OK(report);
    return *report;
  }
  StreamTail Tail() { return (*journal_.Tails(Soon()))[2]; }
  static std::unique_ptr<Follower> MakeFollower() {
    std::vector<std::unique_ptr<Projection>> projections;
    projections.push_back(std::make_unique<support::ToyProjection>(kThings));
    return std::make_unique<Follower>(std::move(projections));
  }
  using RowBuilder = support::RowBuilder;

  std::unique_ptr<Engine> store_ = memory::Open(support::Streams());
  support::HookedJournal journal_{store_->journal()};
  std::map<std::string, Position> newest_;
};

TEST_F(CompactorTest, ADamagedRowIsLeftWhereItIs) {
  PutMany(40);
  journal_.hooks.on_rows = [](std::vector<Record>& rows) {
    for (Record& row : rows) {
      if (row.position == Position{25}) {
        row.payload = Payload("rotten");
      }
    }
  };
  support::ExpectErrorLogs();
  const CompactionReport report = Run();
  EXPECT_THAT(report.damaged, ElementsAre(kThings));
  EXPECT_EQ(report.steps, 2U);
  EXPECT_EQ(Tail().floor.position, Position{20});
  EXPECT_THAT(support::LogLines(), testing::Contains(HasSubstr("position 25: the checksum")));
}

TEST_F(CompactorTest, ARowThatWasMadeAnewIsLeftWhereItIs) {
  PutMany(40);
  journal_.hooks.on_rows = [](std::vector<Record>& rows) {
    for (Record& row : rows) {
      if (row.position == Position{5}) {
        row.payload = Payload("forged");
        row.checksum = RowChecksum(row);
      }
    }
  };
  support::ExpectErrorLogs();
  EXPECT_THAT(Run().damaged, ElementsAre(kThings));
  EXPECT_EQ(Tail().floor.position, Position::kBeforeFirst);
}

TEST_F(CompactorTest, WhoIsToldToStopStopsBeforeTheNextStep) {
  PutMany(100);
  int asked = 0;
  Compactor compactor(journal_,
                      {.retentions = {{kThings, std::chrono::nanoseconds(1)}}, .rows_a_step = 10});
  ASSERT_OK_AND_ASSIGN(const auto report, compactor.Run([&] { return ++asked <= 3; }, kPatience));
  EXPECT_EQ(report.steps, 2U) << "asked once before it began";
  EXPECT_EQ(Tail().floor.position, Position{20});
}

TEST_F(CompactorTest, AnotherCompactorIsNoFailure) {
  PutMany(40);
  bool first = true;
  journal_.hooks.on_rows = [&](std::vector<Record>&) {
    if (std::exchange(first, false)) {
      Compactor other(store_->journal(), {.retentions = {}, .rows_a_step = 5});
      ASSERT_OK(other.RaiseTo(kThings, Position{7}, kPatience));
    }
  };
  const CompactionReport report = Run();
  EXPECT_EQ(report.steps, 0U);
  EXPECT_THAT(report.damaged, IsEmpty());
  EXPECT_EQ(Tail().floor.position, Position{7});
}

TEST_F(CompactorTest, RaiseToGoesThereAndNoFurther) {
  PutMany(40);
  Compactor compactor(journal_, {.retentions = {}, .rows_a_step = 10});
  ASSERT_OK_AND_ASSIGN(const auto report, compactor.RaiseTo(kThings, Position{23}, kPatience));
  EXPECT_EQ(report.passed, 23U);
  EXPECT_EQ(Tail().floor.position, Position{23});
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(compactor.RaiseTo(kThings, Position{40}, kPatience), invalid);
  EXPECT_THAT(compactor.RaiseTo(kEvents, Position{1}, kPatience), invalid);
  EXPECT_THAT(compactor.RaiseTo(kAudit, Position{1}, kPatience), invalid);
}

TEST_F(CompactorTest, AFollowerBelowTheFloorReadsAnewAndEndsWhereTheOthersAre) {
  PutMany(10);
  const auto behind = MakeFollower();
  ASSERT_OK(behind->Replay(journal_, std::nullopt, Soon()));
  Put("key0", "", kTombstone);
  PutMany(20);
  Run();
  ASSERT_OK(behind->Replay(journal_, std::nullopt, Soon()));
  const auto fresh = MakeFollower();
  ASSERT_OK(fresh->Replay(journal_, std::nullopt, Soon()));
  const StreamView& one = *behind->view()->Find(kThings);
  const StreamView& other = *fresh->view()->Find(kThings);
  EXPECT_EQ(one.position, Position{31});
  EXPECT_EQ(one.digest, other.digest);
  EXPECT_EQ(one.image->StateDigest(), other.image->StateDigest());
  EXPECT_OK(one.health);
}

TEST_F(CompactorTest, AFollowerThatNewsLeavesBelowTheFloorIsRebuilt) {
  PutMany(10);
  const auto live = MakeFollower();
  ASSERT_OK(live->Replay(journal_, std::nullopt, Soon()));
  int rebuilds = 0;
  live->SetOnRebuild([&] { ++rebuilds; });
  PutMany(20);
  Run();
  ASSERT_OK_AND_ASSIGN(const News news, journal_.ReadAfter(live->cursors(), Soon()));
  EXPECT_TRUE(live->Deliver(news));
  EXPECT_EQ(rebuilds, 1);
  EXPECT_THAT(live->view()->Find(kThings)->health, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(live->Deliver(news)) << "late once more";
  ASSERT_OK(live->Refold(journal_, Soon()));
  ASSERT_OK(ConfirmHistory(journal_, *live, Soon()));
  ASSERT_OK_AND_ASSIGN(const News after, journal_.ReadAfter(live->cursors(), Soon()));
  EXPECT_TRUE(live->Deliver(after));
  const StreamView& stream = *live->view()->Find(kThings);
  EXPECT_OK(stream.health);
  EXPECT_EQ(stream.position, Position{30});
  const auto fresh = MakeFollower();
  ASSERT_OK(fresh->Replay(journal_, std::nullopt, Soon()));
  EXPECT_EQ(stream.image->StateDigest(), fresh->view()->Find(kThings)->image->StateDigest());
}

TEST_F(CompactorTest, ASnapshotsHistoryCanBeVerifiedWhateverWasCompacted) {
  PutMany(60);
  const auto follower = MakeFollower();
  ASSERT_OK(follower->Replay(journal_, std::nullopt, Soon()));
  PutMany(10);
  for (const std::uint64_t floor : {30, 65}) {
    Compactor compactor(journal_, {.retentions = {}});
    ASSERT_OK(compactor.RaiseTo(kThings, Position{floor}, kPatience));
    std::vector<absl::Status> found;
    HistoryVerifier verifier(journal_, follower->cursors(),
                             [&](StreamId, const absl::Status& why) { found.push_back(why); });
    while (verifier.Step(Soon())) {
    }
    EXPECT_THAT(found, IsEmpty()) << floor;
  }
}

// What a store shows whose remaining rows were tampered with.
class FloorProofTest : public CompactorTest {
 protected:
  void SetUp() override {
    PutMany(30);
    Compactor compactor(journal_, {.retentions = {}, .rows_a_step = 7});
    ASSERT_OK(compactor.RaiseTo(kThings, Position{20}, kPatience));
    ASSERT_OK(journal_.Scan(
        {.after = {{kThings, {}, {}}}},
        [&](std::span<const Record> rows) {
          rows_.insert(rows_.end(), rows.begin(), rows.end());
          return absl::OkStatus();
        },
        Soon()));
    floor_ = Tail().floor;
    ASSERT_THAT(rows_, SizeIs(13));
    ASSERT_EQ(rows_[2].position, floor_.position);
  }
  // The health of a follower that is shown these rows and this floor.
  absl::Status Judge(const Floor& floor, const std::vector<Record>& rows) {
    class Shown final : public Journal {
     public:
      Shown(const Floor& floor, const std::vector<Record>& rows) : floor_(floor), rows_(rows) {}
      const Catalogue& catalogue() const override { return catalogue_; }
      absl::StatusOr<std::unique_ptr<Transaction>> Begin(Deadline) override { return Not(); }
      absl::StatusOr<News> ReadAfter(const Cursors&, Deadline) override { return Not(); }
      absl::StatusOr<std::vector<Record>> ReadStream(StreamId, Position, int, Deadline) override {
        return Not();
      }
      absl::StatusOr<std::vector<StreamTail>> Tails(Deadline) override { return Not(); }
      absl::StatusOr<Floor> Compact(const CompactionStep&, Deadline) override { return Not(); }
      absl::StatusOr<int> PruneAnswers(Duration, int, Deadline) override { return Not(); }
      absl::Status Scan(const ScanOptions& options, const RowSink& sink, Deadline) override {
        StreamTail tail;
        tail.stream = kThings;
        tail.floor = floor_;
        if (absl::Status told = options.on_tails({&tail, 1}); !told.ok()) {
          return told;
        }
        return sink(rows_);
      }

     private:
      static absl::Status Not() { return absl::UnimplementedError("not asked for"); }
      const Catalogue catalogue_ = support::Streams();
      const Floor floor_;
      const std::vector<Record> rows_;
    };
    Shown journal(floor, rows);
    const auto follower = MakeFollower();
    EXPECT_OK(follower->Replay(journal, std::nullopt, Soon()));
    return follower->view()->Find(kThings)->health;
  }

  std::vector<Record> rows_;
  Floor floor_;
};

TEST_F(FloorProofTest, WhatRemainsIsBelieved) {
  EXPECT_OK(Judge(floor_, rows_));
}

TEST_F(FloorProofTest, AMissingRowIsMissed) {
  support::ExpectErrorLogs();
  std::vector<Record> rows = rows_;
  rows.erase(rows.begin());
  EXPECT_THAT(Judge(floor_, rows),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("2 rows remain")));
}

TEST_F(FloorProofTest, AnotherRowInItsPlaceIsNoticed) {
  support::ExpectErrorLogs();
  std::vector<Record> rows = rows_;
  rows[0].payload = Payload("forged");
  rows[0].checksum = RowChecksum(rows[0]);
  rows[0].position = Position{Raw(rows[0].position) - 1};
  rows[0].checksum = RowChecksum(rows[0]);
  EXPECT_THAT(Judge(floor_, rows),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not those that the floor proves")));
}

TEST_F(FloorProofTest, AnotherRowAtTheFloorIsNoticed) {
  support::ExpectErrorLogs();
  Floor floor = floor_;
  floor.digest = Digest{Raw(floor.digest) + 1};
  EXPECT_THAT(Judge(floor, rows_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("row at the floor is another one")));
}

TEST_F(FloorProofTest, AFloorWithoutItsRowIsNoticed) {
  support::ExpectErrorLogs();
  std::vector<Record> rows = rows_;
  rows.erase(rows.begin() + 2);
  EXPECT_THAT(Judge(floor_, rows),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the row at the floor is missing")));
  EXPECT_THAT(Judge(floor_, {}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the row at the floor is missing")));
}

TEST_F(FloorProofTest, RowsThatGoBackAreNoticed) {
  support::ExpectErrorLogs();
  std::vector<Record> rows = rows_;
  std::swap(rows[0], rows[1]);
  EXPECT_THAT(Judge(floor_, rows), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace engine
