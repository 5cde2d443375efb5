#include "engine/file/directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"

namespace engine::file {
namespace {

constexpr std::string_view kSegmentPrefix = "journal-";
constexpr std::string_view kStatePrefix = "state-";
constexpr std::string_view kAsideSuffix = ".tmp";
constexpr char kLockName[] = "lock";
constexpr mode_t kForeignModes = S_IRWXG | S_IRWXO;

bool IsOurs(const std::string& name) {
  return name == kLockName || name == "head" || name == "streams" || name == "floors" ||
         name == "sealed" || name.starts_with(kSegmentPrefix) || name.starts_with(kStatePrefix);
}

// Empty when `name` is not exactly `prefix` and what ToHex gives.
std::optional<std::uint64_t> NumberOf(std::string_view prefix, const std::string& name) {
  const std::optional<std::string> bytes = FromHex(name.substr(prefix.size()));
  if (!bytes.has_value() || bytes->size() != 8) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (const char c : *bytes) {
    number = number << 8 | static_cast<unsigned char>(c);
  }
  return std::string(prefix) + ToHex(number) == name ? std::optional(number) : std::nullopt;
}

// Empty when `name` is not exactly what SegmentName gives.
std::optional<SegmentId> ParseSegmentName(const std::string& name) {
  const std::size_t first_end = kSegmentPrefix.size() + 16;
  const auto first = NumberOf(kSegmentPrefix, name.substr(0, first_end));
  if (!first.has_value()) {
    return std::nullopt;
  }
  SegmentId segment{.first = Tx{*first}};
  if (name.size() == first_end + 9 && name[first_end] == '-') {
    const std::optional<std::string> bytes = FromHex(name.substr(first_end + 1));
    for (const char c : bytes.value_or("")) {
      segment.generation = segment.generation << 8 | static_cast<unsigned char>(c);
    }
  }
  return SegmentName(segment) == name ? std::optional(segment) : std::nullopt;
}

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

std::string SegmentName(Tx first_tx, std::uint32_t generation) {
  const std::string name = std::string(kSegmentPrefix) + ToHex(Raw(first_tx));
  return generation == 0 ? name : name + absl::StrFormat("-%08x", generation);
}

std::string StateName(std::uint64_t generation) {
  return std::string(kStatePrefix) + ToHex(generation);
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

absl::StatusOr<Fd> Directory::OpenFile(const std::string& name, bool writable) const {
  const int mode = writable ? O_RDWR : O_RDONLY;
  // O_NONBLOCK: a pipe under that name must not hang us; it means nothing for a file.
  Fd file(openat(fd(), name.c_str(), mode | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  const std::string what = absl::StrFormat("opening %s/%s", path_, name);
  if (file.get() < 0) {
    switch (errno) {
      case ENOENT:
        return absl::NotFoundError(what + ": there is none");
      case ELOOP:
        return absl::FailedPreconditionError(what + ": it is a symbolic link");
      default:
        return DiskError(what);
    }
  }
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) {
    return DiskError(what);
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(what + ": it is no regular file");
  }
  return file;
}

absl::StatusOr<std::string> Directory::ReadFile(const std::string& name, std::size_t limit) const {
  ASSIGN_OR_RETURN(const Fd file, OpenFile(name, false));
  ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(file.get()));
  if (size > limit) {
    return absl::DataLossError(
        absl::StrFormat("%s/%s has %d bytes, more than it ever has", path_, name, size));
  }
  std::string bytes(size, '\0');
  ASSIGN_OR_RETURN(const std::size_t got, ReadAt(file.get(), bytes.data(), bytes.size(), 0));
  bytes.resize(got);
  return bytes;
}

absl::StatusOr<std::vector<std::uint64_t>> Directory::Numbered(std::string_view prefix) const {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(fd(), path_));
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    if (!name.starts_with(prefix) || name.ends_with(kAsideSuffix)) {
      continue;
    }
    const std::optional<std::uint64_t> number = NumberOf(prefix, name);
    if (!number.has_value()) {
      return absl::DataLossError(
          absl::StrFormat("%s/%s is not named like a segment: move it away", path_, name));
    }
    numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

absl::StatusOr<std::vector<std::uint64_t>> Directory::States() const {
  return Numbered(kStatePrefix);
}

absl::StatusOr<std::vector<SegmentId>> Directory::ListSegments() const {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(fd(), path_));
  std::vector<SegmentId> segments;
  for (const std::string& name : names) {
    if (!name.starts_with(kSegmentPrefix) || name.ends_with(kAsideSuffix)) {
      continue;
    }
    const std::optional<SegmentId> segment = ParseSegmentName(name);
    if (!segment.has_value()) {
      return absl::DataLossError(
          absl::StrFormat("%s/%s is not named like a segment: move it away", path_, name));
    }
    segments.push_back(*segment);
  }
  std::ranges::sort(segments);
  return segments;
}

// A listing is no snapshot: it can have a segment that was made meanwhile and lack the one made
// before that. All that are older than one of the first listing were there before the second one
// began, which therefore has them all.
absl::StatusOr<std::vector<SegmentId>> Directory::Segments() const {
  ASSIGN_OR_RETURN(const std::vector<SegmentId> first, ListSegments());
  ASSIGN_OR_RETURN(const std::vector<SegmentId> second, ListSegments());
  const Tx newest = first.empty() ? Tx::kBeforeFirst : first.back().first;
  std::vector<SegmentId> segments;
  for (const SegmentId& segment : second) {
    if (segment.first > newest) {
      break;
    }
    if (!segments.empty() && segments.back().first == segment.first) {
      segments.pop_back();
    }
    segments.push_back(segment);
  }
  return segments;
}

absl::Status Directory::WriteAside(int fd, const std::string& aside, const std::string& name,
                                   std::string_view bytes) const {
  RETURN_IF_ERROR(WriteAll(*disk_, fd, bytes, 0));
  if (disk_->Sync(fd) != 0) {
    return SyncError(absl::StrFormat("syncing %s/%s", path_, aside));
  }
  if (disk_->Rename(this->fd(), aside, name) != 0) {
    return DiskError(absl::StrFormat("renaming %s/%s to %s", path_, aside, name));
  }
  return absl::OkStatus();
}

absl::StatusOr<Fd> Directory::Replace(const std::string& name, std::string_view bytes) const {
  const std::string aside = name + std::string(kAsideSuffix);
  static_cast<void>(disk_->Remove(fd(), aside));  // Left over from an attempt that failed.
  Fd file(disk_->Create(fd(), aside));
  if (file.get() < 0) {
    return DiskError(absl::StrFormat("making %s/%s", path_, aside));
  }
  if (absl::Status written = WriteAside(file.get(), aside, name, bytes); !written.ok()) {
    static_cast<void>(disk_->Remove(fd(), aside));
    return written;
  }
  if (disk_->Sync(fd()) != 0) {
    return SyncError(absl::StrFormat("syncing directory %s", path_));
  }
  return file;
}

}  // namespace engine::file
