// What the file backend adds to the contract that tests/conformance checks: bytes that rot after
// opening, readers of another process, writers that are killed, a long random life.

#include "engine/file/journal.h"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/bytes.h"
#include "engine/base/thread.h"
#include "engine/file/row_reader.h"
#include "engine/file/scan.h"
#include "engine/file/segment_log.h"
#include "engine/file/state.h"
#include "engine/memory/memory.h"
#include "tests/conformance/conformance.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/clocks.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

using conformance::kEvents;
using conformance::Soon;
using support::StatusIs;
using testing::HasSubstr;

std::vector<std::string> Bytes(std::span<const Record> rows) {
  std::vector<std::string> bytes;
  for (const Record& row : rows) {
    bytes.push_back(RowBytes(row) + ToHex(row.checksum) + ToHex(Raw(row.digest)));
  }
  return bytes;
}

class FileJournalTest : public testing::Test {
 protected:
  Options Small() const {
    Options options = data_.options();
    options.segment_bytes = 4096;
    return options;
  }

  // Flips a bit of a file while an engine has it open.
  void Rot(const std::string& name, std::uint64_t offset) {
    std::fstream file(data_.path() + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 4));
  }

  DataDirectory data_;
};

TEST_F(FileJournalTest, EveryBitThatRotsInARowIsNoticedWhenItIsRead) {
  {
    const auto engine = data_.Open();
    for (const char* payload : {"one", "two", "three"}) {
      AppendEvent(*engine, payload);
    }
  }
  const auto engine = data_.Open();  // Its memory holds no rows yet.
  const std::vector<std::uint64_t> offsets = FrameOffsets(data_.ReadAll()[SegmentName(Tx{1})]);
  const std::uint64_t row = offsets[1] + kFrameHeaderBytes;
  for (std::uint64_t at = row; at < offsets[2] - kFrameTrailerBytes; ++at) {
    Rot(SegmentName(Tx{1}), at);
    EXPECT_THAT(engine->journal().ReadStream(kEvents, Position{2}, 1, Soon()),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("stream 2 position 2")))
        << at - row;
    EXPECT_THAT(engine->journal().ReadAfter({{kEvents, Position{1}, {}}}, Soon()),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("stream 2 position 2")));
    const auto take = [](std::span<const Record>) { return absl::OkStatus(); };
    EXPECT_THAT(
        engine->journal().Scan({.after = conformance::FromTheStart(), .through = {}}, take, Soon()),
        StatusIs(absl::StatusCode::kDataLoss,
                 HasSubstr(absl::StrFormat("at byte %d: ", offsets[1]))));
    Rot(SegmentName(Tx{1}), at);
  }
  EXPECT_EQ(AllPayloads(*engine).size(), 3U);
}

TEST_F(FileJournalTest, RowsAreTheSameFromMemoryAndFromDisk) {
  std::vector<std::string> from_memory;
  {
    const auto engine = data_.Open(Small());
    for (int i = 0; i < 20; ++i) {
      AppendEvent(*engine, std::string(static_cast<std::size_t>(i) * 50, 'x'));
    }
    ASSERT_OK_AND_ASSIGN(const News news,
                         engine->journal().ReadAfter(conformance::FromTheStart(), Soon()));
    from_memory = Bytes(news.rows);
  }
  const auto engine = data_.Open(Small());
  ASSERT_OK_AND_ASSIGN(const News news,
                       engine->journal().ReadAfter(conformance::FromTheStart(), Soon()));
  EXPECT_EQ(Bytes(news.rows), from_memory);
  EXPECT_EQ(Bytes(AllRows(*engine)), from_memory);
  EXPECT_GT(data_.ReadAll().size(), 5U);  // Over several segments.
}

TEST_F(FileJournalTest, TimeDoesNotGoBackOverARestart) {
  support::WallClock clock({1'000'000});
  Options options = data_.options();
  options.clock = &clock;
  EXPECT_EQ(AppendEvent(*data_.Open(options), "one").at.micros, 1'000'000);
  clock.Set({5});
  EXPECT_EQ(AppendEvent(*data_.Open(options), "two").at.micros, 1'000'000);
}

TEST_F(FileJournalTest, AClosedJournalIsCoveredByItsHeadMark) {
  {
    AppendEvent(*data_.Open(), "one");
  }
  ASSERT_OK_AND_ASSIGN(const Directory directory, Directory::OpenForReading(data_.path()));
  ASSERT_OK_AND_ASSIGN(const HeadMark mark, ReadHeadMark(directory));
  EXPECT_EQ(mark.tx, Tx{1});
  EXPECT_EQ(mark.offset, data_.ReadAll()[SegmentName(Tx{1})].size());
}

TEST_F(FileJournalTest, ASegmentSwitchIsCoveredByTheHeadMark) {
  const auto engine = data_.Open(Small());
  while (!data_.ReadAll().contains(SegmentName(Tx{4}))) {
    AppendEvent(*engine, std::string(1200, 'x'));
  }
  ASSERT_OK_AND_ASSIGN(const Directory directory, Directory::OpenForReading(data_.path()));
  ASSERT_OK_AND_ASSIGN(const HeadMark mark, ReadHeadMark(directory));
  EXPECT_EQ(mark.tx, Tx{3});
}

TEST_F(FileJournalTest, ReadOnlyShowsTheJournalAndTakesNoWrites) {
  const auto engine = data_.Open(Small());
  for (int i = 0; i < 10; ++i) {
    AppendEvent(*engine, std::string(900, 'x'));
  }
  ASSERT_OK_AND_ASSIGN(const auto reader, OpenReadOnly(data_.path()));
  EXPECT_EQ(Bytes(AllRows(*reader)), Bytes(AllRows(*engine)));
  EXPECT_EQ(reader->journal().catalogue().size(), 3U);
  EXPECT_THAT(reader->journal().Begin(Soon()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(reader->CheckReady(Soon()), StatusIs(absl::StatusCode::kUnavailable));
  AppendEvent(*engine, "after it was opened");
  EXPECT_EQ(AllRows(*reader).size(), 10U);
}

// The reader opens the directory while frames are being written and segments are switched.
TEST_F(FileJournalTest, ReadersBesideAWriterSeeWholeTransactions) {
  const auto engine = data_.Open(Small());
  AppendEvent(*engine, "first");
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> committed = 1;
  Thread writer("writer", [&] {
    // So many, and no more: a reader that falls behind must not chase a journal that grows.
    for (std::size_t i = 0; i < 1500; ++i) {
      AppendEvent(*engine, std::string(i % 700, 'w'));
      ++committed;
    }
    done = true;
  });
  for (bool last = false; !last;) {
    last = done;
    const std::uint64_t before = committed;
    const auto reader = OpenReadOnly(data_.path());
    EXPECT_OK(reader);
    const std::vector<Record> rows = reader.ok() ? AllRows(**reader) : std::vector<Record>();
    EXPECT_GE(rows.size(), before);
    EXPECT_EQ(rows.size(), rows.empty() ? 0 : Raw(rows.back().position));
  }
}

// Any transactions on a file store with small segments, closed and opened now and then, and on
// the memory backend: both read the same, by every door.
TEST_F(FileJournalTest, ALongLifeIsTheSameAsInMemory) {
  support::SeededRandom random;
  const auto memory = memory::Open(conformance::Streams());
  auto engine = data_.Open(Small());
  for (int step = 0; step < 300; ++step) {
    ASSERT_OK_AND_ASSIGN(auto transaction, engine->journal().Begin(Soon()));
    ASSERT_OK_AND_ASSIGN(const LockedState state, transaction->Read({}));
    conformance::RowBuilder rows(state);
    for (std::uint64_t i = 0; i <= random.Below(4); ++i) {
      const StreamId stream{static_cast<std::uint32_t>(1 + random.Below(3))};
      rows.Add(stream, stream == conformance::kThings ? std::to_string(random.Below(20)) : "",
               std::string(random.Below(800), 'r'));
    }
    ASSERT_OK(transaction->Append(rows.rows(), {}));
    if (random.Below(10) == 0) {
      continue;  // Dropped.
    }
    ASSERT_EQ(transaction->Commit(Deadline::Infinite()).kind, CommitOutcome::Kind::kCommitted);
    transaction.reset();
    ASSERT_OK_AND_ASSIGN(auto model, memory->journal().Begin(Soon()));
    ASSERT_OK(model->Append(rows.rows(), {}));
    ASSERT_EQ(model->Commit(Deadline::Infinite()).kind, CommitOutcome::Kind::kCommitted);
    if (random.Below(40) == 0) {
      engine.reset();
      engine = data_.Open(Small());
    }
    Cursors after = conformance::FromTheStart();
    for (StreamCursor& cursor : after) {
      cursor.position = Position{random.Below(300)};
    }
    ASSERT_OK_AND_ASSIGN(const News ours, engine->journal().ReadAfter(after, Soon()));
    ASSERT_OK_AND_ASSIGN(const News theirs, memory->journal().ReadAfter(after, Soon()));
    ASSERT_EQ(Bytes(ours.rows), Bytes(theirs.rows));
    ASSERT_OK_AND_ASSIGN(const auto tails, engine->journal().Tails(Soon()));
    ASSERT_OK_AND_ASSIGN(const auto model_tails, memory->journal().Tails(Soon()));
    EXPECT_EQ(tails[0].last_payload, model_tails[0].last_payload);
    EXPECT_EQ(tails[2].digest, model_tails[2].digest);
  }
}

// Opens, appends for ever and writes each acknowledged position to `acks`. In a child process.
[[noreturn]] void WriteUntilKilled(const Options& options, int acks) {
  auto engine = file::Open(conformance::Streams(), options);
  while (engine.ok()) {
    auto transaction = (*engine)->journal().Begin(Deadline::Infinite());
    if (!transaction.ok()) {
      break;
    }
    const auto state = (*transaction)->Read({});
    conformance::RowBuilder rows(*state);
    rows.Add(kEvents, "", std::string(Raw(state->last_tx) % 900, 'k'));
    rows.Add(conformance::kAudit, "", "audit");
    if (!(*transaction)->Append(rows.rows(), {}).ok() ||
        (*transaction)->Commit(Deadline::Infinite()).kind != CommitOutcome::Kind::kCommitted) {
      break;
    }
    const std::uint64_t position = Raw(rows.rows().front().position);
    if (write(acks, &position, sizeof(position)) != sizeof(position)) {
      break;
    }
  }
  _exit(2);
}

TEST_F(FileJournalTest, AWriterThatIsKilledLosesNothingAcknowledged) {
  support::SeededRandom random;
  Options options = Small();
  options.disk = nullptr;  // The real one.
  options.mark_interval = std::chrono::milliseconds(5);
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 10; ++round) {
    int pipe_fds[2];
    ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
    const Fd acks(pipe_fds[0]);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      WriteUntilKilled(options, pipe_fds[1]);
    }
    close(pipe_fds[1]);
    // After so many acknowledgements the child is at a random place of the next ones.
    std::uint64_t position = 0;
    for (std::uint64_t left = 1 + random.Below(40); left > 0; --left) {
      ASSERT_EQ(read(acks.get(), &position, sizeof(position)), ssize_t{sizeof(position)});
    }
    kill(child, SIGKILL);
    while (read(acks.get(), &position, sizeof(position)) == ssize_t{sizeof(position)}) {
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    ASSERT_GT(position, acknowledged);
    acknowledged = position;

    const auto engine = data_.Open();
    ASSERT_NE(engine, nullptr);
    ASSERT_OK_AND_ASSIGN(const auto tails, engine->journal().Tails(Soon()));
    EXPECT_GE(Raw(tails[1].position), acknowledged);
    EXPECT_EQ(tails[0].position, tails[1].position);  // Records and audit agree.
    EXPECT_EQ(AllRows(*engine).size(), 2 * Raw(tails[1].position));
  }
}

// One of a stream's rows lies where another should: the place is wrong, not the bytes.
TEST_F(FileJournalTest, ARowInThePlaceOfAnotherIsRefused) {
  {
    AppendEvent(*data_.Open(), "one");
  }
  ASSERT_OK_AND_ASSIGN(const Directory directory, Directory::OpenForReading(data_.path()));
  constexpr std::uint32_t kRow = kSegmentHeaderBytes + kFrameHeaderBytes;
  const auto find = [](Position, std::size_t) -> std::vector<Place> {
    return {{.position = Position{1}, .segment = {.first = Tx{1}}, .offset = kRow}};
  };
  StreamReader reader(directory, kEvents, Position{1}, Position{1}, StreamReader::Gaps::kNo, find);
  EXPECT_OK(reader.Next());
  StreamReader other(directory, conformance::kThings, Position{1}, Position{1},
                     StreamReader::Gaps::kNo, find);
  EXPECT_THAT(other.Next(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("another row")));
}

}  // namespace
}  // namespace engine::file
