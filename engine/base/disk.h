// Disk: the system calls that change files, as a port, so that tests can make each of them fail
// or forget; and the few wrappers that turn the others into Status.
//
// Thread-safe. Every call may block on the disk.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

namespace engine {

// Each as the system call it is named for: -1 and errno on failure.
class Disk {
 public:
  virtual ~Disk() = default;

  // A new file of mode 0600, for reading and writing; EEXIST when the name is taken.
  virtual int Create(int directory, const std::string& name);
  // May write less than asked.
  virtual ssize_t Write(int fd, std::string_view bytes, std::uint64_t offset);
  virtual int Truncate(int fd, std::uint64_t size);
  // fdatasync: the bytes and, when it grew, the size.
  virtual int SyncData(int fd);
  // fsync, of files and directories.
  virtual int Sync(int fd);
  virtual int Rename(int directory, const std::string& from, const std::string& to);
  virtual int Remove(int directory, const std::string& name);
  // The f_type of statfs; 0 when it cannot be told.
  virtual std::uint64_t FileSystemType(int fd);
};

// The real calls. The object lives for ever.
Disk& SystemDisk();

// A file descriptor that is closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();

  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// kUnavailable with `what` and the text of the current errno; a full disk is its Reason.
absl::Status DiskError(std::string_view what);

// kInternal, likewise: a sync failed. Nothing may be written after it.
absl::Status SyncError(std::string_view what);

// Writes all bytes, in as many calls as it takes. Fails with kUnavailable; any part of the bytes
// may have been written then.
absl::Status WriteAll(Disk& disk, int fd, std::string_view bytes, std::uint64_t offset);

// Reads up to `size` bytes into `out`; fewer only at the end of the file.
absl::StatusOr<std::size_t> ReadAt(int fd, char* out, std::size_t size, std::uint64_t offset);

// What ReadAt has read since the process began: for budgets.
std::uint64_t BytesRead();

absl::StatusOr<std::uint64_t> FileSize(int fd);

// The names in an open directory, sorted, `.` and `..` among them; `path` is for the message.
// Fails with kUnavailable.
absl::StatusOr<std::vector<std::string>> NamesIn(int directory, const std::string& path);

}  // namespace engine
