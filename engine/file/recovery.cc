#include "engine/file/recovery.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/append_check.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/file/frame_reader.h"
#include "engine/floor_proof.h"

namespace engine::file {
namespace {

std::string_view Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

absl::Status DamageAt(SegmentId segment, std::uint64_t offset, std::string_view why) {
  return absl::DataLossError(
      absl::StrFormat("%s at byte %d: %s", SegmentName(segment), offset, why));
}

// Fits one segment after another into the contents.
class ContentsReader {
 public:
  ContentsReader(const Directory& directory, const Catalogue& catalogue, const HeadMark& mark,
                 const Floors& floors)
      : directory_(directory),
        mark_(mark),
        contents_{.segments = {},
                  .counts = {},
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

  absl::StatusOr<Contents> Read() {
    ASSIGN_OR_RETURN(contents_.segments, directory_.Segments());
    for (const SegmentId& segment : contents_.segments) {
      RETURN_IF_ERROR(ReadSegment(segment));
    }
    RETURN_IF_ERROR(CheckMark());
    RETURN_IF_ERROR(CheckFloors());
    return std::move(contents_);
  }

 private:
  absl::Status ReadSegment(SegmentId segment);
  absl::Status CheckHeader(Tx first, const SegmentHeader& header) const;
  absl::Status ReadFrames(int fd, std::uint64_t size);
  absl::Status CheckFollows(const Frame& frame) const;
  absl::Status TakeRows(const Frame& frame, std::uint64_t offset);
  absl::Status TakeRow(const RowView& row, Tx tx, std::uint64_t offset);
  bool TakeAnswers(std::string_view bytes, const Frame& frame, Timestamp at);
  static absl::Status Prove(const RowView& row, const StreamTail& tail, FloorProof& proof);
  absl::Status JudgeTail(int fd, std::uint64_t size, std::string_view why);
  void Arrive(std::uint64_t offset, Tx tx, FrameDigest digest);
  absl::Status CheckMark() const;
  absl::Status CheckFloors();

  const Directory& directory_;
  const HeadMark mark_;
  bool mark_passed_ = false;
  SegmentId current_;
  std::map<StreamId, FloorProof> proofs_;
  std::uint32_t segment_number_ = 0;
  Contents contents_;
};

absl::Status ContentsReader::ReadSegment(SegmentId segment) {
  const Tx first = segment.first;
  current_ = segment;
  contents_.counts.emplace_back();
  ASSIGN_OR_RETURN(const Fd file, directory_.OpenFile(SegmentName(segment), false));
  // The size first: whoever is writing meanwhile only adds bytes behind it.
  ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(file.get()));
  std::string bytes(kSegmentHeaderBytes, '\0');
  ASSIGN_OR_RETURN(const std::size_t got, ReadAt(file.get(), bytes.data(), bytes.size(), 0));
  bytes.resize(got);
  const absl::StatusOr<SegmentHeader> header = DecodeSegmentHeader(bytes);
  if (absl::IsFailedPrecondition(header.status())) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s at byte 8: %s", SegmentName(segment), Text(header.status())));
  }
  if (!header.ok()) {
    return DamageAt(current_, 0, Text(header.status()));
  }
  RETURN_IF_ERROR(CheckHeader(first, *header));
  contents_.last_segment = *header;
  contents_.end.segment = first;
  Arrive(kSegmentHeaderBytes, contents_.end.tx, contents_.end.digest);
  RETURN_IF_ERROR(ReadFrames(file.get(), size));
  ++segment_number_;
  return absl::OkStatus();
}

absl::Status ContentsReader::CheckHeader(Tx first, const SegmentHeader& header) const {
  if (header.first_tx != first) {
    return DamageAt(current_, 24,
                    absl::StrFormat("the segment starts with tx %d, not as its name says: it was "
                                    "renamed or copied",
                                    Raw(header.first_tx)));
  }
  if (first != Next(contents_.end.tx)) {
    return DamageAt(
        current_, 24,
        absl::StrFormat("tx %d should follow: a segment is missing", Raw(Next(contents_.end.tx))));
  }
  if (header.previous != contents_.end.digest) {
    return DamageAt(current_, 32, "the segment does not follow the one before it");
  }
  return absl::OkStatus();
}

absl::Status ContentsReader::ReadFrames(int fd, std::uint64_t size) {
  FrameReader reader(fd, contents_.last_segment.marker, kSegmentHeaderBytes, size);
  while (true) {
    const absl::StatusOr<std::optional<Frame>> next = reader.Next();
    if (absl::IsDataLoss(next.status())) {
      return JudgeTail(fd, size, Text(next.status()));
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
    return DamageAt(current_, end.offset,
                    absl::StrFormat("tx %d follows tx %d: frames are missing", Raw(frame.first_tx),
                                    Raw(end.tx)));
  }
  if (!GUARD("file.previous-digest", frame.previous == end.digest)) {
    return DamageAt(
        current_, end.offset,
        absl::StrFormat("the frame of tx %d does not follow the frame before it", Raw(frame.tx)));
  }
  return absl::OkStatus();
}

absl::Status ContentsReader::TakeRows(const Frame& frame, std::uint64_t offset) {
  std::string_view rest = frame.body;
  offset += frame.rows_at;
  // Of answers whose rows are all gone: the journal's time so far.
  Timestamp at;
  for (const StreamTail& tail : contents_.tails) {
    at = std::max(at, tail.at);
  }
  for (std::uint32_t i = 0; i < frame.rows; ++i) {
    const std::optional<RowView> row = DecodeRow(rest);
    if (!row.has_value()) {
      return DamageAt(current_, offset, "the row does not fit into its frame");
    }
    RETURN_IF_ERROR(TakeRow(*row, frame.tx, offset));
    rest.remove_prefix(row->size());
    offset += row->size();
    at = row->at;
  }
  const bool compacted = frame.rows_at != kFrameHeaderBytes;
  if ((frame.rows == 0 && !compacted) || !TakeAnswers(rest, frame, at)) {
    return DamageAt(current_, offset, "the frame's number of rows is wrong");
  }
  return absl::OkStatus();
}

// Keeps the newest only, going by the journal's own time: the clock may have been set since.
bool ContentsReader::TakeAnswers(std::string_view bytes, const Frame& frame, Timestamp at) {
  auto answers = DecodeAnswers(bytes, frame.tx, at);
  if (!answers.has_value()) {
    return false;
  }
  for (KeptAnswer& answer : *answers) {
    contents_.answers.Add(std::move(answer));
  }
  contents_.answers.Prune(AnswersBefore(at, kAnswerLifetime), SIZE_MAX);
  return true;
}

absl::Status ContentsReader::TakeRow(const RowView& row, Tx tx, std::uint64_t offset) {
  const auto tail = std::ranges::find(contents_.tails, row.stream, &StreamTail::stream);
  const auto damage = [&](std::string_view why) {
    return DamageAt(
        current_, offset,
        absl::StrFormat("stream %d position %d: %s", Raw(row.stream), Raw(row.position), why));
  };
  if (tail == contents_.tails.end()) {
    return damage("the stream is not in the list of streams");
  }
  const auto proof = proofs_.find(row.stream);
  const bool sparse = proof != proofs_.end() && proof->second.Covers(row.position);
  const bool follows = row.position == Next(tail->position);
  if (!follows && (!sparse || row.position <= tail->position)) {
    return damage(absl::StrFormat("the row does not follow position %d", Raw(tail->position)));
  }
  if (row.tx != tx || row.at < tail->at) {
    return damage("tx or time of the row does not fit");
  }
  if (!RowIntact(row) || (follows && row.digest != ChainDigest(tail->digest, row.checksum))) {
    return damage("checksum or digest of the row is wrong");
  }
  const bool dead = sparse && contents_.floors.IsDead(row.stream, row.position);
  if (sparse && !dead) {
    RETURN_IF_ERROR(Prove(row, *tail, proof->second));
  }
  tail->position = row.position;
  tail->tx = tx;
  tail->at = row.at;
  tail->digest = row.digest;
  ++contents_.counts.back().rows;
  contents_.counts.back().dead += dead ? 1 : 0;
  if (!dead) {
    contents_.index.Add(row.stream, row.position,
                        {segment_number_, static_cast<std::uint32_t>(offset)},
                        contents_.floors.Of(row.stream).position);
  }
  return absl::OkStatus();
}

absl::Status ContentsReader::Prove(const RowView& row, const StreamTail& tail, FloorProof& proof) {
  Record record;
  record.stream = row.stream;
  record.position = row.position;
  record.checksum = row.checksum;
  record.digest = row.digest;
  return proof.Take(record, {tail.stream, tail.position, tail.digest});
}

absl::Status ContentsReader::CheckFloors() {
  for (StreamTail& tail : contents_.tails) {
    const auto proof = proofs_.find(tail.stream);
    if (proof == proofs_.end()) {
      continue;
    }
    tail.floor = contents_.floors.Of(tail.stream);
    if (!GUARD("file.floor-proof", proof->second.complete())) {
      return absl::DataLossError(absl::StrFormat(
          "stream %d position %d: the row at the floor is missing, or what remains below it is not "
          "what the floor proves",
          Raw(tail.stream), Raw(tail.floor.position)));
    }
  }
  return absl::OkStatus();
}

// The bytes from the end on are no frame that could follow. Innocent or damage?
absl::Status ContentsReader::JudgeTail(int fd, std::uint64_t size, std::string_view why) {
  const HeadMark& end = contents_.end;
  const bool last = end.segment == contents_.segments.back().first;
  bool innocent = last && size - end.offset <= kMaxFrameBytes;
  if (innocent) {
    ASSIGN_OR_RETURN(const bool follows, LaterFrameFollows(fd, contents_.last_segment.marker,
                                                           end.offset, size, end.tx));
    innocent = !follows;
  }
  if (!GUARD("file.torn-last-only", innocent)) {
    return DamageAt(current_, end.offset, why);
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
  return DamageAt(
      current_, end.offset,
      absl::StrFormat("the journal ends here, after tx %d, but the head mark says that tx %d was "
                      "acknowledged, up to byte %d of %s%s%s",
                      Raw(end.tx), Raw(mark_.tx), mark_.offset, SegmentName(mark_.segment),
                      contents_.torn_why.empty() ? "" : "; ", contents_.torn_why));
}

absl::Status CutOff(const Directory& directory, int fd, const Contents& contents) {
  const std::string name = SegmentName(contents.segments.back());
  if (directory.disk().Truncate(fd, contents.end.offset) != 0) {
    return DiskError("cutting the torn frame off " + name);
  }
  if (directory.disk().Sync(fd) != 0) {
    return SyncError("syncing " + name);
  }
  Log(Severity::kWarning, "cut a torn frame off the journal; it was never acknowledged",
      {{"segment", name},
       {"offset", contents.end.offset},
       {"bytes", contents.torn_bytes},
       {"why", contents.torn_why}});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Contents> ReadContents(const Directory& directory, const Catalogue& catalogue,
                                      const HeadMark& mark, const Floors& floors) {
  return ContentsReader(directory, catalogue, mark, floors).Read();
}

absl::Status WriteAgain(const Directory& directory, int fd, std::uint64_t begin,
                        std::uint64_t end) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
  std::string bytes;
  for (std::uint64_t offset = begin; offset < end; offset += bytes.size()) {
    bytes.resize(std::min(kChunk, end - offset));
    ASSIGN_OR_RETURN(const std::size_t got, ReadAt(fd, bytes.data(), bytes.size(), offset));
    if (got != bytes.size()) {
      return absl::DataLossError("a file became shorter while it was opened");
    }
    RETURN_IF_ERROR(WriteAll(directory.disk(), fd, bytes, offset));
  }
  if (directory.disk().SyncData(fd) != 0) {
    return SyncError("syncing what was written again");
  }
  return absl::OkStatus();
}

absl::Status MakeDurable(const Directory& directory, const Contents& contents,
                         const HeadMark& mark) {
  const HeadMark& end = contents.end;
  for (const SegmentId& segment : contents.segments) {
    const Tx first = segment.first;
    if (first < mark.segment) {
      continue;
    }
    ASSIGN_OR_RETURN(const Fd file, directory.OpenFile(SegmentName(segment), true));
    const bool last = first == end.segment;
    if (last && contents.torn_bytes > 0) {
      RETURN_IF_ERROR(CutOff(directory, file.get(), contents));
    }
    ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(file.get()));
    const std::uint64_t begin = first == mark.segment ? mark.offset : 0;
    if (begin < size) {
      RETURN_IF_ERROR(WriteAgain(directory, file.get(), begin, size));
    }
  }
  if (end != mark && directory.disk().Sync(directory.fd()) != 0) {
    return SyncError("syncing directory " + directory.path());
  }
  return absl::OkStatus();
}

}  // namespace engine::file
