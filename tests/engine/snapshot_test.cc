#include "engine/snapshot.h"

#include <fstream>
#include <functional>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>

#include "engine/history_verifier.h"
#include "engine/memory/memory.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/logs.h"
#include "tests/support/private_directory.h"
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
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Folds as ToyProjection, by another version.
class NewerToy final : public Projection {
 public:
  StreamId stream() const override { return kThings; }
  std::uint32_t fold_version() const override { return 2; }
  absl::Status Apply(const Record& record) override { return toy_.Apply(record); }
  std::shared_ptr<const ProjectionImage> Publish() override { return toy_.Publish(); }
  absl::Status Load(std::string_view part) override { return toy_.Load(part); }
  void Reset() override { toy_.Reset(); }

 private:
  support::ToyProjection toy_;
};

// Refuses one call after another: number `fail_at` of all calls that change the disk.
class FaultyDisk final : public Disk {
 public:
  int Create(int directory, const std::string& name) override {
    return Fails() ? -1 : Disk::Create(directory, name);
  }
  ssize_t Write(int fd, std::string_view bytes, std::uint64_t offset) override {
    return Fails() ? -1 : Disk::Write(fd, bytes, offset);
  }
  int Sync(int fd) override { return Fails() ? -1 : Disk::Sync(fd); }
  int Rename(int directory, const std::string& from, const std::string& to) override {
    return Fails() ? -1 : Disk::Rename(directory, from, to);
  }

  int fail_at = 0;
  int calls = 0;

 private:
  bool Fails() {
    if (++calls != fail_at) {
      return false;
    }
    errno = ENOSPC;
    return true;
  }
};

std::unique_ptr<Follower> MakeFollower(std::unique_ptr<Projection> projection) {
  std::vector<std::unique_ptr<Projection>> projections;
  projections.push_back(std::move(projection));
  return std::make_unique<Follower>(std::move(projections));
}

std::unique_ptr<Follower> MakeFollower(StreamId stream = kThings) {
  return MakeFollower(std::make_unique<support::ToyProjection>(stream));
}

class SnapshotTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make());
    Open();
  }
  void Open() {
    ASSERT_OK_AND_ASSIGN(SnapshotDirectory opened,
                         SnapshotDirectory::Open(directory_->path() + "/s", disk_));
    snapshots_.emplace(std::move(opened));
  }

  // Appends `count` values to keys that repeat, so the live state stays small.
  void Append(int count) {
    for (int i = 0; i < count; ++i) {
      AppendOne(journal_, kThings, "key" + std::to_string(i % 3), std::to_string(++values_));
    }
  }
  // A follower that has read everything.
  std::unique_ptr<Follower> CaughtUp() {
    auto follower = MakeFollower();
    EXPECT_OK(follower->Replay(journal_, std::nullopt, Soon()));
    return follower;
  }
  void Save() { ASSERT_OK(snapshots_->Save("main", *CaughtUp()->view())); }
  std::optional<SnapshotHeader> Restore(Follower& follower) {
    auto header = snapshots_->Restore("main", follower, journal_, Soon());
    EXPECT_OK(header);
    return header.ok() ? *header : std::nullopt;
  }
  // Starts as a server does; how many rows that took.
  std::uint64_t RowsToStart() {
    const std::uint64_t before = journal_.rows_read();
    auto follower = MakeFollower();
    Restore(*follower);
    EXPECT_OK(follower->Replay(journal_, std::nullopt, Soon()));
    const std::uint64_t rows = journal_.rows_read() - before;
    EXPECT_EQ(StateOf(*follower), StateOf(*CaughtUp()));
    return rows;
  }
  static std::string StateOf(const Follower& follower) {
    const StreamView& stream = *follower.view()->Find(kThings);
    std::string state = std::to_string(Raw(stream.position)) + "/" +
                        std::to_string(Raw(stream.digest)) + "/" + std::to_string(Raw(stream.tx)) +
                        "/" + std::to_string(Raw(follower.view()->tx)) + ":";
    const auto image = ImageIn<ToyImage>(*follower.view());
    for (const auto& [key, entry] : (*image)->entries()) {
      state += key + "=" + entry.value + "@" + std::to_string(Raw(entry.position)) + ";";
    }
    return state;
  }
  std::string PathOf(Tx tx) const { return snapshots_->path() + "/snapshot-main-" + ToHexOf(tx); }
  static std::string ToHexOf(Tx tx) {
    char text[17];
    std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(Raw(tx)));
    return text;
  }
  static std::string ReadFile(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  static void WriteFile(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  std::unique_ptr<support::PrivateDirectory> directory_;
  FaultyDisk disk_;
  std::optional<SnapshotDirectory> snapshots_;
  std::unique_ptr<Engine> store_ = memory::Open(support::Streams());
  support::HookedJournal journal_{store_->journal()};
  int values_ = 0;
};

TEST_F(SnapshotTest, AStartCostsTheTailNotTheHistory) {
  Append(20);
  EXPECT_EQ(RowsToStart(), 20U);
  Save();
  Append(5);
  const std::uint64_t short_history = RowsToStart();
  EXPECT_EQ(short_history, 6U) << "the tail, and one row that is compared";
  Append(200);
  Save();
  Append(5);
  EXPECT_EQ(RowsToStart(), short_history) << "ten times the history";
}

TEST_F(SnapshotTest, WithoutAnySnapshotTheRowsAreRead) {
  Append(3);
  auto follower = MakeFollower();
  EXPECT_FALSE(Restore(*follower).has_value());
  EXPECT_EQ(RowsToStart(), 3U);
}

TEST_F(SnapshotTest, AnEmptyStreamCanBeSavedToo) {
  Save();
  auto follower = MakeFollower();
  EXPECT_TRUE(Restore(*follower).has_value());
  Append(2);
  EXPECT_EQ(RowsToStart(), 2U);
}

TEST_F(SnapshotTest, TheNewestAndOneOlderAreKept) {
  for (int i = 0; i < 4; ++i) {
    Append(1);
    Save();
  }
  ASSERT_OK_AND_ASSIGN(const auto kept, snapshots_->List("main"));
  EXPECT_THAT(kept, ElementsAre(Tx{3}, Tx{4}));
  ASSERT_OK_AND_ASSIGN(const auto others, snapshots_->List("audit"));
  EXPECT_THAT(others, IsEmpty());
}

TEST_F(SnapshotTest, EveryFlippedBitIsRefusedAndTheRowsAreRead) {
  Append(4);
  Save();
  const std::string path = PathOf(Tx{4});
  const std::string good = ReadFile(path);
  ASSERT_FALSE(good.empty());
  const std::string expected = StateOf(*CaughtUp());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    WriteFile(path, bytes);
    auto follower = MakeFollower();
    EXPECT_FALSE(Restore(*follower).has_value()) << "bit " << bit;
    ASSERT_OK(follower->Replay(journal_, std::nullopt, Soon()));
    EXPECT_EQ(StateOf(*follower), expected) << "bit " << bit;
  }
  EXPECT_THAT(support::LogLines(), Contains(HasSubstr("refused a snapshot")));
}

TEST_F(SnapshotTest, ADamagedOneGivesWayToTheOlderOne) {
  Append(4);
  Save();
  Append(4);
  Save();
  std::string bytes = ReadFile(PathOf(Tx{8}));
  WriteFile(PathOf(Tx{8}), bytes.substr(0, bytes.size() - 1));
  auto follower = MakeFollower();
  const auto header = Restore(*follower);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->tx, Tx{4});
  EXPECT_EQ(RowsToStart(), 5U) << "the tail, and the row that the older one is compared with";
}

TEST_F(SnapshotTest, OneOfAnotherHistoryIsRefused) {
  Append(4);
  Save();
  for (const int rows : {4, 6}) {  // As long as ours, and longer.
    const auto other = memory::Open(support::Streams());
    for (int i = 0; i < rows; ++i) {
      AppendOne(other->journal(), kThings, "key", "other");
    }
    auto follower = MakeFollower();
    const auto header = snapshots_->Restore("main", *follower, other->journal(), Soon());
    ASSERT_OK(header);
    EXPECT_FALSE(header->has_value());
    EXPECT_EQ(follower->view()->Find(kThings)->position, Position::kBeforeFirst);
    EXPECT_THAT(support::LogLines(), Contains(HasSubstr("another history")));
  }
}

TEST_F(SnapshotTest, OneThatIsAheadOfTheStoreIsRefused) {
  Append(4);
  Save();
  const auto other = memory::Open(support::Streams());
  auto follower = MakeFollower();
  const auto header = snapshots_->Restore("main", *follower, other->journal(), Soon());
  ASSERT_OK(header);
  EXPECT_FALSE(header->has_value());
  EXPECT_THAT(support::LogLines(), Contains(HasSubstr("the store ends before it")));
}

TEST_F(SnapshotTest, AfterAHistoryThatWentBackTheNewOnesAreKept) {
  Append(8);
  Save();
  const auto restored = memory::Open(support::Streams());
  auto follower = MakeFollower();
  AppendOne(restored->journal(), kThings, "key", "value");
  ASSERT_OK(follower->Replay(restored->journal(), std::nullopt, Soon()));
  ASSERT_OK(snapshots_->Save("main", *follower->view()));
  ASSERT_OK_AND_ASSIGN(const auto kept, snapshots_->List("main"));
  EXPECT_THAT(kept, ElementsAre(Tx{1}));
}

TEST_F(SnapshotTest, OneOfAnotherFoldVersionIsRefused) {
  Append(4);
  Save();
  auto follower = MakeFollower(std::make_unique<NewerToy>());
  EXPECT_FALSE(Restore(*follower).has_value());
  EXPECT_THAT(support::LogLines(), Contains(HasSubstr("folded by version 1")));
}

TEST_F(SnapshotTest, OneOfOtherStreamsIsRefused) {
  Append(4);
  Save();
  auto follower = MakeFollower(kEvents);
  EXPECT_FALSE(Restore(*follower).has_value());
}

TEST_F(SnapshotTest, OneThatLoadsToAnotherStateIsRefused) {
  Append(4);
  const auto follower = CaughtUp();
  View view = *follower->view();
  // The header is of the real state, the parts are of another one.
  class Liar final : public ProjectionImage {
   public:
    explicit Liar(std::shared_ptr<const ProjectionImage> truth) : truth_(std::move(truth)) {}
    std::uint64_t StateDigest() const override { return truth_->StateDigest() + 1; }
    absl::Status Save(const StatePartSink& sink) const override { return truth_->Save(sink); }

   private:
    std::shared_ptr<const ProjectionImage> truth_;
  };
  view.streams[0].image = std::make_shared<Liar>(view.streams[0].image);
  ASSERT_OK(snapshots_->Save("main", view));
  auto fresh = MakeFollower();
  EXPECT_FALSE(Restore(*fresh).has_value());
  EXPECT_EQ(RowsToStart(), 4U);
}

TEST_F(SnapshotTest, AStoppedStreamIsNotSaved) {
  Append(4);
  const auto follower = CaughtUp();
  follower->Rebuild({&kThings, 1}, absl::UnavailableError("another history"));
  EXPECT_THAT(snapshots_->Save("main", *follower->view()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_OK_AND_ASSIGN(const auto kept, snapshots_->List("main"));
  EXPECT_THAT(kept, IsEmpty());
}

TEST_F(SnapshotTest, ADiskThatRefusesLeavesTheOlderOnes) {
  Append(4);
  Save();
  Append(1);
  const auto follower = CaughtUp();
  int at = 1;
  for (;; ++at) {
    disk_.calls = 0;
    disk_.fail_at = at;
    if (snapshots_->Save("main", *follower->view()).ok()) {
      break;
    }
    disk_.fail_at = 0;
    auto fresh = MakeFollower();
    EXPECT_TRUE(Restore(*fresh).has_value()) << "call " << at;
    EXPECT_LE(RowsToStart(), 2U) << "call " << at;
  }
  EXPECT_GE(at, 6) << "create, header, parts, sync, rename and directory were tried";
}

TEST_F(SnapshotTest, WhatAKilledProcessLeftIsNoObstacle) {
  Append(4);
  WriteFile(PathOf(Tx{4}) + ".tmp", "half");
  WriteFile(PathOf(Tx{2}) + ".tmp", "half");
  Save();
  EXPECT_EQ(ReadFile(PathOf(Tx{2}) + ".tmp"), "");
  EXPECT_EQ(RowsToStart(), 0U);
}

class HistoryVerifierTest : public SnapshotTest {
 protected:
  // What is found when everything up to now is read again.
  std::vector<std::string> Verify(Cursors through) {
    std::vector<std::string> found;
    HistoryVerifier verifier(journal_, std::move(through), [&](StreamId, const absl::Status& why) {
      found.emplace_back(why.message().data(), why.message().size());
    });
    while (verifier.Step(Soon())) {
    }
    rows_ = verifier.rows();
    return found;
  }
  // Changes the row at `position` wherever it is read.
  void Change(Position position, std::function<void(Record&)> change) {
    journal_.hooks.on_rows = [=](std::vector<Record>& rows) {
      for (Record& row : rows) {
        if (row.position == position) {
          change(row);
        }
      }
    };
  }

  std::uint64_t rows_ = 0;
};

TEST_F(HistoryVerifierTest, AHistoryThatIsRightIsReadToItsEnd) {
  Append(2500);
  const Cursors through = CaughtUp()->cursors();
  Append(5);
  EXPECT_THAT(Verify(through), IsEmpty());
  EXPECT_EQ(rows_, 2500U);
}

TEST_F(HistoryVerifierTest, AChangedPayloadIsFoundWithItsPosition) {
  Append(1500);
  const Cursors through = CaughtUp()->cursors();
  Change(Position{1200}, [](Record& row) { row.payload = Payload("forged"); });
  EXPECT_THAT(Verify(through), ElementsAre(HasSubstr("stream 3 position 1200: the checksum")));
}

TEST_F(HistoryVerifierTest, ARowThatWasMadeAnewIsFound) {
  Append(10);
  const Cursors through = CaughtUp()->cursors();
  Change(Position{7}, [](Record& row) {
    row.payload = Payload("forged");
    row.checksum = RowChecksum(row);
  });
  EXPECT_THAT(Verify(through), ElementsAre(HasSubstr("position 7: the digest")));
}

TEST_F(HistoryVerifierTest, AWholeHistoryThatWasMadeAnewIsFound) {
  Append(10);
  Cursors through = CaughtUp()->cursors();
  through[0].digest = Digest{Raw(through[0].digest) + 1};
  EXPECT_THAT(Verify(through), ElementsAre(HasSubstr("not the one that was known")));
}

TEST_F(HistoryVerifierTest, AHoleIsFound) {
  Append(10);
  const Cursors through = CaughtUp()->cursors();
  journal_.hooks.on_rows = [](std::vector<Record>& rows) {
    std::erase_if(rows, [](const Record& row) { return row.position == Position{4}; });
  };
  EXPECT_THAT(Verify(through), ElementsAre(HasSubstr("position 4 was expected")));
}

TEST_F(HistoryVerifierTest, AnEndThatIsGoneIsFound) {
  Append(10);
  const Cursors through = CaughtUp()->cursors();
  journal_.hooks.on_rows = [](std::vector<Record>& rows) {
    std::erase_if(rows, [](const Record& row) { return row.position > Position{8}; });
  };
  EXPECT_THAT(Verify(through), ElementsAre(HasSubstr("position 9: the rows end here")));
}

}  // namespace
}  // namespace engine
