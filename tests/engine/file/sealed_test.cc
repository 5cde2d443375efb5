// Closed segments are not read when a directory is opened, and believed no less for it.

#include "engine/file/sealed.h"

#include <atomic>
#include <cerrno>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "engine/base/disk.h"
#include "engine/snapshot.h"
#include "tests/conformance/conformance.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

using conformance::kAudit;
using conformance::kEvents;
using conformance::Soon;
using support::StatusIs;
using testing::HasSubstr;

constexpr char kName[] = "sealed";

std::vector<SegmentFacts> Example() {
  SegmentFacts first{.id = {.first = Tx{1}}, .marker = 7, .bytes = 4096, .last_tx = Tx{9}};
  first.digest = FrameDigest{11};
  first.Note(kEvents, Position{1}, Tx{2}, {5}, Digest{1});
  first.Note(kAudit, Position{3}, Tx{8}, {6}, Digest{2});
  first.Note(kEvents, Position{4}, Tx{9}, {7}, Digest{3});
  SegmentFacts second{.id = {.first = Tx{10}, .generation = 2}, .marker = 8, .bytes = 48};
  second.has_answers = true;
  return {first, second};
}

TEST(SealedListTest, WhatWasWrittenIsRead) {
  ASSERT_OK_AND_ASSIGN(const std::vector<SegmentFacts> read, DecodeSealed(EncodeSealed(Example())));
  EXPECT_EQ(read, Example());
  EXPECT_EQ(read[0].rows(), 3U);
  EXPECT_EQ(read[0].at(), Timestamp{7});
}

TEST(SealedListTest, EveryFlippedBitIsRefused) {
  const std::string good = EncodeSealed(Example());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    ASSERT_FALSE(DecodeSealed(bad).ok()) << "bit " << bit;
  }
  EXPECT_FALSE(DecodeSealed(good.substr(0, good.size() - 1)).ok());
}

// Two rows a segment, so that the segments are many and small.
class SealedTest : public testing::Test {
 protected:
  Options SmallSegments() const {
    Options options = data_.options();
    options.segment_bytes = std::uint64_t{4} << 10;
    return options;
  }
  void Fill(int rows) const {
    const auto engine = data_.Open(SmallSegments());
    for (int i = 0; i < rows; ++i) {
      AppendEvent(*engine, std::string(1500, 'x'));
    }
  }
  std::unique_ptr<Engine> Reopen() const { return data_.Open(SmallSegments()); }
  absl::StatusOr<std::vector<Record>> Row(Engine& engine, std::uint64_t position) const {
    return engine.journal().ReadStream(kEvents, Position{position}, 1, Soon());
  }
  static std::size_t Segments(const Files& files) {
    return static_cast<std::size_t>(std::ranges::count_if(
        files, [](const auto& file) { return file.first.starts_with("journal-"); }));
  }
  // What an opening reads.
  std::uint64_t Cost() const {
    const std::uint64_t before = BytesRead();
    const auto engine = Reopen();
    return BytesRead() - before;
  }

  DataDirectory data_;
};

TEST_F(SealedTest, TenTimesTheHistoryCostsAnOpeningNoMoreThanItsHeaders) {
  constexpr std::uint64_t kBytesASegment = kSegmentHeaderBytes + 56 + 56;  // Of one stream.
  Fill(40);
  const std::size_t segments = Segments(data_.ReadAll());
  const std::uint64_t cost = Cost();
  Fill(400);
  const std::size_t more = Segments(data_.ReadAll()) - segments;
  EXPECT_EQ(more, 200U);
  EXPECT_LE(Cost(), cost + more * kBytesASegment);
}

TEST_F(SealedTest, WhatWasNotReadIsThereForWhoeverAsks) {
  Fill(20);
  const auto engine = Reopen();
  for (const std::uint64_t position : {7, 1, 20, 8}) {
    ASSERT_OK_AND_ASSIGN(const std::vector<Record> rows, Row(*engine, position));
    EXPECT_EQ(rows.front().position, Position{position});
  }
  EXPECT_EQ(AllRows(*engine).size(), 20U);
  ASSERT_OK_AND_ASSIGN(const News news,
                       engine->journal().ReadAfter(conformance::FromTheStart(), Soon()));
  EXPECT_EQ(news.rows.size(), 20U);
  EXPECT_EQ(AppendEvent(*engine, "next").position, Position{21});
}

TEST_F(SealedTest, DamageIsFoundWithItsPlaceWhenItIsRead) {
  Fill(20);
  Files files = data_.ReadAll();
  std::string& segment = files[SegmentName(Tx{5})];
  const std::uint64_t frame = FrameOffsets(segment)[1];
  segment[frame + 200] ^= 1;
  data_.WriteAll(files);
  const auto damaged =
      StatusIs(absl::StatusCode::kDataLoss,
               HasSubstr(absl::StrFormat("%s at byte %d: ", SegmentName(Tx{5}), frame)));
  const auto engine = Reopen();
  EXPECT_THAT(Row(*engine, 6), damaged);
  EXPECT_THAT(Row(*engine, 6).status().ToString(),
              HasSubstr(absl::StrFormat("stream %d position 5: ", Raw(kEvents))));
  EXPECT_THAT(Row(*engine, 5), damaged);
  EXPECT_OK(Row(*engine, 4));
  EXPECT_THAT(Row(*engine, 7), damaged) << "what it follows is not known";
  EXPECT_OK(Row(*engine, 8));
  EXPECT_THAT(engine->journal().Scan(
                  {.after = conformance::FromTheStart()},
                  [](const auto&) { return absl::OkStatus(); }, Soon()),
              damaged);
  EXPECT_EQ(AppendEvent(*engine, "next").position, Position{21});
  EXPECT_THAT(OpenReadOnly(data_.path()), damaged) << "a tool reads all";
}

TEST_F(SealedTest, AnotherFileThanTheOneThatWasToldOfIsRead) {
  Fill(20);
  const Files whole = data_.ReadAll();
  const std::string name = SegmentName(Tx{5});
  const auto refused = [&](auto change) {
    Files files = whole;
    change(files);
    data_.WriteAll(files);
    EXPECT_THAT(file::Open(conformance::Streams(), SmallSegments()),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(" at byte ")));
  };
  refused([&](Files& files) { files[name].pop_back(); });
  refused([&](Files& files) { files[name] += '\0'; });
  refused([&](Files& files) { files[name][17] ^= 1; });
  refused([&](Files& files) { files.erase(name); });
}

// Somebody who can compute checksums, or a fault of ours.
TEST_F(SealedTest, WhatWasToldHasToBeThere) {
  Fill(20);
  Files files = data_.ReadAll();
  ASSERT_OK_AND_ASSIGN(std::vector<SegmentFacts> sealed, DecodeSealed(files.at(kName)));
  ASSERT_EQ(sealed[2].id.first, Tx{5});
  ++sealed[2].streams[0].rows;
  files[kName] = EncodeSealed(sealed);
  data_.WriteAll(files);
  const auto engine = Reopen();
  EXPECT_OK(Row(*engine, 4));
  EXPECT_THAT(Row(*engine, 5), StatusIs(absl::StatusCode::kDataLoss,
                                        HasSubstr("not what the list of closed segments says")));
}

TEST_F(SealedTest, WithoutItOrWithADamagedOneAllIsReadAndItIsMadeAnew) {
  Fill(20);
  const Files whole = data_.ReadAll();
  Files files = whole;
  files.erase(kName);
  data_.WriteAll(files);
  EXPECT_GT(Cost(), 20U * 1500U);
  EXPECT_EQ(data_.ReadAll().at(kName), whole.at(kName));
  files[kName] = whole.at(kName);
  files[kName][20] ^= 1;
  data_.WriteAll(files);
  EXPECT_GT(Cost(), 20U * 1500U);
  EXPECT_THAT(support::LogLines(), testing::Contains(HasSubstr("of no use; they are read")));
  EXPECT_EQ(data_.ReadAll().at(kName), whole.at(kName));
}

// A stream that was quiet for long ends in a segment that nobody needs for anything else.
TEST_F(SealedTest, ASnapshotIsComparedWithoutReadingWhatIsClosed) {
  {
    const auto engine = Reopen();
    ASSERT_OK_AND_ASSIGN(const auto transaction, engine->journal().Begin(Soon()));
    ASSERT_OK_AND_ASSIGN(const LockedState state, transaction->Read({}));
    ASSERT_OK(transaction->Append(
        conformance::RowBuilder(state).Add(conformance::kThings, "quiet", "thing").rows(), {}));
    ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  }
  Fill(20);
  const auto engine = Reopen();
  ASSERT_OK_AND_ASSIGN(const std::vector<StreamTail> tails, engine->journal().Tails(Soon()));
  SnapshotHeader header;
  for (const StreamTail& tail : tails) {
    header.streams.push_back(
        {.cursor = {tail.stream, tail.position, tail.digest}, .tx = tail.tx, .at = tail.at});
  }
  const std::uint64_t before = BytesRead();
  EXPECT_OK(CheckAgrees(engine->journal(), header, Soon()));
  EXPECT_EQ(BytesRead(), before);
}

// Has no room for the list, as long as it is told so.
class FullForTheList final : public HastyDisk {
 public:
  int Create(int directory, const std::string& name) override {
    if (is_full && name.starts_with(kName)) {
      ++refused;
      errno = ENOSPC;
      return -1;
    }
    return Disk::Create(directory, name);
  }
  std::atomic<bool> is_full = true;
  std::atomic<int> refused = 0;
};

TEST_F(SealedTest, IsWrittenWhileTheStoreIsOpenAndHoldsNobodyUp) {
  FullForTheList disk;
  Options options = SmallSegments();
  options.disk = &disk;
  options.mark_interval = std::chrono::milliseconds(1);
  const auto engine = data_.Open(options);
  const auto append = [&engine](int rows) {
    for (int i = 0; i < rows; ++i) {
      AppendEvent(*engine, std::string(1500, 'x'));
    }
  };
  append(6);
  ASSERT_TRUE(support::WaitFor([&] { return disk.refused > 0; }, Soon()));
  append(1);
  EXPECT_FALSE(data_.ReadAll().contains(kName));
  disk.is_full = false;
  append(1);
  // As a process that is killed now leaves it.
  Files files;
  ASSERT_TRUE(support::WaitFor(
      [&] {
        files = data_.ReadAll();
        const auto sealed = DecodeSealed(files[kName]);
        return sealed.ok() && sealed->size() == 3;
      },
      Soon()));
  const DataDirectory copy;
  copy.WriteAll(files);
  EXPECT_EQ(AllRows(*copy.Open()).size(), 8U);
}

// What a retry is answered with is not on disk in vain.
TEST_F(SealedTest, AnswersThatAreStillKeptAreReadFromWhereverTheyAre) {
  const std::string key(kAnswerHashBytes, 'k');
  {
    const auto engine = Reopen();
    ASSERT_OK_AND_ASSIGN(const auto transaction, engine->journal().Begin(Soon()));
    ASSERT_OK_AND_ASSIGN(const LockedState state, transaction->Read({}));
    const std::vector<Record> rows =
        conformance::RowBuilder(state).Add(kEvents, "", "answered").rows();
    ASSERT_OK(transaction->Append(rows, {{.key = key,
                                          .request = std::string(kAnswerHashBytes, 'r'),
                                          .answer = "201",
                                          .tx = rows.front().tx,
                                          .at = rows.front().at}}));
    ASSERT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  }
  Fill(20);
  const auto engine = Reopen();
  ASSERT_OK_AND_ASSIGN(const auto transaction, engine->journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const LockedState state, transaction->Read({.answers = {key}}));
  ASSERT_EQ(state.answers.size(), 1U);
  EXPECT_EQ(state.answers.front().answer, "201");
}

}  // namespace
}  // namespace engine::file
