// Directory is the data directory: who may open it, what its files are called, and how a file in
// it is made or replaced so that it survives a power cut.
//
//   lock                    held by the process that writes; never removed
//   streams                 the catalogue
//   head                    the head mark
//   floors                  what compaction made of the streams
//   sealed                  what the closed segments come to
//   journal-<16 hex digits> a segment, named by its first tx; written anew, `-<8 hex digits>` more
//   state-<16 hex digits>   leases and key-value rows, by generation
//   *.tmp                   left over from a process that was killed; removed
//
// Other names are left alone. Thread-safe. Every call blocks on the disk.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/disk.h"
#include "engine/file/names.h"

namespace engine::file {

// Whether files on it are shared between machines, so that neither flock nor fsync means what it
// means here. `type` is f_type of statfs.
bool IsNetworkFileSystem(std::uint64_t type);

class Directory {
 public:
  // Makes the directory if need be, tightens modes, takes the lock, removes leftovers.
  // Fails as file::Open does. `disk` must outlive the object.
  static absl::StatusOr<Directory> OpenForWriting(const std::string& path, Disk& disk);

  // Changes nothing. Fails with kNotFound when there is no directory.
  static absl::StatusOr<Directory> OpenForReading(const std::string& path);

  // Opens an existing regular file. Fails with kNotFound or kUnavailable; a symbolic link is
  // refused with kFailedPrecondition.
  absl::StatusOr<Fd> OpenFile(const std::string& name, bool writable) const;

  // The whole file, which may have up to `limit` bytes.
  absl::StatusOr<std::string> ReadFile(const std::string& name, std::size_t limit) const;

  // The segments by name, ascending and without a gap that is not in the directory, also while a
  // process makes new ones; the newest of those may be left out. Fails with kDataLoss when a name
  // that starts with `journal-` is none of ours.
  // Of each the newest generation.
  absl::StatusOr<std::vector<SegmentId>> Segments() const;

  // The generations of state files, ascending. Fails likewise for names that start with `state-`.
  absl::StatusOr<std::vector<std::uint64_t>> States() const;

  // Writes a file aside, syncs it, renames it to `name` and syncs the directory: `name` is the
  // old file or the whole new one, whatever happens. Returns the new file, open for writing.
  //
  // Fails with kUnavailable (nothing changed) or kInternal (a sync failed).
  absl::StatusOr<Fd> Replace(const std::string& name, std::string_view bytes) const;

  Disk& disk() const { return *disk_; }
  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

 private:
  Directory(std::string path, Disk& disk, Fd fd);

  absl::Status Lock();
  // The numbers of the files whose names are `prefix` and a number, ascending.
  absl::StatusOr<std::vector<std::uint64_t>> Numbered(std::string_view prefix) const;
  // All of them, old generations too, ascending.
  absl::StatusOr<std::vector<SegmentId>> ListSegments() const;
  absl::Status RemoveLeftovers() const;
  absl::Status RemoveOldGenerations() const;
  absl::Status TightenModes() const;
  absl::Status WriteAside(int fd, const std::string& aside, const std::string& name,
                          std::string_view bytes) const;

  std::string path_;
  Disk* disk_;
  Fd fd_;
  Fd lock_;  // A descriptor of its own, so that nothing else can close it.
};

}  // namespace engine::file
