#include "engine/snapshot.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

constexpr std::string_view kAsideSuffix = ".tmp";
constexpr std::size_t kTxDigits = 16;

std::string Prefix(const std::string& lane) {
  return absl::StrFormat("snapshot-%s-", lane);
}

std::string NameOf(const std::string& lane, Tx tx) {
  return Prefix(lane) + ToHex(Raw(tx));
}

// Empty when it is no name of that lane.
std::optional<Tx> TxOf(const std::string& lane, const std::string& name) {
  const std::string prefix = Prefix(lane);
  if (!name.starts_with(prefix) || name.size() != prefix.size() + kTxDigits) {
    return std::nullopt;
  }
  const std::optional<std::string> bytes = FromHex(name.substr(prefix.size()));
  if (!bytes.has_value()) {
    return std::nullopt;
  }
  std::uint64_t tx = 0;
  for (const char c : *bytes) {
    tx = tx << 8 | static_cast<unsigned char>(c);
  }
  return Tx{tx};
}

absl::StatusOr<SnapshotHeader> HeaderOf(const View& view) {
  SnapshotHeader header{.tx = view.tx, .streams = {}};
  for (const StreamView& stream : view.streams) {
    if (!GUARD("snapshot.healthy", stream.health.ok())) {
      return absl::FailedPreconditionError(
          absl::StrFormat("stream %d is stopped", Raw(stream.stream)));
    }
    header.streams.push_back({.cursor = {stream.stream, stream.position, stream.digest},
                              .tx = stream.tx,
                              .at = stream.at,
                              .fold_version = stream.fold_version,
                              .state_digest = stream.image->StateDigest()});
  }
  return header;
}

// Writes the pieces of one file behind each other.
class FileWriter {
 public:
  FileWriter(Disk& disk, int fd) : disk_(disk), fd_(fd) {}

  absl::Status Append(std::string_view bytes) {
    if (bytes.empty()) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(WriteAll(disk_, fd_, bytes, offset_));
    offset_ += bytes.size();
    return absl::OkStatus();
  }

 private:
  Disk& disk_;
  const int fd_;
  std::uint64_t offset_ = 0;
};

absl::Status WriteView(const View& view, Disk& disk, int fd) {
  ASSIGN_OR_RETURN(const SnapshotHeader header, HeaderOf(view));
  FileWriter file(disk, fd);
  SnapshotEncoder encoder;
  RETURN_IF_ERROR(file.Append(encoder.Header(header)));
  for (const StreamView& stream : view.streams) {
    RETURN_IF_ERROR(stream.image->Save(
        [&](std::string_view part) { return file.Append(encoder.Add(stream.stream, part)); }));
  }
  RETURN_IF_ERROR(file.Append(encoder.Finish()));
  if (disk.Sync(fd) != 0) {
    return SyncError("syncing a snapshot");
  }
  return absl::OkStatus();
}

absl::Status Disagrees(const SavedStream& saved, std::string_view why) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "stream %d position %d: %s", Raw(saved.cursor.stream), Raw(saved.cursor.position), why));
}

// What the store has at the cursor. Nothing is read where the stream ends there: the row may lie
// where nothing was read for long.
absl::StatusOr<Digest> DigestAt(Journal& journal, const StreamCursor& cursor,
                                const StreamTail& tail, Deadline deadline) {
  if (cursor.position == tail.position) {
    return tail.digest;
  }
  ASSIGN_OR_RETURN(const std::vector<Record> rows,
                   journal.ReadStream(cursor.stream, cursor.position, 1, deadline));
  const bool found = !rows.empty() && rows.front().position == cursor.position;
  return found ? rows.front().digest : Digest::kEmpty;
}

absl::Status CheckStream(Journal& journal, const SavedStream& saved, const StreamTail& tail,
                         Deadline deadline) {
  const StreamCursor& cursor = saved.cursor;
  if (cursor.position == Position::kBeforeFirst) {
    return absl::OkStatus();
  }
  if (cursor.position > tail.position) {
    return Disagrees(saved, "the store ends before it");
  }
  if (cursor.position < tail.floor.position) {
    return Disagrees(saved, "the store was compacted past it");
  }
  ASSIGN_OR_RETURN(const Digest digest, DigestAt(journal, cursor, tail, deadline));
  return GUARD("snapshot.agrees", digest == cursor.digest)
             ? absl::OkStatus()
             : Disagrees(saved, "the store has another history");
}

}  // namespace

absl::StatusOr<SnapshotDirectory> SnapshotDirectory::Open(const std::string& path, Disk& disk) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return DiskError(absl::StrFormat("making directory %s", path));
  }
  Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) {
    return DiskError(absl::StrFormat("opening directory %s", path));
  }
  return SnapshotDirectory(path, disk, std::move(fd));
}

absl::StatusOr<std::vector<Tx>> SnapshotDirectory::List(const std::string& lane) const {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(fd_.get(), path_));
  std::vector<Tx> snapshots;
  for (const std::string& name : names) {
    if (const std::optional<Tx> tx = TxOf(lane, name)) {
      snapshots.push_back(*tx);
    }
  }
  std::ranges::sort(snapshots);
  return snapshots;
}

absl::Status SnapshotDirectory::Save(const std::string& lane, const View& view) const {
  RETURN_IF_ERROR(Write(NameOf(lane, view.tx), view));
  Prune(lane, view.tx);
  return absl::OkStatus();
}

absl::Status SnapshotDirectory::Write(const std::string& name, const View& view) const {
  const std::string aside = name + std::string(kAsideSuffix);
  static_cast<void>(disk_->Remove(fd_.get(), aside));  // Left over from a process that was killed.
  const Fd file(disk_->Create(fd_.get(), aside));
  if (file.get() < 0) {
    return DiskError(absl::StrFormat("making %s/%s", path_, aside));
  }
  absl::Status written = WriteView(view, *disk_, file.get());
  if (written.ok() && disk_->Rename(fd_.get(), aside, name) != 0) {
    written = DiskError(absl::StrFormat("renaming %s/%s", path_, aside));
  }
  if (!written.ok()) {
    static_cast<void>(disk_->Remove(fd_.get(), aside));
    return written;
  }
  if (disk_->Sync(fd_.get()) != 0) {
    return SyncError(absl::StrFormat("syncing directory %s", path_));
  }
  return absl::OkStatus();
}

// Newer ones are of a history that is not ours any more.
void SnapshotDirectory::Prune(const std::string& lane, Tx newest) const {
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(fd_.get(), path_);
  if (!names.ok()) {
    return;  // The next one prunes.
  }
  std::vector<Tx> older;
  for (const std::string& name : *names) {
    const std::optional<Tx> tx = TxOf(lane, name);
    if (tx.has_value() && *tx < newest) {
      older.push_back(*tx);
    } else if ((tx.has_value() && *tx > newest) ||
               (name.starts_with(Prefix(lane)) && name.ends_with(kAsideSuffix))) {
      static_cast<void>(disk_->Remove(fd_.get(), name));
    }
  }
  std::ranges::sort(older, std::greater<>());
  for (std::size_t i = kKept - 1; i < older.size(); ++i) {
    static_cast<void>(disk_->Remove(fd_.get(), NameOf(lane, older[i])));
  }
}

absl::StatusOr<std::optional<SnapshotHeader>> SnapshotDirectory::Restore(const std::string& lane,
                                                                         Follower& follower,
                                                                         Journal& journal,
                                                                         Deadline deadline) const {
  ASSIGN_OR_RETURN(std::vector<Tx> snapshots, List(lane));
  for (auto tx = snapshots.rbegin(); tx != snapshots.rend(); ++tx) {
    const std::string name = NameOf(lane, *tx);
    const absl::StatusOr<SnapshotHeader> header = RestoreFrom(name, follower, journal, deadline);
    if (header.ok()) {
      return *header;
    }
    if (absl::IsUnavailable(header.status()) || absl::IsDeadlineExceeded(header.status())) {
      // Nothing is known against it, but nothing of it was proved either.
      Log(Severity::kWarning, "a snapshot could not be used",
          {{"file", path_ + "/" + name}, {"why", header.status().ToString()}});
      continue;
    }
    Log(Severity::kWarning, "refused a snapshot; it is not used",
        {{"file", path_ + "/" + name}, {"why", header.status().ToString()}});
  }
  return std::nullopt;
}

absl::StatusOr<SnapshotHeader> SnapshotDirectory::RestoreFrom(const std::string& name,
                                                              Follower& follower, Journal& journal,
                                                              Deadline deadline) const {
  const Fd file(openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return DiskError(absl::StrFormat("opening %s/%s", path_, name));
  }
  ASSIGN_OR_RETURN(const SnapshotReader reader, SnapshotReader::Open(file.get()));
  RETURN_IF_ERROR(CheckAgrees(journal, reader.header(), deadline));
  return LoadSnapshot(file.get(), follower);
}

absl::Status CheckAgrees(Journal& journal, const SnapshotHeader& header, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::vector<StreamTail> tails, journal.Tails(deadline));
  for (const SavedStream& saved : header.streams) {
    const auto tail = std::ranges::find(tails, saved.cursor.stream, &StreamTail::stream);
    if (tail == tails.end()) {
      return Disagrees(saved, "the store has no such stream");
    }
    RETURN_IF_ERROR(CheckStream(journal, saved, *tail, deadline));
  }
  return absl::OkStatus();
}

absl::StatusOr<SnapshotHeader> LoadSnapshot(int fd, Follower& follower) {
  ASSIGN_OR_RETURN(SnapshotReader reader, SnapshotReader::Open(fd));
  const auto read = [&reader](StreamId stream, const StatePartSink& sink) {
    return reader.ReadStream(stream, sink);
  };
  const auto finish = [&reader] { return reader.Finish(); };
  RETURN_IF_ERROR(follower.Restore(reader.header(), read, finish));
  return reader.header();
}

absl::StatusOr<std::optional<Fd>> OpenIfSnapshot(const std::string& path) {
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    return DiskError("opening " + path);
  }
  char start[kSnapshotMagic.size()] = {};
  const absl::StatusOr<std::size_t> got = ReadAt(file.get(), start, sizeof(start), 0);
  if (!got.ok() || std::string_view(start, *got) != kSnapshotMagic) {
    return std::nullopt;  // A directory cannot be read like this.
  }
  return std::optional<Fd>(std::move(file));
}

}  // namespace engine
