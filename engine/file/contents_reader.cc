#include "engine/file/contents_reader.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"
#include "engine/file/frame_reader.h"

namespace engine::file {

ContentsReader::ContentsReader(const Directory& directory, const Catalogue& catalogue,
                               const HeadMark& mark, const Floors& floors,
                               const std::vector<SegmentFacts>& sealed)
    : directory_(directory),
      mark_(mark),
      sealed_(sealed),
      contents_{.segments = {},
                .facts = {},
                .dead = {},
                .index = Index(catalogue),
                .tails = EmptyTails(catalogue),
                .floors = floors,
                .last_segment = {},
                .end = {},
                .answers = {},
                .torn_bytes = 0,
                .torn_why = {}} {
  for (const StreamFloor& stream : floors.streams()) {
    proofs_.emplace(stream.stream, FloorProof(stream.floor));
  }
}

absl::StatusOr<Contents> ContentsReader::Read() {
  ASSIGN_OR_RETURN(contents_.segments, directory_.Segments());
  for (const SegmentId& segment : contents_.segments) {
    ASSIGN_OR_RETURN(const bool is_known, TakeSealed(segment));
    if (!is_known) {
      RETURN_IF_ERROR(ReadSegment(segment));
    }
  }
  RETURN_IF_ERROR(CheckMark());
  RETURN_IF_ERROR(CheckFloors());
  const std::size_t closed = std::max<std::size_t>(contents_.facts.size(), 1) - 1;
  contents_.is_sealed = std::ranges::equal(std::span(contents_.facts).first(closed), sealed_);
  return std::move(contents_);
}

absl::Status ContentsReader::Damage(std::uint64_t offset, std::string_view why) const {
  return DamageAt(SegmentName(current_), offset, why);
}

absl::Status ContentsReader::ReadSegment(SegmentId segment) {
  current_ = segment;
  ASSIGN_OR_RETURN(const Fd file, directory_.OpenFile(SegmentName(segment), false));
  // The size first: whoever is writing meanwhile only adds bytes behind it.
  ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(file.get()));
  ASSIGN_OR_RETURN(const SegmentHeader header, ReadSegmentHeader(file.get(), SegmentName(segment)));
  RETURN_IF_ERROR(CheckHeader(segment.first, header));
  contents_.last_segment = header;
  contents_.end.segment = segment.first;
  contents_.facts.push_back({.id = segment, .marker = header.marker});
  contents_.dead.push_back(0);
  Arrive(kSegmentHeaderBytes, contents_.end.tx, contents_.end.digest);
  RETURN_IF_ERROR(ReadFrames(file.get(), size));
  contents_.facts.back().bytes = contents_.end.offset;
  contents_.facts.back().last_tx = contents_.end.tx;
  contents_.facts.back().digest = contents_.end.digest;
  ++segment_number_;
  return absl::OkStatus();
}

absl::Status ContentsReader::CheckHeader(Tx first, const SegmentHeader& header) const {
  if (header.first_tx != first) {
    return Damage(24, absl::StrFormat("the segment starts with tx %d, not as its name says: it was "
                                      "renamed or copied",
                                      Raw(header.first_tx)));
  }
  if (first != Next(contents_.end.tx)) {
    return Damage(24, absl::StrFormat("tx %d should follow: a segment is missing",
                                      Raw(Next(contents_.end.tx))));
  }
  if (header.previous != contents_.end.digest) {
    return Damage(32, "the segment does not follow the one before it");
  }
  return absl::OkStatus();
}

absl::Status ContentsReader::ReadFrames(int fd, std::uint64_t size) {
  FrameReader reader(fd, contents_.last_segment.marker, kSegmentHeaderBytes, size);
  while (true) {
    const absl::StatusOr<std::optional<Frame>> next = reader.Next();
    if (absl::IsDataLoss(next.status())) {
      return JudgeTail(fd, size, MessageOf(next.status()));
    }
    RETURN_IF_ERROR(next.status());
    if (!next->has_value()) {
      return absl::OkStatus();
    }
    const Frame& frame = **next;
    if (frame.tx <= contents_.end.tx) {
      return JudgeTail(fd, size,
                       absl::StrFormat("an old frame, of tx %d, lies here", Raw(frame.tx)));
    }
    RETURN_IF_ERROR(CheckFollows(frame));
    RETURN_IF_ERROR(TakeRows(frame, reader.offset()));
    Arrive(reader.offset() + frame.length, frame.tx, frame.digest);
  }
}

absl::Status ContentsReader::CheckFollows(const Frame& frame) const {
  const HeadMark& end = contents_.end;
  if (frame.first_tx != Next(end.tx) || frame.first_tx > frame.tx) {
    return Damage(end.offset, absl::StrFormat("tx %d follows tx %d: frames are missing",
                                              Raw(frame.first_tx), Raw(end.tx)));
  }
  if (!GUARD("file.previous-digest", frame.previous == end.digest)) {
    return Damage(
        end.offset,
        absl::StrFormat("the frame of tx %d does not follow the frame before it", Raw(frame.tx)));
  }
  return absl::OkStatus();
}

// The bytes from the end on are no frame that could follow. Innocent or damage?
absl::Status ContentsReader::JudgeTail(int fd, std::uint64_t size, std::string_view why) {
  const HeadMark& end = contents_.end;
  const bool last = may_be_torn_ && end.segment == contents_.segments.back().first;
  bool innocent = last && size - end.offset <= kMaxFrameBytes;
  if (innocent) {
    ASSIGN_OR_RETURN(const bool follows, LaterFrameFollows(fd, contents_.last_segment.marker,
                                                           end.offset, size, end.tx));
    innocent = !follows;
  }
  if (!GUARD("file.torn-last-only", innocent)) {
    return Damage(end.offset, why);
  }
  contents_.torn_bytes = size - end.offset;
  contents_.torn_why = why;
  return absl::OkStatus();
}

void ContentsReader::Arrive(std::uint64_t offset, Tx tx, FrameDigest digest) {
  contents_.end.offset = offset;
  contents_.end.tx = tx;
  contents_.end.digest = digest;
  mark_passed_ = mark_passed_ || contents_.end == mark_;
}

absl::Status ContentsReader::CheckMark() const {
  const bool nothing_yet = contents_.segments.empty() && mark_.tx == Tx::kBeforeFirst;
  if (GUARD("file.head-mark", mark_passed_ || nothing_yet)) {
    return absl::OkStatus();
  }
  const HeadMark& end = contents_.end;
  return Damage(
      end.offset,
      absl::StrFormat("the journal ends here, after tx %d, but the head mark says that tx %d was "
                      "acknowledged, up to byte %d of %s%s%s",
                      Raw(end.tx), Raw(mark_.tx), mark_.offset, SegmentName(mark_.segment),
                      contents_.torn_why.empty() ? "" : "; ", contents_.torn_why));
}

}  // namespace engine::file
