#include "engine/file/rewrite.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/file/damage.h"
#include "engine/file/format.h"
#include "engine/file/frame_reader.h"

namespace engine::file {
namespace {

class Rewriter {
 public:
  Rewriter(const Floors& floors, const SegmentHeader& header)
      : floors_(floors), header_(header), bytes_(EncodeSegmentHeader(header)) {}

  absl::Status Take(const Frame& frame);
  // The whole new file.
  std::string Finish();

  std::vector<MovedRow> rows;
  std::vector<StreamFloor> gone;
  SegmentFacts facts;

 private:
  // Frames that wait to be written as one.
  struct Run {
    Tx first_tx = Tx::kBeforeFirst;
    FrameDigest previous = FrameDigest::kNone;
    Tx tx = Tx::kBeforeFirst;
    FrameDigest digest = FrameDigest::kNone;
  };

  void Write(const Frame& last, std::uint32_t kept, std::string_view body);
  void Bury(const RowView& row);

  const Floors& floors_;
  const SegmentHeader header_;
  std::string bytes_;
  std::optional<Run> run_;
};

absl::Status Rewriter::Take(const Frame& frame) {
  if (!run_.has_value()) {
    run_ = Run{.first_tx = frame.first_tx, .previous = frame.previous, .tx = {}, .digest = {}};
  }
  run_->tx = frame.tx;
  run_->digest = frame.digest;
  facts.last_tx = frame.tx;
  facts.digest = frame.digest;
  const std::size_t first_kept = rows.size();
  std::string body;
  std::string_view rest = frame.body;
  for (std::uint32_t i = 0; i < frame.rows; ++i) {
    const std::optional<RowView> row = DecodeRow(rest);
    if (!row.has_value() || !RowIntact(*row)) {
      return absl::DataLossError("a row is damaged");
    }
    if (floors_.IsDead(row->stream, row->position)) {
      Bury(*row);
    } else {
      rows.push_back({row->stream, row->position, static_cast<std::uint32_t>(body.size())});
      facts.Note(row->stream, row->position, row->tx, row->at, row->digest);
      body += rest.substr(0, row->size());
    }
    rest.remove_prefix(row->size());
  }
  body += rest;  // What else the frame has.
  facts.has_answers = facts.has_answers || !rest.empty();
  if (body.empty()) {
    return absl::OkStatus();
  }
  const std::size_t start = bytes_.size() + kFrameHeaderBytes + kCompactedHeaderBytes;
  for (std::size_t i = first_kept; i < rows.size(); ++i) {
    rows[i].offset += static_cast<std::uint32_t>(start);
  }
  Write(frame, static_cast<std::uint32_t>(rows.size() - first_kept), body);
  return absl::OkStatus();
}

void Rewriter::Write(const Frame& last, std::uint32_t kept, std::string_view body) {
  Frame frame = last;
  frame.length = static_cast<std::uint32_t>(kFrameHeaderBytes + kCompactedHeaderBytes +
                                            body.size() + kFrameTrailerBytes);
  frame.tx = run_->tx;
  frame.previous = run_->previous;
  frame.rows = kept;
  std::string bytes;
  AppendFrameHeader(header_.marker, FrameType::kCompacted, frame, bytes);
  AppendCompactedHeader(run_->first_tx, run_->digest, bytes);
  bytes += body;
  SealFrame(bytes);
  bytes_ += bytes;
  run_.reset();
}

void Rewriter::Bury(const RowView& row) {
  auto stream = std::ranges::find(gone, row.stream, &StreamFloor::stream);
  if (stream == gone.end()) {
    stream = gone.insert(gone.end(), {.stream = row.stream, .floor = {}, .dead = {}});
  }
  stream->dead.push_back(row.position);
}

std::string Rewriter::Finish() {
  if (run_.has_value()) {
    Write({}, 0, {});
  }
  facts.marker = header_.marker;
  facts.bytes = bytes_.size();
  return std::move(bytes_);
}

}  // namespace

absl::StatusOr<RewrittenSegment> RewriteSegment(const Directory& directory, SegmentId segment,
                                                const Floors& floors, Random& random) {
  ASSIGN_OR_RETURN(const Fd file, directory.OpenFile(SegmentName(segment), false));
  ASSIGN_OR_RETURN(SegmentHeader header, ReadSegmentHeader(file.get(), SegmentName(segment)));
  ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(file.get()));
  FrameReader reader(file.get(), header.marker, kSegmentHeaderBytes, size);
  header.marker = random.NextU64();
  Rewriter rewriter(floors, header);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Frame> frame, reader.Next());
    if (!frame.has_value()) {
      break;
    }
    if (absl::Status taken = rewriter.Take(*frame); !taken.ok()) {
      return DamageAt(SegmentName(segment), reader.offset(), MessageOf(taken));
    }
  }
  rewriter.facts.id = {segment.first, segment.generation + 1};
  RETURN_IF_ERROR(directory.Replace(SegmentName(rewriter.facts.id), rewriter.Finish()).status());
  return RewrittenSegment{.facts = std::move(rewriter.facts),
                          .rows = std::move(rewriter.rows),
                          .gone = std::move(rewriter.gone)};
}

}  // namespace engine::file
