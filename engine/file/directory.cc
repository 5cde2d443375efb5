#include "engine/file/directory.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/status_macros.h"

namespace engine::file {

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
