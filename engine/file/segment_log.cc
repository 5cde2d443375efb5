#include "engine/file/segment_log.h"

#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"

namespace engine::file {

absl::StatusOr<std::unique_ptr<SegmentLog>> SegmentLog::Open(const Directory& directory,
                                                             HeadFile& head, Contents& contents,
                                                             Options options) {
  std::unique_ptr<SegmentLog> log(new SegmentLog(directory, head, options));
  if (contents.segments.empty()) {
    RETURN_IF_ERROR(log->StartSegment(Next(Tx::kBeforeFirst)));
    contents.segments.push_back({.first = log->header_.first_tx});
    contents.facts.push_back({.id = contents.segments.back(), .marker = log->header_.marker});
    contents.dead.push_back(0);
    contents.last_segment = log->header_;
    contents.end = log->end_;
    return log;
  }
  ASSIGN_OR_RETURN(log->file_, directory.OpenFile(SegmentName(contents.segments.back()), true));
  log->header_ = contents.last_segment;
  log->end_ = contents.end;
  return log;
}

absl::StatusOr<SegmentLog::Appended> SegmentLog::Append(const Appending& appending) {
  const Tx tx = appending.rows.front().tx;
  const std::size_t size = FrameSize(appending);
  if (size > kMaxFrameBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d rows make a frame of %d bytes; %d are the limit", appending.rows.size(),
                        size, kMaxFrameBytes));
  }
  if (end_.offset > kSegmentHeaderBytes && end_.offset + size > options_.segment_bytes) {
    RETURN_IF_ERROR(StartSegment(tx));
  }
  EncodedFrame frame = EncodeFrame(header_, tx, end_.digest, appending);
  RETURN_IF_ERROR(WriteFrame(frame.bytes));
  Appended appended;
  appended.marker = header_.marker;
  appended.offsets = std::move(frame.rows);
  for (std::uint32_t& offset : appended.offsets) {
    offset += static_cast<std::uint32_t>(end_.offset);
  }
  end_.offset += frame.bytes.size();
  end_.tx = tx;
  end_.digest = frame.digest;
  appended.end = end_;
  return appended;
}

absl::Status SegmentLog::WriteFrame(std::string_view bytes) {
  const std::string name = SegmentName(end_.segment);
  if (absl::Status written = WriteAll(directory_.disk(), file_.get(), bytes, end_.offset);
      !written.ok()) {
    // Without this the next frame would be written over a part of this one, and what is left of
    // it behind that frame would look like damage.
    if (directory_.disk().Truncate(file_.get(), end_.offset) != 0) {
      return SyncError("removing a part of a frame from " + name);
    }
    return WithReasonOf(written,
                        absl::UnavailableError(MessageOf(ErrorAt(name, end_.offset, written))));
  }
  if (!GUARD("file.sync-before-ack", directory_.disk().SyncData(file_.get()) == 0)) {
    return SyncError("syncing " + name);
  }
  return absl::OkStatus();
}

absl::Status SegmentLog::StartSegment(Tx first_tx) {
  // What lies before the new segment is durable, and is known to be.
  RETURN_IF_ERROR(head_.Write(end_));
  const SegmentHeader header{
      .marker = options_.random->NextU64(), .first_tx = first_tx, .previous = end_.digest};
  ASSIGN_OR_RETURN(file_, directory_.Replace(SegmentName(first_tx), EncodeSegmentHeader(header)));
  header_ = header;
  end_.segment = first_tx;
  end_.offset = kSegmentHeaderBytes;
  return absl::OkStatus();
}

}  // namespace engine::file
