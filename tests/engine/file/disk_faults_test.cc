// Disks that refuse, shorten and forget: nothing acknowledged is lost, nothing half is seen.

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "engine/base/disk.h"
#include "engine/base/mutex.h"
#include "tests/conformance/conformance.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/logs.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

using Kind = CommitOutcome::Kind;
using support::StatusIs;
using testing::HasSubstr;

// Fails chosen calls, counted from the last Arm. Thread-safe.
class FaultyDisk final : public HastyDisk {
 public:
  enum class Fault { kNone, kWriteError, kShortWrite, kSyncError, kRename, kCreate };

  // The call number `nth` (from 1) of the kind that `fault` names fails, and `more` after it.
  void Arm(Fault fault, int nth, int error, int more = 0) {
    MutexLock lock(mutex_);
    armed_ = {fault, nth, nth + more, error};
    calls_ = 0;
  }
  void Disarm() {
    MutexLock lock(mutex_);
    armed_.fault = Fault::kNone;
  }
  bool Fired() {
    MutexLock lock(mutex_);
    return calls_ >= armed_.from;
  }
  void FailTruncate(bool fail) { fail_truncate_ = fail; }
  void SetType(std::uint64_t type) { type_ = type; }

  int Create(int directory, const std::string& name) override {
    return Fails(Fault::kCreate) ? -1 : Disk::Create(directory, name);
  }
  ssize_t Write(int fd, std::string_view bytes, std::uint64_t offset) override {
    if (Fails(Fault::kWriteError)) {
      return -1;
    }
    if (Fails(Fault::kShortWrite)) {
      // Half of it, and the rest of the disk is full.
      Arm(Fault::kWriteError, 1, errno);
      return Disk::Write(fd, bytes.substr(0, bytes.size() / 2), offset);
    }
    return Disk::Write(fd, bytes, offset);
  }
  int SyncData(int) override { return Fails(Fault::kSyncError) ? -1 : 0; }
  int Sync(int) override { return Fails(Fault::kSyncError) ? -1 : 0; }
  int Rename(int directory, const std::string& from, const std::string& to) override {
    return Fails(Fault::kRename) ? -1 : Disk::Rename(directory, from, to);
  }
  int Truncate(int fd, std::uint64_t size) override {
    if (fail_truncate_) {
      errno = EIO;
      return -1;
    }
    return Disk::Truncate(fd, size);
  }
  std::uint64_t FileSystemType(int fd) override {
    return type_ != 0 ? type_ : Disk::FileSystemType(fd);
  }

 private:
  struct Armed {
    Fault fault = Fault::kNone;
    int from = 1;
    int through = 1;
    int error = 0;
  };

  bool Fails(Fault fault) {
    MutexLock lock(mutex_);
    if (fault != armed_.fault) {
      return false;
    }
    ++calls_;
    errno = armed_.error;
    return calls_ >= armed_.from && calls_ <= armed_.through;
  }

  Mutex mutex_;
  Armed armed_ ABSL_GUARDED_BY(mutex_);
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  bool fail_truncate_ = false;
  std::uint64_t type_ = 0;
};

class DiskFaultsTest : public testing::Test {
 protected:
  Options options() {
    Options options = data_.options();
    options.segment_bytes = 4096;
    options.disk = &disk_;
    options.on_fatal = [this](const absl::Status& why) { fatal_.push_back(why); };
    return options;
  }

  DataDirectory data_;
  FaultyDisk disk_;
  std::vector<absl::Status> fatal_;
};

TEST_F(DiskFaultsTest, AFullDiskFailsTheTransactionAndIsForgotten) {
  const auto engine = data_.Open(options());
  std::vector<std::string> committed;
  for (const auto fault : {FaultyDisk::Fault::kWriteError, FaultyDisk::Fault::kShortWrite,
                           FaultyDisk::Fault::kRename, FaultyDisk::Fault::kCreate}) {
    for (const int error : {ENOSPC, EDQUOT, EFBIG, EIO, EROFS}) {
      for (int nth = 1; nth <= 3; ++nth) {
        disk_.Arm(fault, nth, error, 1);
        const std::string payload = absl::StrFormat("%d %s", nth, std::string(900, 'x'));
        for (int i = 0; i < 12; ++i) {
          const CommitOutcome outcome = TryAppendEvent(*engine, payload);
          if (outcome.kind == Kind::kCommitted) {
            committed.push_back(payload);
            continue;
          }
          ASSERT_EQ(outcome.kind, Kind::kFailed);
          EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kUnavailable));
        }
        disk_.Disarm();
        AppendEvent(*engine, payload);
        committed.push_back(payload);
        EXPECT_TRUE(disk_.Fired());
      }
    }
  }
  EXPECT_THAT(fatal_, testing::IsEmpty());
  EXPECT_EQ(AllPayloads(*engine), committed);
}

TEST_F(DiskFaultsTest, WhatAFullDiskLeftIsReadBackAfterAReopening) {
  std::vector<std::string> committed;
  for (int nth = 1; nth <= 12; ++nth) {
    const auto engine = data_.Open(options());
    ASSERT_EQ(AllPayloads(*engine), committed);
    disk_.Arm(FaultyDisk::Fault::kShortWrite, nth, ENOSPC);
    for (int i = 0; i < 8; ++i) {
      const std::string payload = absl::StrFormat("%d.%d %s", nth, i, std::string(900, 'x'));
      if (TryAppendEvent(*engine, payload).kind == Kind::kCommitted) {
        committed.push_back(payload);
      }
    }
    disk_.Disarm();
  }
  EXPECT_EQ(AllPayloads(*data_.Open(options())), committed);
}

TEST_F(DiskFaultsTest, InterruptedWritesAreContinued) {
  const auto engine = data_.Open(options());
  disk_.Arm(FaultyDisk::Fault::kWriteError, 1, EINTR, 5);
  AppendEvent(*engine, "one");
  EXPECT_TRUE(disk_.Fired());
}

TEST_F(DiskFaultsTest, AFailedSyncPoisonsTheJournal) {
  support::ExpectErrorLogs();
  const auto engine = data_.Open(options());
  AppendEvent(*engine, "one");
  disk_.Arm(FaultyDisk::Fault::kSyncError, 1, EIO);  // Once; the next sync would succeed.
  const CommitOutcome outcome = TryAppendEvent(*engine, "two");
  EXPECT_EQ(outcome.kind, Kind::kUnknown);
  EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kUnknown));
  ASSERT_EQ(fatal_.size(), 1U);
  EXPECT_THAT(engine->journal().Begin(conformance::Soon()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("until a restart")));
  EXPECT_THAT(engine->CheckReady(conformance::Soon()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(AllPayloads(*engine), testing::ElementsAre("one"));
}

TEST_F(DiskFaultsTest, APartOfAFrameThatCannotBeRemovedPoisonsTheJournal) {
  support::ExpectErrorLogs();
  const auto engine = data_.Open(options());
  AppendEvent(*engine, "one");
  disk_.Arm(FaultyDisk::Fault::kShortWrite, 1, ENOSPC);
  disk_.FailTruncate(true);
  EXPECT_EQ(TryAppendEvent(*engine, "two").kind, Kind::kUnknown);
  EXPECT_EQ(fatal_.size(), 1U);
  EXPECT_THAT(engine->journal().Begin(conformance::Soon()),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(DiskFaultsTest, AHeadMarkThatCannotBeSyncedPoisonsTheJournal) {
  support::ExpectErrorLogs();
  Options marking = options();
  marking.mark_interval = std::chrono::milliseconds(1);
  Mutex mutex;
  CondVar met;
  bool fatal = false;
  marking.on_fatal = [&](const absl::Status&) {
    MutexLock lock(mutex);
    fatal = true;
    met.SignalAll();
  };
  const auto engine = data_.Open(marking);
  // The first sync is the frame's, the second the mark's.
  disk_.Arm(FaultyDisk::Fault::kSyncError, 2, EIO);
  AppendEvent(*engine, "one");
  {
    const Deadline deadline = conformance::Soon();
    MutexLock lock(mutex);
    while (!fatal && met.WaitUntil(mutex, deadline)) {
    }
    ASSERT_TRUE(fatal);
  }
  EXPECT_THAT(engine->journal().Begin(conformance::Soon()),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(DiskFaultsTest, ByDefaultAFailedSyncEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Options ours = options();
        ours.on_fatal = {};
        const auto engine = data_.Open(ours);
        disk_.Arm(FaultyDisk::Fault::kSyncError, 1, EIO);
        TryAppendEvent(*engine, "one");
      },
      testing::ExitedWithCode(1), "cannot be written any more");
}

TEST_F(DiskFaultsTest, ANetworkFilesystemIsRefused) {
  disk_.SetType(0x6969);
  EXPECT_THAT(file::Open(conformance::Streams(), options()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       testing::AllOf(HasSubstr(data_.path()), HasSubstr("network"))));
}

// Every way to fail while opening: an error, never a journal that lost something.
TEST_F(DiskFaultsTest, AnOpeningThatFailsCanBeRepeated) {
  {
    AppendEvent(*data_.Open(options()), "one");
  }
  Files killed = data_.ReadAll();
  {
    AppendEvent(*data_.Open(options()), "two");
  }
  const std::string head = killed["head"];
  killed = data_.ReadAll();
  killed["head"] = head;
  for (const auto fault : {FaultyDisk::Fault::kWriteError, FaultyDisk::Fault::kSyncError}) {
    for (int nth = 1; nth <= 4; ++nth) {
      data_.WriteAll(killed);
      disk_.Arm(fault, nth, EIO);
      const auto failed = file::Open(conformance::Streams(), options());
      disk_.Disarm();
      EXPECT_TRUE(failed.ok() || absl::IsUnavailable(failed.status()) ||
                  absl::IsInternal(failed.status()))
          << failed.status();
    }
    EXPECT_THAT(AllPayloads(*data_.Open(options())), testing::ElementsAre("one", "two"));
  }
}

// Remembers what a power cut would leave: of a file what was synced, of the directory the
// entries at its last sync. Everything else may be there whole, in part, or not at all.
class ForgetfulDisk final : public Disk {
 public:
  explicit ForgetfulDisk(std::function<void()> after_each_call)
      : after_each_call_(std::move(after_each_call)) {}

  ssize_t Write(int fd, std::string_view bytes, std::uint64_t offset) override {
    return Done(Disk::Write(fd, bytes, offset));
  }
  int Truncate(int fd, std::uint64_t size) override { return Done(Disk::Truncate(fd, size)); }
  int Create(int directory, const std::string& name) override {
    return Done(Disk::Create(directory, name));
  }
  int Rename(int directory, const std::string& from, const std::string& to) override {
    return Done(Disk::Rename(directory, from, to));
  }
  int SyncData(int fd) override { return Sync(fd); }
  int Sync(int fd) override {
    struct stat info = {};
    fstat(fd, &info);
    if (S_ISDIR(info.st_mode)) {
      entries_ = Entries(fd);
    } else {
      synced_[info.st_ino] = Bytes(fd);
    }
    return Done(0);
  }

  // The files after a power cut now. `now` has what the files hold while the power is on; a byte
  // that was not synced is kept when `keep` says so for its offset.
  Files AfterPowerCut(const Files& now, const std::function<bool(std::uint64_t)>& keep) const {
    Files files;
    for (const auto& [name, inode] : entries_) {
      const auto found = synced_.find(inode);
      std::string bytes = found == synced_.end() ? std::string() : found->second;
      const auto current = now.find(name);
      const std::string& wanted = current == now.end() ? bytes : current->second;
      for (std::uint64_t i = 0; i < wanted.size(); ++i) {
        const bool same = i < bytes.size() && bytes[i] == wanted[i];
        if (!same && keep(i)) {
          bytes.resize(std::max<std::size_t>(bytes.size(), i + 1));
          bytes[i] = wanted[i];
        }
      }
      files[name] = bytes;
    }
    return files;
  }

 private:
  template <class Result>
  Result Done(Result result) {
    after_each_call_();
    return result;
  }
  static std::string Bytes(int fd) {
    std::string bytes(*FileSize(fd), '\0');
    EXPECT_OK(ReadAt(fd, bytes.data(), bytes.size(), 0));
    return bytes;
  }
  static std::map<std::string, ino_t> Entries(int directory) {
    std::map<std::string, ino_t> entries;
    const std::string path = absl::StrFormat("/proc/self/fd/%d", directory);
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      struct stat info = {};
      stat(entry.path().c_str(), &info);
      entries[entry.path().filename().string()] = info.st_ino;
    }
    return entries;
  }

  const std::function<void()> after_each_call_;
  std::map<ino_t, std::string> synced_;
  std::map<std::string, ino_t> entries_;  // Of the data directory, or a parent before that.
};

class PowerCutTest : public testing::Test {
 protected:
  // Cuts the power in several ways and looks at what is left.
  void CutPower() {
    if (!started_) {
      return;  // The directory itself is being made.
    }
    const Files now = data_.ReadAll();
    const std::uint64_t tear = 1 + random_.Below(400);
    Judge(disk_.AfterPowerCut(now, [](std::uint64_t) { return false; }));
    Judge(disk_.AfterPowerCut(now, [](std::uint64_t) { return true; }));
    Judge(disk_.AfterPowerCut(now, [&](std::uint64_t i) { return i % 512 < tear; }));
    Judge(disk_.AfterPowerCut(now, [&](std::uint64_t i) { return (i / 64 + tear) % 2 == 0; }));
    ++cuts_;
  }

  // Opens it as it is after the cut: all that was acknowledged, and at most the one in flight.
  void Judge(const Files& files) {
    after_.WriteAll(files);
    auto engine = file::Open(conformance::Streams(), after_.options());
    ASSERT_OK(engine);
    std::vector<std::string> payloads = AllPayloads(**engine);
    if (payloads.size() == acknowledged_.size() + 1) {
      EXPECT_EQ(payloads.back(), in_flight_);
      payloads.pop_back();
    }
    ASSERT_EQ(payloads, acknowledged_);
  }

  support::SeededRandom random_;
  DataDirectory data_;
  DataDirectory after_;
  ForgetfulDisk disk_{[this] { CutPower(); }};
  bool started_ = false;
  int cuts_ = 0;
  std::vector<std::string> acknowledged_;
  std::string in_flight_;
};

TEST_F(PowerCutTest, NothingAcknowledgedIsLostAtAnyCall) {
  Options options = data_.options();
  options.segment_bytes = 4096;
  options.disk = &disk_;
  for (int round = 0; round < 3; ++round) {
    const auto engine = data_.Open(options);
    started_ = true;
    for (int i = 0; i < 6; ++i) {
      in_flight_ = absl::StrFormat("%d.%d ", round, i) + std::string(random_.Below(1500), 'p');
      AppendEvent(*engine, in_flight_);
      acknowledged_.push_back(in_flight_);
    }
  }
  EXPECT_GT(cuts_, 40);
}

// The process dies of a failed sync; the disk never got the frame, though it can be read. The
// next process serves it only after it has made it durable.
TEST_F(PowerCutTest, AFrameReadBackAfterAFailedSyncIsSyncedBeforeItIsServed) {
  Options options = data_.options();
  {
    AppendEvent(*data_.Open(options), "synced");
  }
  Files killed = data_.ReadAll();
  {
    AppendEvent(*data_.Open(options), "not synced");
  }
  const std::string head = killed["head"];
  killed = data_.ReadAll();
  killed["head"] = head;
  data_.WriteAll(killed);
  ForgetfulDisk disk([] {});
  options.disk = &disk;
  const auto engine = data_.Open(options);
  const Files after = disk.AfterPowerCut(data_.ReadAll(), [](std::uint64_t) { return false; });
  EXPECT_EQ(after.at("journal-0000000000000001"), killed.at("journal-0000000000000001"));
}

}  // namespace
}  // namespace engine::file
