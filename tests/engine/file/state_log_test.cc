// The state file: what survives, what is cut, what is refused, and that it does not grow.

#include "engine/file/state_log.h"

#include <cerrno>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "engine/base/disk.h"
#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/conformance/conformance.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

using conformance::Soon;
using std::chrono::milliseconds;
using std::chrono::minutes;
using support::StatusIs;
using testing::AllOf;
using testing::HasSubstr;

std::string NewestState(const Files& files) {
  std::string newest;
  for (const auto& [name, bytes] : files) {
    if (name.starts_with("state-")) {
      newest = std::max(newest, name);
    }
  }
  return newest;
}

// Fails chosen calls.
class FaultyDisk final : public HastyDisk {
 public:
  std::atomic<int> fail_writes{0};
  std::atomic<bool> fail_sync{false};
  std::atomic<bool> fail_truncate{false};
  std::atomic<bool> fail_rename{false};

  ssize_t Write(int fd, std::string_view bytes, std::uint64_t offset) override {
    if (fail_writes > 0) {
      --fail_writes;
      // Half of it gets there.
      const ssize_t half = Disk::Write(fd, bytes.substr(0, bytes.size() / 2), offset);
      EXPECT_GE(half, 0);
      errno = ENOSPC;
      return -1;
    }
    return Disk::Write(fd, bytes, offset);
  }
  int SyncData(int) override { return Answer(fail_sync); }
  int Rename(int directory, const std::string& from, const std::string& to) override {
    return fail_rename ? Answer(true) : Disk::Rename(directory, from, to);
  }
  int Truncate(int fd, std::uint64_t size) override {
    return fail_truncate ? Answer(true) : Disk::Truncate(fd, size);
  }

 private:
  static int Answer(bool fail) {
    errno = EIO;
    return fail ? -1 : 0;
  }
};

class StateLogTest : public testing::Test {
 protected:
  Options options() {
    Options options = data_.options();
    options.disk = &disk_;
    options.state_bytes = 4096;
    options.on_fatal = [this](const absl::Status& why) { fatal_.push_back(why); };
    return options;
  }
  std::unique_ptr<Engine> Open() { return data_.Open(options()); }

  static std::string ValueOf(Engine& engine, const std::string& key) {
    const auto entry = engine.key_value().Get(key, Soon());
    EXPECT_OK(entry);
    return entry.ok() && entry->has_value() ? (*entry)->value : "(none)";
  }
  static absl::Status Put(Engine& engine, const std::string& key, const std::string& value) {
    return engine.key_value().Put(key, value, std::nullopt, Soon());
  }

  // A closed directory with three rows, each its own frame.
  Files ThreeFrames() {
    const auto engine = Open();
    for (const char* key : {"a", "b", "c"}) {
      EXPECT_OK(Put(*engine, key, "value of " + std::string(key)));
    }
    return data_.ReadAll();
  }
  absl::Status OpenFails(const Files& files) {
    data_.WriteAll(files);
    const absl::Status status = file::Open(conformance::Streams(), options()).status();
    EXPECT_EQ(data_.ReadAll(), files) << "a refused directory must not be changed";
    return status;
  }

  DataDirectory data_;
  FaultyDisk disk_;
  std::vector<absl::Status> fatal_;
};

TEST_F(StateLogTest, ADirectoryThatLostItsStateIsRefusedByName) {
  Files files = ThreeFrames();
  files.erase(NewestState(files));
  EXPECT_THAT(OpenFails(files),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(data_.path() + "/state-*")));
}

TEST_F(StateLogTest, EveryTruncationOfTheLastFrameIsCutOffOnce) {
  Files files = ThreeFrames();
  const std::string name = NewestState(files);
  const std::string whole = files[name];
  const std::vector<std::uint64_t> frames = FrameOffsets(whole);
  ASSERT_EQ(frames.size(), 4U);
  for (std::uint64_t size = frames[2]; size < frames[3]; ++size) {
    files[name] = whole.substr(0, size);
    data_.WriteAll(files);
    const auto engine = Open();
    EXPECT_EQ(ValueOf(*engine, "b"), "value of b") << size;
    EXPECT_EQ(ValueOf(*engine, "c"), "(none)") << size;
    EXPECT_OK(Put(*engine, "d", "after"));
  }
  const auto again = Open();
  EXPECT_EQ(ValueOf(*again, "d"), "after");
}

TEST_F(StateLogTest, EveryFlippedBitBeforeTheLastFrameIsRefusedWithItsPlace) {
  const Files files = ThreeFrames();
  const std::string name = NewestState(files);
  const std::vector<std::uint64_t> frames = FrameOffsets(files.at(name));
  for (std::uint64_t byte = 0; byte < frames[2]; ++byte) {
    Files damaged = files;
    damaged[name][byte] = static_cast<char>(damaged[name][byte] ^ (1 << byte % 8));
    const absl::Status status = OpenFails(damaged);
    ASSERT_FALSE(status.ok()) << byte;
    const std::uint64_t place = byte < frames[0] ? 0 : byte < frames[1] ? frames[0] : frames[1];
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr(name), HasSubstr(absl::StrFormat("at byte %d:", place)))))
        << byte;
  }
}

TEST_F(StateLogTest, AFlippedBitInTheLastFrameIsATornWrite) {
  Files files = ThreeFrames();
  std::string& bytes = files[NewestState(files)];
  bytes[bytes.size() - 10] = static_cast<char>(bytes[bytes.size() - 10] ^ 1);
  data_.WriteAll(files);
  const auto engine = Open();
  EXPECT_EQ(ValueOf(*engine, "c"), "(none)");
  EXPECT_EQ(ValueOf(*engine, "b"), "value of b");
}

TEST_F(StateLogTest, AFrameOfAnotherHistoryIsRefused) {
  Files files = ThreeFrames();
  const std::string name = NewestState(files);
  const std::string whole = files[name];
  const std::vector<std::uint64_t> frames = FrameOffsets(whole);
  // The second frame is gone; the third is whole but follows nothing.
  files[name] = whole.substr(0, frames[1]) + whole.substr(frames[2]);
  EXPECT_THAT(OpenFails(files),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr(absl::StrFormat("%s at byte %d:", name, frames[1]))));
}

TEST_F(StateLogTest, RenamedForeignAndNewerFilesAreRefused) {
  const Files files = ThreeFrames();
  const std::string name = NewestState(files);
  Files renamed = files;
  renamed.erase(name);
  renamed[StateName(9)] = files.at(name);
  EXPECT_THAT(OpenFails(renamed), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("at byte 24")));
  Files foreign = files;
  foreign["state-backup"] = "x";
  EXPECT_THAT(OpenFails(foreign), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("state-backup")));
  Files empty = files;
  empty[name] = "";
  EXPECT_THAT(OpenFails(empty), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("at byte 0")));
}

TEST_F(StateLogTest, AFloodOfPutsDoesNotGrowTheFile) {
  const auto engine = Open();
  ASSERT_OK(Put(*engine, "pinned", "stays"));
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer lease,
                       engine->leases().Acquire("l", "h", minutes(10), Soon()));
  std::uint64_t largest = 0;
  for (int i = 0; i < 3000; ++i) {
    // The same key again and again, and keys that die at once.
    ASSERT_OK(Put(*engine, "same", std::string(100, 'v')));
    ASSERT_OK(
        engine->key_value().Put(absl::StrFormat("flood-%d", i), "x", milliseconds(1), Soon()));
    if (i % 100 == 0) {
      const Files files = data_.ReadAll();
      largest = std::max<std::uint64_t>(largest, files.at(NewestState(files)).size());
    }
  }
  // 3,000 rounds write more than 900 KB; what is alive together is a few rows.
  EXPECT_LT(largest, 200'000U);
  const Files files = data_.ReadAll();
  EXPECT_EQ(std::ranges::count_if(
                files, [](const auto& file) { return file.first.starts_with("state-"); }),
            1);
  EXPECT_EQ(ValueOf(*engine, "pinned"), "stays");
  EXPECT_TRUE(engine->leases().Renew({"l", "h", lease.token}, minutes(10), Soon())->held);
}

TEST_F(StateLogTest, ARewrittenFileHoldsWhatTheOldOneHeld) {
  std::uint64_t token = 0;
  {
    const auto engine = Open();
    ASSERT_OK_AND_ASSIGN(const LeaseAnswer lease,
                         engine->leases().Acquire("l", "h", minutes(10), Soon()));
    token = lease.token;
    for (int i = 0; i < 200; ++i) {
      ASSERT_OK(Put(*engine, absl::StrFormat("k%d", i % 20), absl::StrFormat("%d", i)));
      ASSERT_OK(Put(*engine, "same", std::string(100, 'v')));
    }
    ASSERT_GT(NewestState(data_.ReadAll()), StateName(1));
  }
  const auto engine = Open();
  for (int i = 180; i < 200; ++i) {
    EXPECT_EQ(ValueOf(*engine, absl::StrFormat("k%d", i % 20)), absl::StrFormat("%d", i));
  }
  EXPECT_TRUE(engine->leases().Renew({"l", "h", token}, minutes(10), Soon())->held);
}

TEST_F(StateLogTest, ARewriteThatFailsLeavesTheOldFileAndGoesOn) {
  {
    const auto engine = Open();
    disk_.fail_rename = true;
    for (int i = 0; i < 200; ++i) {
      ASSERT_OK(Put(*engine, "same", absl::StrFormat("%d %s", i, std::string(100, 'v'))));
    }
    EXPECT_EQ(NewestState(data_.ReadAll()), StateName(1));
    disk_.fail_rename = false;
  }
  const auto engine = Open();
  EXPECT_THAT(ValueOf(*engine, "same"), testing::StartsWith("199 "));
  EXPECT_TRUE(fatal_.empty());
}

TEST_F(StateLogTest, AnOlderGenerationThatWasLeftBehindIsRemoved) {
  Files files;
  {
    const auto engine = Open();
    const Files before = data_.ReadAll();
    for (int i = 0; i < 200; ++i) {
      ASSERT_OK(Put(*engine, "same", std::string(100, 'v')));
    }
    files = data_.ReadAll();
    files[StateName(1)] = before.at(StateName(1));
  }
  data_.WriteAll(files);
  const auto engine = Open();
  EXPECT_EQ(ValueOf(*engine, "same"), std::string(100, 'v'));
  EXPECT_FALSE(data_.ReadAll().contains(StateName(1)));
}

TEST_F(StateLogTest, AFullDiskFailsTheChangeAndLeavesNoTrace) {
  {
    const auto engine = Open();
    ASSERT_OK(Put(*engine, "k", "before"));
    disk_.fail_writes = 1;
    EXPECT_THAT(Put(*engine, "k", "lost"), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_EQ(ValueOf(*engine, "k"), "before");
    const auto taken = engine->key_value().Take("k", Soon());
    ASSERT_OK(taken);
    ASSERT_OK(Put(*engine, "k", "after"));
  }
  const auto engine = Open();
  EXPECT_EQ(ValueOf(*engine, "k"), "after");
  EXPECT_TRUE(fatal_.empty());
}

TEST_F(StateLogTest, AFailedSyncStopsEverything) {
  support::ExpectErrorLogs();
  {
    const auto engine = Open();
    ASSERT_OK(Put(*engine, "k", "before"));
    disk_.fail_sync = true;
    EXPECT_THAT(Put(*engine, "k", "lost"), StatusIs(absl::StatusCode::kUnavailable));
    disk_.fail_sync = false;
    ASSERT_EQ(fatal_.size(), 1U);
    // A later sync that succeeds proves nothing.
    EXPECT_THAT(Put(*engine, "k", "later"), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_EQ(TryAppendEvent(*engine, "x").kind, CommitOutcome::Kind::kFailed);
    EXPECT_FALSE(engine->CheckReady(Soon()).ok());
    EXPECT_EQ(ValueOf(*engine, "k"), "before");
  }
  // What the disk has of it is known after a restart, and made durable then.
  const auto engine = Open();
  EXPECT_OK(Put(*engine, "k", "after"));
}

TEST_F(StateLogTest, APartOfAFrameThatCannotBeRemovedStopsEverything) {
  support::ExpectErrorLogs();
  const auto engine = Open();
  disk_.fail_truncate = true;
  disk_.fail_writes = 1;
  EXPECT_THAT(Put(*engine, "k", "lost"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(fatal_.size(), 1U);
  EXPECT_THAT(Put(*engine, "k", "later"), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(StateLogTest, ManyWritersTogetherLoseNothing) {
  constexpr int kThreads = 8;
  constexpr int kPuts = 200;
  {
    const auto engine = Open();
    std::vector<Thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back("writer", [&, t] {
        for (int i = 0; i < kPuts; ++i) {
          EXPECT_OK(Put(*engine, absl::StrFormat("%d/%d", t, i), absl::StrFormat("%d", i)));
          EXPECT_OK(engine->key_value().Raise("shared", t * kPuts + i, std::nullopt, Soon()));
        }
      });
    }
    threads.clear();
  }
  const auto engine = Open();
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kPuts; ++i) {
      EXPECT_EQ(ValueOf(*engine, absl::StrFormat("%d/%d", t, i)), absl::StrFormat("%d", i));
    }
  }
  ASSERT_OK_AND_ASSIGN(const auto shared, engine->key_value().Get("shared", Soon()));
  EXPECT_EQ(shared->number, kThreads * kPuts - 1);
}

TEST_F(StateLogTest, ADirectoryOpenForReadingTakesNoChange) {
  ThreeFrames();
  ASSERT_OK_AND_ASSIGN(const auto engine, OpenReadOnly(data_.path()));
  EXPECT_THAT(Put(*engine, "k", "v"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(engine->leases().Acquire("l", "h", minutes(1), Soon()),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace engine::file
