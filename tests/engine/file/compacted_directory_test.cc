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

// Refuses a call that changes the disk, by its number; or all from that one on, like a machine that
// died then.
class FailingDisk final : public HastyDisk {
 public:
  int Create(int directory, const std::string& name) override {
    return Fails() ? -1 : Disk::Create(directory, name);
  }
  ssize_t Write(int fd, std::string_view bytes, std::uint64_t offset) override {
    return Fails() ? -1 : Disk::Write(fd, bytes, offset);
  }
  int Sync(int) override { return Fails() ? -1 : 0; }
  int SyncData(int) override { return Fails() ? -1 : 0; }
  int Rename(int directory, const std::string& from, const std::string& to) override {
    return Fails() ? -1 : Disk::Rename(directory, from, to);
  }
  int Remove(int directory, const std::string& name) override {
    return Fails() ? -1 : Disk::Remove(directory, name);
  }
  void Arm(int nth, bool for_good = false) {
    calls_ = 0;
    nth_ = nth;
    for_good_ = for_good;
  }
  bool fired() const { return nth_ != 0 && calls_ >= nth_; }

 private:
  bool Fails() {
    ++calls_;
    if (nth_ == 0 || (for_good_ ? calls_ < nth_ : calls_ != nth_)) {
      return false;
    }
    errno = ENOSPC;
    return true;
  }

  int calls_ = 0;
  int nth_ = 0;
  bool for_good_ = false;
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
    ASSERT_OK((*transaction)->Append(rows, {}));
    ASSERT_OK((*transaction)->Commit(Soon()).why);
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

  // The directory with segments of a few rows each.
  Options SmallSegments() const {
    Options options = directory_.options();
    options.segment_bytes = std::uint64_t{4} << 10;
    return options;
  }
  std::size_t JournalBytes() const {
    std::size_t bytes = 0;
    for (const auto& [name, content] : directory_.ReadAll()) {
      bytes += name.starts_with("journal-") ? content.size() : 0;
    }
    return bytes;
  }
  void FailEachCall(bool for_good);

  DataDirectory directory_;
  std::map<std::string, Position> newest_;
};

void CompactedDirectoryTest::FailEachCall(bool for_good) {
  support::ExpectErrorLogs();
  FailingDisk disk;
  Options options = SmallSegments();
  options.disk = &disk;
  std::uint64_t to = 0;
  bool fired = true;
  for (int nth = 1; fired; ++nth) {
    std::uint64_t expected = 0;
    Floor before;
    {
      const auto engine = directory_.Open(options);
      PutMany(*engine, 45);
      to += 40;
      before = FloorOf(*engine);
      expected = StateOf(*engine);
      disk.Arm(nth, for_good);
      const absl::Status raised = Raise(*engine, to);
      fired = disk.fired();
      EXPECT_TRUE(!raised.ok() || FloorOf(*engine).position == Position{to}) << "call " << nth;
      EXPECT_EQ(StateOf(*engine), expected) << "call " << nth;
      disk.Arm(0);
    }
    const auto engine = directory_.Open(options);
    const Floor after = FloorOf(*engine);
    EXPECT_TRUE(after == before || after.position == Position{to}) << "call " << nth;
    EXPECT_EQ(StateOf(*engine), expected) << "call " << nth;
    ASSERT_LT(nth, 100);
  }
  EXPECT_GT(to, 400U) << "at least ten calls were made to fail";
}

TEST_F(CompactedDirectoryTest, AStepIsDoneOrNotWhicheverCallFails) {
  FailEachCall(false);
}

TEST_F(CompactedDirectoryTest, AStepIsDoneOrNotWheneverTheMachineDies) {
  FailEachCall(true);
}

TEST_F(CompactedDirectoryTest, TheRoomOfDeadRowsIsGivenBack) {
  std::uint64_t state = 0;
  std::size_t before = 0;
  {
    const auto engine = directory_.Open(SmallSegments());
    for (int i = 0; i < 60; ++i) {
      PutMany(*engine, 5);
      AppendEvent(*engine, "stays");
    }
    before = JournalBytes();
    state = StateOf(*engine);
    for (std::uint64_t to = 10; to < 300; to += 10) {
      ASSERT_OK(Raise(*engine, to));
      ASSERT_EQ(StateOf(*engine), state) << to;
    }
    EXPECT_LT(JournalBytes(), before / 3);
    EXPECT_EQ(std::ranges::count(AllPayloads(*engine), "stays"), 60);
    EXPECT_EQ(AppendEvent(*engine, "goes on").position, Position{61});
  }
  const auto again = directory_.Open(SmallSegments());
  EXPECT_EQ(StateOf(*again), state);
  EXPECT_EQ(AllPayloads(*again).size(), 61U + 5U + 10U) << "five keys, and all above the floor";
  ASSERT_OK_AND_ASSIGN(const auto tool, OpenReadOnly(directory_.path()));
  EXPECT_EQ(StateOf(*tool), state);
}

TEST_F(CompactedDirectoryTest, AnOldGenerationThatWasLeftIsRemoved) {
  Files old;
  std::uint64_t state = 0;
  {
    const auto engine = directory_.Open(SmallSegments());
    PutMany(*engine, 100);
    old = directory_.ReadAll();
    ASSERT_OK(Raise(*engine, 90));
    state = StateOf(*engine);
  }
  Files files = directory_.ReadAll();
  const auto newer = std::ranges::find_if(
      files, [](const auto& file) { return file.first.ends_with("-00000001"); });
  ASSERT_NE(newer, files.end());
  const std::string name = newer->first.substr(0, newer->first.size() - 9);
  ASSERT_FALSE(files.contains(name));
  files[name] = old.at(name);
  directory_.WriteAll(files);
  ASSERT_OK_AND_ASSIGN(const auto tool, OpenReadOnly(directory_.path()));
  EXPECT_EQ(StateOf(*tool), state);
  const auto engine = directory_.Open(SmallSegments());
  EXPECT_EQ(StateOf(*engine), state);
  EXPECT_FALSE(directory_.ReadAll().contains(name));
}

TEST_F(CompactedDirectoryTest, AScanReadsItsCutWhateverIsCompactedMeanwhile) {
  const auto engine = directory_.Open(SmallSegments());
  // Larger than what a scan hands over at once, each row in a segment of its own.
  constexpr int kRows = 40;
  for (int i = 0; i < kRows; ++i) {
    Put(*engine, "key", std::string(100'000, 'a'));
  }
  std::uint64_t rows = 0;
  const auto take = [&](std::span<const Record> some) {
    rows += some.size();
    // One row a step, and with each step a segment is written anew that can be.
    Compactor compactor(engine->journal(), {.retentions = {}, .rows_a_step = 1});
    EXPECT_OK(compactor.RaiseTo(kThings, Position{kRows - 1}, std::chrono::seconds(30)));
    return absl::OkStatus();
  };
  EXPECT_OK(engine->journal().Scan({.after = {{kThings, {}, {}}}}, take, Soon()));
  EXPECT_EQ(rows, static_cast<std::uint64_t>(kRows));
}

TEST_F(CompactedDirectoryTest, EveryFlippedBitOfASegmentThatWasWrittenAnewIsRefused) {
  {
    const auto engine = directory_.Open(SmallSegments());
    PutMany(*engine, 60);
    ASSERT_OK(Raise(*engine, 50));
  }
  const Files good = directory_.ReadAll();
  const auto anew = std::ranges::find_if(
      good, [](const auto& file) { return file.first.ends_with("-00000001"); });
  ASSERT_NE(anew, good.end());
  for (std::size_t bit = 0; bit < anew->second.size() * 8; bit += 3) {
    Files files = good;
    char& byte = files[anew->first][bit / 8];
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    directory_.WriteAll(files);
    ASSERT_FALSE(OpenReadOnly(directory_.path()).ok()) << "bit " << bit;
  }
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
    return {{.position = next,
             .segment = {.first = Tx{1}},
             .offset = static_cast<std::uint32_t>(frames[Raw(next) - 1] + kFrameHeaderBytes)}};
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
