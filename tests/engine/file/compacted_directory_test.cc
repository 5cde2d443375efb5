// A data directory that was compacted: a step is done or not, whatever the disk does, and what is
// left is believed only with its proof.

#include <algorithm>
#include <cerrno>
#include <optional>

#include <gmock/gmock.h>

#include "engine/compactor.h"
#include "engine/file/floors.h"
#include "engine/file/row_reader.h"
#include "engine/follower.h"
#include "tests/conformance/conformance.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/logs.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace engine::file {
namespace {

using conformance::kEvents;
using conformance::kThings;
using conformance::Soon;
using support::StatusIs;
using testing::HasSubstr;

// Refuses one call that changes the disk, by its number.
class FailingDisk final : public HastyDisk {
 public:
  int Create(int directory, const std::string& name) override {
    return Fails() ? -1 : Disk::Create(directory, name);
  }
  ssize_t Write(int fd, std::string_view bytes, std::uint64_t offset) override {
    return Fails() ? -1 : Disk::Write(fd, bytes, offset);
  }
  int Sync(int) override { return Fails() ? -1 : 0; }
  int Rename(int directory, const std::string& from, const std::string& to) override {
    return Fails() ? -1 : Disk::Rename(directory, from, to);
  }
  int Remove(int directory, const std::string& name) override {
    return Fails() ? -1 : Disk::Remove(directory, name);
  }
  void Arm(int nth) {
    calls_ = 0;
    nth_ = nth;
  }
  bool fired() const { return nth_ != 0 && calls_ >= nth_; }

 private:
  bool Fails() {
    if (++calls_ != nth_) {
      return false;
    }
    errno = ENOSPC;
    return true;
  }

  int calls_ = 0;
  int nth_ = 0;
};

class CompactedDirectoryTest : public testing::Test {
 protected:
  void Put(Engine& engine, const std::string& key, const std::string& value) {
    auto transaction = engine.journal().Begin(Soon());
    ASSERT_OK(transaction);
    const auto state = (*transaction)->Read({});
    ASSERT_OK(state);
    const std::vector<Record> rows =
        support::RowBuilder(*state).Add(kThings, key, value, newest_[key]).rows();
    ASSERT_OK((*transaction)->Append(rows));
    ASSERT_OK((*transaction)->Commit().why);
    newest_[key] = rows.front().position;
  }
  void PutMany(Engine& engine, int count) {
    for (int i = 0; i < count; ++i) {
      Put(engine, "key" + std::to_string(i % 5), std::string(200, 'a') + std::to_string(i));
    }
  }
  static absl::Status Raise(Engine& engine, std::uint64_t to) {
    Compactor compactor(engine.journal(), {.retentions = {}, .rows_a_step = 1000});
    return compactor.RaiseTo(kThings, Position{to}, std::chrono::seconds(30)).status();
  }
  static Floor FloorOf(Engine& engine) { return (*engine.journal().Tails(Soon()))[2].floor; }
  static std::uint64_t StateOf(Engine& engine) {
    std::vector<std::unique_ptr<Projection>> projections;
    projections.push_back(std::make_unique<support::ToyProjection>(kThings));
    Follower follower(std::move(projections));
    EXPECT_OK(follower.Replay(engine.journal(), std::nullopt, Soon()));
    const StreamView& stream = *follower.view()->Find(kThings);
    EXPECT_OK(stream.health);
    return stream.image->StateDigest() + Raw(stream.digest);
  }
  absl::Status OpenAgain() {
    return file::Open(conformance::Streams(), directory_.options()).status();
  }

  DataDirectory directory_;
  std::map<std::string, Position> newest_;
};

TEST_F(CompactedDirectoryTest, AStepIsDoneOrNotWhateverTheDiskDoes) {
  support::ExpectErrorLogs();
  FailingDisk disk;
  Options options = directory_.options();
  options.disk = &disk;
  std::uint64_t to = 0;
  bool fired = true;
  for (int nth = 1; fired; ++nth) {
    std::uint64_t expected = 0;
    Floor before;
    {
      const auto engine = directory_.Open(options);
      PutMany(*engine, 12);
      to += 10;
      before = FloorOf(*engine);
      expected = StateOf(*engine);
      disk.Arm(nth);
      const absl::Status raised = Raise(*engine, to);
      fired = disk.fired();
      EXPECT_TRUE(raised.ok() || FloorOf(*engine) == before) << "call " << nth;
      EXPECT_EQ(StateOf(*engine), expected) << "call " << nth;
      disk.Arm(0);
    }
    const auto engine = directory_.Open(options);
    const Floor after = FloorOf(*engine);
    EXPECT_TRUE(after == before || after.position == Position{to}) << "call " << nth;
    EXPECT_EQ(StateOf(*engine), expected) << "call " << nth;
    ASSERT_LT(nth, 100);
  }
  EXPECT_GT(to, 40U) << "several calls were made to fail";
}

TEST_F(CompactedDirectoryTest, AFloorThatIsNotProvedIsRefused) {
  {
    const auto engine = directory_.Open();
    PutMany(*engine, 20);
    ASSERT_OK(Raise(*engine, 10));
  }
  const Files good = directory_.ReadAll();
  ASSERT_OK_AND_ASSIGN(const Floors floors, Floors::Decode(good.at("floors")));
  const auto refused = [&](auto change) {
    StreamFloor stream = floors.streams().front();
    change(stream);
    Files files = good;
    files["floors"] = Floors({stream}).Encode();
    directory_.WriteAll(files);
    EXPECT_THAT(OpenAgain(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("stream 3")));
    EXPECT_THAT(OpenReadOnly(directory_.path()), StatusIs(absl::StatusCode::kDataLoss));
  };
  refused([](StreamFloor& stream) { ++stream.floor.rows; });
  refused([](StreamFloor& stream) { ++stream.floor.sum; });
  refused([](StreamFloor& stream) { stream.floor.digest = Digest{1}; });
  refused([](StreamFloor& stream) { stream.floor.position = Position{50}; });
  refused([](StreamFloor& stream) { stream.dead.pop_back(); });
  refused([](StreamFloor& stream) { stream.dead.push_back(Position{9}); });
  Files damaged = good;
  damaged["floors"].back() ^= 1;
  directory_.WriteAll(damaged);
  EXPECT_THAT(OpenAgain(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("floors at byte 0")));
  directory_.WriteAll(good);
  EXPECT_OK(OpenAgain());
}

TEST_F(CompactedDirectoryTest, AToolReadsItWhileTheServerGoesOn) {
  const auto engine = directory_.Open();
  PutMany(*engine, 30);
  ASSERT_OK(Raise(*engine, 10));
  ASSERT_OK_AND_ASSIGN(const auto tool, OpenReadOnly(directory_.path()));
  const std::uint64_t state = StateOf(*engine);
  ASSERT_OK(Raise(*engine, 25));
  EXPECT_EQ(FloorOf(*tool).position, Position{10});
  EXPECT_EQ(StateOf(*tool), state);
  EXPECT_FALSE(Raise(*tool, 20).ok());
}

TEST_F(CompactedDirectoryTest, NewsNeverHasAGap) {
  const auto engine = directory_.Open();
  for (int i = 0; i < 4; ++i) {
    AppendEvent(*engine, "event");
  }
  // A reader that finds, between two looks, that compaction took the row it wants next.
  ASSERT_OK_AND_ASSIGN(const Directory directory, Directory::OpenForReading(directory_.path()));
  const std::string segment = directory_.ReadAll().at(SegmentName(Tx{1}));
  const std::vector<std::uint64_t> frames = FrameOffsets(segment);
  const auto find = [&](Position from, std::size_t) -> std::vector<Place> {
    const Position next = from == Position{2} ? Position{3} : from;
    return {{next, Tx{1}, static_cast<std::uint32_t>(frames[Raw(next) - 1] + kFrameHeaderBytes)}};
  };
  const auto read = [&](StreamReader::Gaps gaps) {
    StreamReader reader(directory, kEvents, Position{1}, Position{4}, gaps, find);
    EXPECT_OK(reader.Next());
    return reader.Next();
  };
  EXPECT_THAT(read(StreamReader::Gaps::kNo), StatusIs(absl::StatusCode::kAborted));
  const auto with_gaps = read(StreamReader::Gaps::kYes);
  ASSERT_OK(with_gaps);
  EXPECT_EQ((*with_gaps)->position, Position{3});
}

}  // namespace
}  // namespace engine::file
