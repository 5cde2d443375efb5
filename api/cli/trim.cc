// `halo journal export` and `trim`.

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <unistd.h>

#include "api/cli/commands.h"
#include "api/cli/print.h"
#include "engine/base/bytes.h"
#include "engine/base/disk.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/compactor.h"

namespace api::cli {
namespace {

using engine::Deadline;
using engine::Position;
using engine::Record;

constexpr int kRowsAtOnce = 1000;
constexpr engine::Duration kPatience = std::chrono::seconds(60);

// A row with all that its checksum is taken over, so that what was exported can be verified, and
// read back, without the store.
std::string ExportLine(const Record& row, const std::string& stream) {
  return absl::StrFormat(
      "{\"stream\":\"%s\",\"position\":%d,\"tx\":%d,\"at\":\"%s\",\"key\":\"%s\",\"previous\":%d,"
      "\"flags\":%d,\"checksum\":\"%s\",\"digest\":\"%s\",\"payload\":\"%s\"}\n",
      stream, Raw(row.position), Raw(row.tx), engine::FormatTimestamp(row.at),
      engine::ToHex(row.key), Raw(row.previous), row.flags, engine::ToHex(row.checksum),
      engine::ToHex(Raw(row.digest)), engine::ToHex(row.payload.view()));
}

// A file that is there whole and durable after Finish, and not at all before.
class ExportFile {
 public:
  explicit ExportFile(const std::string& path) : path_(path), aside_(path + ".tmp") {}
  ~ExportFile() {
    if (file_.get() >= 0) {
      unlink(aside_.c_str());
    }
  }

  absl::Status Open() {
    std::error_code error;
    if (std::filesystem::exists(path_, error)) {
      return absl::FailedPreconditionError(path_.string() + " is there already");
    }
    file_ = engine::Fd(
        open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    return file_.get() < 0 ? engine::DiskError("making " + aside_.string()) : absl::OkStatus();
  }

  absl::Status Append(std::string_view bytes) {
    RETURN_IF_ERROR(engine::WriteAll(engine::SystemDisk(), file_.get(), bytes, size_));
    size_ += bytes.size();
    return absl::OkStatus();
  }

  absl::Status Finish() {
    if (fsync(file_.get()) != 0) {
      return engine::SyncError("syncing " + aside_.string());
    }
    if (rename(aside_.c_str(), path_.c_str()) != 0) {
      return engine::DiskError("renaming " + aside_.string());
    }
    file_ = engine::Fd();
    const std::string above = path_.has_parent_path() ? path_.parent_path().string() : ".";
    const engine::Fd directory(open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() < 0 || fsync(directory.get()) != 0) {
      return engine::SyncError("syncing " + above);
    }
    return absl::OkStatus();
  }

 private:
  const std::filesystem::path path_;
  const std::filesystem::path aside_;
  engine::Fd file_;
  std::uint64_t size_ = 0;
};

// Writes all rows of the stream up to `last` that are there; how many.
absl::StatusOr<std::uint64_t> Export(engine::Journal& journal, const engine::StreamSpec& spec,
                                     Position first, Position last, const std::string& path) {
  ExportFile file(path);
  RETURN_IF_ERROR(file.Open());
  std::uint64_t count = 0;
  Position next = std::max(first, Position{1});
  while (next <= last) {
    ASSIGN_OR_RETURN(const std::vector<Record> rows,
                     journal.ReadStream(spec.id, next, kRowsAtOnce, Deadline::Infinite()));
    if (rows.empty()) {
      break;
    }
    std::string lines;
    for (const Record& row : rows) {
      if (row.position > last) {
        break;
      }
      RETURN_IF_ERROR(CheckRow(row, spec.name));
      lines += ExportLine(row, spec.name);
      ++count;
    }
    RETURN_IF_ERROR(file.Append(lines));
    next = Next(rows.back().position);
  }
  RETURN_IF_ERROR(file.Finish());
  return count;
}

// The last position whose row is not younger than `age`, and not the stream's last one.
absl::StatusOr<Position> LastOlderThan(engine::Journal& journal, const engine::StreamSpec& spec,
                                       engine::Duration age) {
  engine::LockedState state;
  {
    ASSIGN_OR_RETURN(const auto transaction, journal.Begin(Deadline::After(kPatience)));
    ASSIGN_OR_RETURN(state, transaction->Read({}));
  }
  const auto tail = std::ranges::find(state.tails, spec.id, &engine::StreamTail::stream);
  const engine::Timestamp before{
      state.now.micros - std::chrono::duration_cast<std::chrono::microseconds>(age).count()};
  Position found = tail->floor.position;
  while (Next(found) < tail->position) {
    ASSIGN_OR_RETURN(const std::vector<Record> rows,
                     journal.ReadStream(spec.id, Next(found), kRowsAtOnce, Deadline::Infinite()));
    for (const Record& row : rows) {
      if (row.at > before || row.position >= tail->position) {
        return found;
      }
      found = row.position;
    }
    if (rows.empty()) {
      break;
    }
  }
  return found;
}

}  // namespace

absl::Status JournalExport(const ExportFlags& flags, Format format, std::ostream& out) {
  RETURN_IF_ERROR(CheckRange(flags.from, flags.to));
  ASSIGN_OR_RETURN(const auto store, OpenStore(flags.store));
  ASSIGN_OR_RETURN(const engine::StreamSpec spec,
                   FindStream(store->journal().catalogue(), flags.stream));
  const Position last{flags.to.value_or(std::numeric_limits<std::uint64_t>::max() - 1)};
  ASSIGN_OR_RETURN(const std::uint64_t rows,
                   Export(store->journal(), spec, Position{flags.from}, last, flags.file));
  if (format == Format::kJson) {
    out << absl::StrFormat("{\"stream\":\"%s\",\"exported\":%d}\n", spec.name, rows);
  } else {
    out << absl::StrFormat("%s: exported %d records\n", spec.name, rows);
  }
  return absl::OkStatus();
}

absl::Status JournalTrim(const TrimFlags& flags, Format format, std::ostream& out) {
  ASSIGN_OR_RETURN(const auto store, OpenStoreForWriting(flags.store));
  engine::Journal& journal = store->journal();
  ASSIGN_OR_RETURN(const engine::StreamSpec spec, FindStream(journal.catalogue(), flags.stream));
  // Also says why a stream is never trimmed.
  const auto retentions = engine::ParseRetentions(
      journal.catalogue(), absl::StrFormat("%s=%s", spec.name, flags.older_than));
  RETURN_IF_ERROR(retentions.status());
  const auto age = retentions->find(spec.id);
  if (age == retentions->end()) {
    return absl::InvalidArgumentError("--older-than wants an age like 30d");
  }
  ASSIGN_OR_RETURN(const Position to, LastOlderThan(journal, spec, age->second));
  // First what will be gone is somewhere else, whole and durable.
  ASSIGN_OR_RETURN(const std::uint64_t exported,
                   Export(journal, spec, Position{1}, to, flags.file));
  engine::Compactor compactor(journal, {.retentions = {}});
  engine::CompactionReport report;
  if (exported > 0) {
    ASSIGN_OR_RETURN(report, compactor.RaiseTo(spec.id, to, kPatience));
  }
  if (format == Format::kJson) {
    out << absl::StrFormat("{\"stream\":\"%s\",\"exported\":%d,\"removed\":%d,\"floor\":%d}\n",
                           spec.name, exported, report.removed, Raw(to));
  } else {
    out << absl::StrFormat("%s: exported %d records, removed %d, floor %d\n", spec.name, exported,
                           report.removed, Raw(to));
  }
  return absl::OkStatus();
}

}  // namespace api::cli
