#include "engine/file/scan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"
#include "engine/file/frame_reader.h"

namespace engine::file {
namespace {

// What is handed over at once.
constexpr std::size_t kBatchRows = 1024;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

class Scanner {
 public:
  Scanner(const Directory& directory, const ScanRange& range, const ScanOptions& options,
          const RowSink& sink, Deadline deadline)
      : directory_(directory), range_(range), options_(options), sink_(sink), deadline_(deadline) {
    batch_.reserve(kBatchRows);
  }

  absl::Status Run();

 private:
  absl::Status ReadSegment(SegmentId segment);
  absl::Status Take(const Frame& frame, SegmentId segment, std::uint64_t offset);
  bool Wanted(const RowView& row) const;
  absl::Status HandOver();

  const Directory& directory_;
  const ScanRange& range_;
  const ScanOptions& options_;
  const RowSink& sink_;
  const Deadline deadline_;
  std::vector<Record> batch_;
  std::size_t batch_bytes_ = 0;
  bool done_ = false;
};

absl::Status Scanner::Run() {
  for (const SegmentId& segment : range_.segments) {
    if (!done_ && segment.first <= range_.end.segment) {
      RETURN_IF_ERROR(ReadSegment(segment));
    }
  }
  return batch_.empty() ? absl::OkStatus() : HandOver();
}

absl::Status Scanner::ReadSegment(SegmentId segment) {
  ASSIGN_OR_RETURN(const Fd file, directory_.OpenFile(SegmentName(segment), false));
  ASSIGN_OR_RETURN(const SegmentHeader header, ReadSegmentHeader(file.get(), SegmentName(segment)));
  std::uint64_t end = range_.end.offset;
  if (segment.first != range_.end.segment) {
    ASSIGN_OR_RETURN(end, FileSize(file.get()));
  }
  FrameReader reader(file.get(), header.marker, kSegmentHeaderBytes, end);
  while (!done_) {
    const absl::StatusOr<std::optional<Frame>> frame = reader.Next();
    if (absl::IsDataLoss(frame.status())) {
      return ErrorAt(SegmentName(segment), reader.offset(), frame.status());
    }
    RETURN_IF_ERROR(frame.status());
    if (!frame->has_value()) {
      break;
    }
    RETURN_IF_ERROR(Take(**frame, segment, reader.offset()));
  }
  return absl::OkStatus();
}

absl::Status Scanner::Take(const Frame& frame, SegmentId segment, std::uint64_t offset) {
  if (options_.through.has_value() && frame.tx > *options_.through) {
    done_ = true;
    return absl::OkStatus();
  }
  std::string_view rest = frame.body;
  for (std::uint32_t i = 0; i < frame.rows; ++i) {
    const std::optional<RowView> row = DecodeRow(rest);
    if (!row.has_value()) {
      return DamageAt(SegmentName(segment), offset, "a row does not fit into its frame");
    }
    rest.remove_prefix(row->size());
    if (Wanted(*row)) {
      batch_.push_back(ToRecord(*row));
      batch_bytes_ += row->size();
    }
    if (!GUARD("file.scan-window", batch_.size() < kBatchRows && batch_bytes_ < kBatchBytes)) {
      RETURN_IF_ERROR(HandOver());
    }
  }
  return absl::OkStatus();
}

bool Scanner::Wanted(const RowView& row) const {
  const auto cursor = std::ranges::find(options_.after, row.stream, &StreamCursor::stream);
  return cursor != options_.after.end() && row.position > cursor->position &&
         !range_.floors->IsDead(row.stream, row.position);
}

absl::Status Scanner::HandOver() {
  if (deadline_.HasPassed()) {
    return absl::DeadlineExceededError("scanning the journal");
  }
  const absl::Status status = sink_(batch_);
  batch_.clear();
  batch_bytes_ = 0;
  return status;
}

}  // namespace

absl::Status ScanSegments(const Directory& directory, const ScanRange& range,
                          const ScanOptions& options, const RowSink& sink, Deadline deadline) {
  return Scanner(directory, range, options, sink, deadline).Run();
}

}  // namespace engine::file
