#include "engine/postgres/scan.h"

#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/nested_limits.h"
#include "engine/postgres/rows.h"

namespace engine::postgres {
namespace {

// What is handed over at once: enough to make the call cheap, little enough to stay in cache.
constexpr std::size_t kSliceRows = 512;
constexpr std::size_t kSliceBytes = std::size_t{1} << 20;

// Of a binary copy: signature (11 bytes), flags, length of the header's extension.
constexpr std::string_view kSignature("PGCOPY\n\377\r\n\0", 11);
constexpr std::size_t kHeaderBytes = kSignature.size() + 8;
constexpr std::int16_t kColumns = kNewsColumns - kPosition;
constexpr std::int16_t kTrailer = -1;

// COPY takes no parameters; what is put into the text are numbers of ours.
std::string CopySql(const Statements& statements, const StreamCursor& cursor,
                    std::optional<Tx> through) {
  const std::string until =
      through.has_value() ? absl::StrFormat(" and tx <= %d", Raw(*through)) : "";
  return absl::StrFormat(
      "copy (select position, tx, key, previous, flags, at, checksum, digest, record from %s"
      " where stream_id = %d and position > %d%s order by position) to stdout (format binary)",
      statements.journal, Raw(cursor.stream), Raw(cursor.position), until);
}

// Gathers rows into slices.
class Slicer {
 public:
  explicit Slicer(const RowSink& sink) : sink_(sink) { rows_.reserve(kSliceRows); }

  absl::Status Add(Record row) {
    bytes_ += row.payload.size();
    rows_.push_back(std::move(row));
    return GUARD("postgres.scan-window", rows_.size() < kSliceRows && bytes_ < kSliceBytes)
               ? absl::OkStatus()
               : Flush();
  }
  absl::Status Flush() {
    if (rows_.empty()) {
      return absl::OkStatus();
    }
    const absl::Status status = sink_(rows_);
    rows_.clear();
    bytes_ = 0;
    return status;
  }

 private:
  const RowSink& sink_;
  std::vector<Record> rows_;
  std::size_t bytes_ = 0;
};

absl::Status Damaged(StreamId stream) {
  return absl::DataLossError(
      absl::StrFormat("stream %d: the database's copy has another format", Raw(stream)));
}

// The first message has the header in front of the first row; the last one is the trailer.
absl::Status CopyStream(Connection& connection, StreamId stream, Slicer& slicer,
                        Deadline deadline) {
  bool first = true;
  for (;;) {
    ASSIGN_OR_RETURN(std::string_view bytes, connection.NextCopyRow(deadline));
    if (bytes.empty()) {
      return slicer.Flush();
    }
    if (std::exchange(first, false)) {
      if (!bytes.starts_with(kSignature) || bytes.size() < kHeaderBytes) {
        return Damaged(stream);
      }
      bytes.remove_prefix(kHeaderBytes);
      if (bytes.empty()) {
        continue;
      }
    }
    if (bytes.size() < 2) {
      return Damaged(stream);
    }
    const std::int16_t columns = WireInt16(bytes.data());
    if (columns == kTrailer) {
      continue;
    }
    if (columns != kColumns) {
      return Damaged(stream);
    }
    ASSIGN_OR_RETURN(Record row, CopiedRow(stream, bytes.substr(2)));
    RETURN_IF_ERROR(slicer.Add(std::move(row)));
  }
}

}  // namespace

absl::Status ScanOn(Connection& connection, const Statements& statements,
                    const Catalogue& catalogue, const ScanOptions& options, const RowSink& sink,
                    Deadline deadline) {
  const Statement no_idle_limit{
      "", "select pg_catalog.set_config('idle_in_transaction_session_timeout', '0', true)"};
  const Limits limits = LimitsFor(deadline);
  Params pins;
  pins.Text(statements.schema_path).Text(limits.LockText()).Text(limits.StatementText());
  const RunOutcome begun = connection.Run({{statements.scan_begin, {}},
                                           {statements.pins, std::move(pins)},
                                           {no_idle_limit, {}},
                                           {statements.tails, TailsParams(catalogue)}},
                                          deadline);
  RETURN_IF_ERROR(begun.status);
  ASSIGN_OR_RETURN(const AllTails ends, TailsOf(catalogue, begun.results[3]));
  if (options.on_tails) {
    RETURN_IF_ERROR(options.on_tails(ends.tails));
  }
  Slicer slicer(sink);
  for (const StreamCursor& cursor : options.after) {
    RETURN_IF_ERROR(connection.StartCopy(CopySql(statements, cursor, options.through), deadline));
    RETURN_IF_ERROR(CopyStream(connection, cursor.stream, slicer, deadline));
  }
  return connection.Run({{statements.commit, {}}}, deadline).status;
}

}  // namespace engine::postgres
