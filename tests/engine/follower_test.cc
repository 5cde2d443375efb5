#include "engine/follower.h"

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "engine/memory/memory.h"
#include "tests/support/logs.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace engine {
namespace {

using support::AppendOne;
using support::kEvents;
using support::kThings;
using support::Soon;
using support::StatusIs;
using support::ToyImage;

class FollowerTest : public testing::Test {
 protected:
  static std::vector<std::unique_ptr<Projection>> Projections() {
    std::vector<std::unique_ptr<Projection>> projections;
    projections.push_back(std::make_unique<support::ToyProjection>(kThings));
    projections.push_back(std::make_unique<support::ToyProjection>(kEvents));
    return projections;
  }

  News ReadNews() {
    auto news = journal().ReadAfter(follower_.cursors(), Soon());
    EXPECT_OK(news);
    return *std::move(news);
  }
  std::string Value(const std::string& key) {
    const auto image = ImageIn<ToyImage>(*follower_.view());
    if (!image.ok()) {
      return image.status().ToString();
    }
    const auto entry = (*image)->entries().find(key);
    return entry == (*image)->entries().end() ? "none" : entry->second.value;
  }
  const StreamView& Things() {
    view_ = follower_.view();
    return *view_->Find(kThings);
  }
  Journal& journal() { return store_->journal(); }

  std::unique_ptr<Engine> store_ = memory::Open(support::Streams());
  Follower follower_{Projections()};
  ViewPtr view_;
};

TEST_F(FollowerTest, FoldsWhatIsNewAndPublishesIt) {
  AppendOne(journal(), kThings, "a", "1");
  const Record last = AppendOne(journal(), kThings, "a", "2");
  const ViewPtr before = follower_.view();
  follower_.Deliver(ReadNews());
  EXPECT_EQ(Value("a"), "2");
  EXPECT_EQ(follower_.view()->tx, Tx{2});
  EXPECT_EQ(follower_.view()->at, last.at);
  EXPECT_EQ(Things().digest, last.digest);
  EXPECT_EQ(before->tx, Tx::kBeforeFirst) << "a held view does not move";
}

TEST_F(FollowerTest, AnEventLoopConfirmsOnlyWhatNeedsNoFolding) {
  EXPECT_TRUE(follower_.Confirm(ReadNews()));
  AppendOne(journal(), kThings, "a", "1");
  EXPECT_FALSE(follower_.Confirm(ReadNews()));
  EXPECT_EQ(Value("a"), "none");
  News compacted = ReadNews();
  compacted.rows.clear();
  compacted.compacted = {kThings};
  EXPECT_FALSE(follower_.Confirm(compacted));
  EXPECT_OK(Things().health);
  follower_.Deliver(ReadNews());
  News other = ReadNews();
  EXPECT_TRUE(follower_.Confirm(other));
  follower_.Doubt();
  EXPECT_FALSE(follower_.Confirm(other)) << "no life is believed";
}

TEST_F(FollowerTest, AnEventLoopDoesNotWaitForWhoFolds) {
  AppendOne(journal(), kThings, "a", "1");
  const News news = ReadNews();
  News nothing = news;
  nothing.rows.clear();
  std::optional<bool> confirmed;
  follower_.SetObserver(
      [&](const Record&) { Thread loop("loop", [&] { confirmed = follower_.Confirm(nothing); }); });
  follower_.Deliver(news);
  EXPECT_EQ(confirmed, false);
}

TEST_F(FollowerTest, ALateAnswerAfterOurOwnCommitIsNoRegression) {
  AppendOne(journal(), kThings, "a", "1");
  const News late = ReadNews();  // Sent now, answered last.
  AppendOne(journal(), kThings, "a", "2");
  follower_.Deliver(ReadNews());
  follower_.Deliver(late);
  EXPECT_EQ(Value("a"), "2");
  EXPECT_OK(Things().health);
  EXPECT_EQ(Things().position, Position{2});
}

TEST_F(FollowerTest, EveryRecordIsFoldedOnceWhateverIsDelivered) {
  std::vector<Position> folded;
  follower_.SetObserver([&](const Record& record) { folded.push_back(record.position); });
  AppendOne(journal(), kThings, "a", "1");
  const News first = ReadNews();
  AppendOne(journal(), kThings, "a", "2");
  const News both = ReadNews();
  for (const News* news : {&first, &both, &first, &both}) {
    follower_.Deliver(*news);
  }
  EXPECT_THAT(folded, testing::ElementsAre(Position{1}, Position{2}));
}

TEST_F(FollowerTest, NewsAfterAHoleIsLeftToTheNextCatchUp) {
  AppendOne(journal(), kThings, "a", "1");
  const Record two = AppendOne(journal(), kThings, "a", "2");
  News own;
  own.after = {{kThings, Position{1}, Digest::kEmpty}};
  own.rows = {two};
  follower_.Deliver(own);
  EXPECT_EQ(Things().position, Position::kBeforeFirst);
  EXPECT_OK(Things().health);
  follower_.Deliver(ReadNews());
  EXPECT_EQ(Value("a"), "2");
}

class DamagedNewsTest : public FollowerTest {
 protected:
  // Delivers two good records, then a third that `damage` changed, then an undamaged event.
  void DeliverDamaged(const std::function<void(Record&)>& damage) {
    support::ExpectErrorLogs();
    AppendOne(journal(), kThings, "a", "1");
    AppendOne(journal(), kThings, "a", "2");
    follower_.Deliver(ReadNews());
    AppendOne(journal(), kThings, "a", "3");
    AppendOne(journal(), kEvents, "", "event");
    News news = ReadNews();
    damage(*std::ranges::find(news.rows, kThings, &Record::stream));
    follower_.Deliver(news);
  }
  void ExpectStoppedAfterTwo() {
    EXPECT_THAT(Things().health,
                StatusIs(absl::StatusCode::kDataLoss,
                         testing::HasSubstr("stream 3 is stopped after position 2")));
    EXPECT_THAT(ImageIn<ToyImage>(*follower_.view()), StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_EQ(Things().position, Position{2});
    EXPECT_EQ(follower_.view()->Find(kEvents)->position, Position{1}) << "others go on";
    follower_.Deliver(ReadNews());
    EXPECT_EQ(Things().position, Position{2}) << "for good";
  }
};

TEST_F(DamagedNewsTest, AChangedPayloadStopsTheStream) {
  DeliverDamaged([](Record& record) { record.payload = Payload("4"); });
  ExpectStoppedAfterTwo();
}

TEST_F(DamagedNewsTest, AnotherHistoryStopsTheStream) {
  DeliverDamaged([](Record& record) {
    record.payload = Payload("4");
    record.checksum = RowChecksum(record);
    record.digest = ChainDigest(Digest{42}, record.checksum);
  });
  ExpectStoppedAfterTwo();
}

TEST_F(DamagedNewsTest, AMissingRowStopsTheStream) {
  DeliverDamaged([](Record& record) {
    record.position = Position{4};
    record.checksum = RowChecksum(record);
  });
  ExpectStoppedAfterTwo();
}

TEST_F(DamagedNewsTest, AHoleStopsTheStreamHoweverWellTheRowIsMade) {
  DeliverDamaged([this](Record& record) {
    record.position = Position{4};
    record.checksum = RowChecksum(record);
    record.digest = ChainDigest(Things().digest, record.checksum);
  });
  ExpectStoppedAfterTwo();
}

TEST_F(DamagedNewsTest, AnotherRowAtAKnownPositionStopsTheStream) {
  DeliverDamaged([](Record& record) {
    record.position = Position{2};
    record.digest = Digest{42};
  });
  ExpectStoppedAfterTwo();
}

TEST_F(DamagedNewsTest, ARecordThatCannotBeDecodedStopsTheStream) {
  support::ExpectErrorLogs();
  AppendOne(journal(), kThings, "a", "1");
  AppendOne(journal(), kThings, "a", "2");
  AppendOne(journal(), kThings, "a", "undecodable");
  AppendOne(journal(), kEvents, "", "event");
  follower_.Deliver(ReadNews());
  ExpectStoppedAfterTwo();
}

TEST_F(FollowerTest, AReplayGivesTheSameViewAsTheNews) {
  for (int i = 0; i < 50; ++i) {
    AppendOne(journal(), kThings, "key" + std::to_string(i % 7), std::to_string(i));
    follower_.Deliver(ReadNews());
  }
  Follower fresh(Projections());
  std::uint64_t rows = 0;
  ASSERT_OK(fresh.Replay(journal(), std::nullopt, Soon(), [&](std::uint64_t n) { rows = n; }));
  EXPECT_EQ(rows, 50U);
  EXPECT_EQ(fresh.cursors(), follower_.cursors());
  EXPECT_EQ(fresh.view()->tx, follower_.view()->tx);
  EXPECT_EQ(fresh.view()->Find(kThings)->image->StateDigest(), Things().image->StateDigest());

  Follower past(Projections());
  ASSERT_OK(past.Replay(journal(), Tx{10}, Soon()));
  EXPECT_EQ(past.view()->tx, Tx{10});
}

}  // namespace
}  // namespace engine
