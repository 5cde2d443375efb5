#include "engine/base/disk.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <absl/strings/str_format.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "engine/base/reason.h"

namespace engine {
namespace {

std::atomic<std::uint64_t> bytes_read = 0;

}  // namespace

int Disk::Create(int directory, const std::string& name) {
  return openat(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

ssize_t Disk::Write(int fd, std::string_view bytes, std::uint64_t offset) {
  return pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
}

int Disk::Truncate(int fd, std::uint64_t size) {
  return ftruncate(fd, static_cast<off_t>(size));
}

int Disk::SyncData(int fd) {
  return fdatasync(fd);
}

int Disk::Sync(int fd) {
  return fsync(fd);
}

int Disk::Rename(int directory, const std::string& from, const std::string& to) {
  return renameat(directory, from.c_str(), directory, to.c_str());
}

int Disk::Remove(int directory, const std::string& name) {
  return unlinkat(directory, name.c_str(), 0);
}

std::uint64_t Disk::FileSystemType(int fd) {
  struct statfs info = {};
  return fstatfs(fd, &info) == 0 ? static_cast<std::uint64_t>(info.f_type) & 0xFFFFFFFFU : 0;
}

Disk& SystemDisk() {
  static Disk disk;
  return disk;
}

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

absl::Status DiskError(std::string_view what) {
  const bool full = errno == ENOSPC || errno == EDQUOT;
  return WithReason(full ? Reason::kDiskFull : Reason::kNone,
                    absl::UnavailableError(absl::StrFormat("%s: %s", what, std::strerror(errno))));
}

absl::Status SyncError(std::string_view what) {
  return absl::InternalError(absl::StrFormat("%s: %s", what, std::strerror(errno)));
}

absl::Status WriteAll(Disk& disk, int fd, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = disk.Write(fd, bytes, offset);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return DiskError("write");
    }
    if (written == 0) {
      return absl::UnavailableError("write: the disk took no byte");
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> ReadAt(int fd, char* out, std::size_t size, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(fd, out + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return DiskError("read");
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  bytes_read.fetch_add(done, std::memory_order_relaxed);
  return done;
}

std::uint64_t BytesRead() {
  return bytes_read.load(std::memory_order_relaxed);
}

absl::StatusOr<std::uint64_t> FileSize(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) {
    return DiskError("stat");
  }
  return static_cast<std::uint64_t>(info.st_size);
}

absl::StatusOr<std::vector<std::string>> NamesIn(int directory, const std::string& path) {
  // A descriptor of its own: reading moves the offset.
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(copy < 0 ? nullptr : fdopendir(copy), closedir);
  if (dir == nullptr) {
    return DiskError(absl::StrFormat("listing %s", path));
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(dir.get())) {
    names.emplace_back(entry->d_name);
    errno = 0;
  }
  if (errno != 0) {
    return DiskError(absl::StrFormat("listing %s", path));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace engine
