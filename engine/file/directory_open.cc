// How Directory is opened: made, locked, and cleared of what a killed process left.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/file/directory.h"

namespace engine::file {
namespace {

constexpr mode_t kForeignModes = S_IRWXG | S_IRWXO;

// Makes `path` and what is missing above it; the entry of each is synced in its parent.
absl::Status MakeDirectories(const std::filesystem::path& path, Disk& disk) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0) {
    return absl::OkStatus();
  }
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  if (parent != path) {
    RETURN_IF_ERROR(MakeDirectories(parent, disk));
  }
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return DiskError(absl::StrFormat("making directory %s", path.string()));
  }
  const Fd above(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (above.get() < 0) {
    return DiskError(absl::StrFormat("opening directory %s", parent.string()));
  }
  if (disk.Sync(above.get()) != 0) {
    return SyncError(absl::StrFormat("syncing directory %s", parent.string()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Fd> OpenDirectory(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) {
    return fd;
  }
  const std::string what = absl::StrFormat("data directory %s", path);
  return errno == ENOENT ? absl::NotFoundError(what + ": there is none") : DiskError(what);
}

absl::Status CheckFileSystem(const std::string& path, std::uint64_t type) {
  if (GUARD("file.local-disk", !IsNetworkFileSystem(type))) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrFormat(
      "data directory %s is on a network filesystem (type %#x): its locks and syncs cannot be "
      "relied on",
      path, type));
}

absl::Status TightenMode(int fd, const std::string& what) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) {
    return DiskError(what);
  }
  if ((info.st_mode & kForeignModes) == 0) {
    return absl::OkStatus();
  }
  if (fchmod(fd, info.st_mode & ~kForeignModes & 07777) != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s can be reached by other users, and that could not be changed: %s", what,
                        std::strerror(errno)));
  }
  Log(Severity::kWarning, "took other users' access away", {{"path", what}});
  return absl::OkStatus();
}

}  // namespace

bool IsNetworkFileSystem(std::uint64_t type) {
  constexpr std::uint64_t kTypes[] = {
      0x6969,      // nfs
      0x517B,      // smb
      0xFF534D42,  // cifs
      0xFE534D42,  // smb2
      0x01021997,  // 9p
      0x00C36400,  // ceph
      0x5346414F,  // afs
      0x6B414653,  // kafs
      0x73757245,  // coda
      0x0BD00BD0,  // lustre
      0x47504653,  // gpfs
      0x7461636F,  // ocfs2
      0x01161970,  // gfs2
  };
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

Directory::Directory(std::string path, Disk& disk, Fd fd)
    : path_(std::move(path)), disk_(&disk), fd_(std::move(fd)) {}

absl::StatusOr<Directory> Directory::OpenForWriting(const std::string& path, Disk& disk) {
  if (path.empty()) {
    return absl::InvalidArgumentError("no data directory given");
  }
  std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (!normal.has_filename()) {
    normal = normal.parent_path();  // It ended in a slash.
  }
  RETURN_IF_ERROR(MakeDirectories(normal, disk));
  ASSIGN_OR_RETURN(Fd fd, OpenDirectory(path));
  Directory directory(path, disk, std::move(fd));
  RETURN_IF_ERROR(CheckFileSystem(path, disk.FileSystemType(directory.fd())));
  RETURN_IF_ERROR(TightenMode(directory.fd(), path));
  RETURN_IF_ERROR(directory.Lock());
  RETURN_IF_ERROR(directory.RemoveLeftovers());
  RETURN_IF_ERROR(directory.TightenModes());
  return directory;
}

absl::StatusOr<Directory> Directory::OpenForReading(const std::string& path) {
  ASSIGN_OR_RETURN(Fd fd, OpenDirectory(path));
  return Directory(path, SystemDisk(), std::move(fd));
}

absl::Status Directory::Lock() {
  lock_ = Fd(openat(fd(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (lock_.get() < 0) {
    return DiskError(absl::StrFormat("opening %s/%s", path_, kLockName));
  }
  const bool locked = flock(lock_.get(), LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno != EWOULDBLOCK) {
    return DiskError(absl::StrFormat("locking %s/%s", path_, kLockName));
  }
  if (!GUARD("file.one-process", locked)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("data directory %s is in use by another process", path_));
  }
  return absl::OkStatus();
}

absl::Status Directory::RemoveLeftovers() const {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(fd(), path_));
  for (const std::string& name : names) {
    if (IsOurs(name) && name.ends_with(kAsideSuffix) && disk_->Remove(fd(), name) != 0) {
      return DiskError(absl::StrFormat("removing %s/%s", path_, name));
    }
  }
  return RemoveOldGenerations();
}

// A process that was killed right after it had written a segment anew leaves the old one.
absl::Status Directory::RemoveOldGenerations() const {
  const absl::StatusOr<std::vector<SegmentId>> segments = ListSegments();
  if (!segments.ok()) {
    return absl::OkStatus();  // Whoever reads them says what is wrong.
  }
  for (std::size_t i = 0; i + 1 < segments->size(); ++i) {
    const SegmentId& segment = (*segments)[i];
    if (segment.first == (*segments)[i + 1].first &&
        disk_->Remove(fd(), SegmentName(segment)) != 0) {
      return DiskError(absl::StrFormat("removing %s/%s", path_, SegmentName(segment)));
    }
  }
  return absl::OkStatus();
}

absl::Status Directory::TightenModes() const {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(fd(), path_));
  for (const std::string& name : names) {
    if (!IsOurs(name)) {
      continue;
    }
    ASSIGN_OR_RETURN(const Fd file, OpenFile(name, false));
    RETURN_IF_ERROR(TightenMode(file.get(), path_ + "/" + name));
  }
  return absl::OkStatus();
}

}  // namespace engine::file
