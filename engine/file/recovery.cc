#include "engine/file/recovery.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
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
                 const Floors& floors, const std::vector<SegmentFacts>& sealed)
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

  absl::StatusOr<Contents> Read() {
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

  absl::StatusOr<Index> ReadOnly(const UnreadSegment& segment);

 private:
  absl::StatusOr<bool> TakeSealed(SegmentId segment);
  const SegmentFacts* FactsOf(SegmentId segment) const;
  bool Fit(const SegmentFacts& facts) const;
  void Take(const SegmentFacts& facts);
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
  const std::vector<SegmentFacts>& sealed_;
  bool mark_passed_ = false;
  bool may_be_torn_ = true;
  SegmentId current_;
  std::map<StreamId, FloorProof> proofs_;
  std::uint32_t segment_number_ = 0;
  Contents contents_;
};

// Answers that are still kept have to be read, going by the journal's own time.
const SegmentFacts* ContentsReader::FactsOf(SegmentId segment) const {
  const auto facts = std::ranges::lower_bound(sealed_, segment, {}, &SegmentFacts::id);
  if (facts == sealed_.end() || facts->id != segment || segment.first >= mark_.segment) {
    return nullptr;
  }
  const Timestamp newest = sealed_.back().at();
  const bool answers_are_old =
      !facts->has_answers || facts->at() < AnswersBefore(newest, kAnswerLifetime);
  return GUARD("file.sealed-answers", answers_are_old) ? &*facts : nullptr;
}

// Whether the segment can lie behind what was found so far.
bool ContentsReader::Fit(const SegmentFacts& facts) const {
  return facts.last_tx >= facts.id.first &&
         std::ranges::all_of(facts.streams, [this](const StreamFacts& stream) {
           const auto tail = std::ranges::find(contents_.tails, stream.stream, &StreamTail::stream);
           return tail != contents_.tails.end() && stream.last >= stream.first &&
                  (stream.first == Next(tail->position) ||
                   (stream.first > tail->position &&
                    stream.first <= contents_.floors.Of(stream.stream).position));
         });
}

// Takes a closed segment as it was told of, if this is the file that it was told of. If not, it is
// read, and that tells what is wrong.
absl::StatusOr<bool> ContentsReader::TakeSealed(SegmentId segment) {
  const SegmentFacts* const facts = FactsOf(segment);
  if (facts == nullptr || GUARD("file.sealed-unread", false)) {
    return false;
  }
  ASSIGN_OR_RETURN(const Fd file, directory_.OpenFile(SegmentName(segment), false));
  ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(file.get()));
  std::string bytes(kSegmentHeaderBytes, '\0');
  ASSIGN_OR_RETURN(const std::size_t got, ReadAt(file.get(), bytes.data(), bytes.size(), 0));
  bytes.resize(got);
  const absl::StatusOr<SegmentHeader> header = DecodeSegmentHeader(bytes);
  const bool same = header.ok() && size == facts->bytes && header->marker == facts->marker;
  if (!header.ok() || !GUARD("file.sealed-same-file", same)) {
    return false;
  }
  current_ = segment;
  RETURN_IF_ERROR(CheckHeader(segment.first, *header));
  if (!Fit(*facts)) {
    return false;
  }
  contents_.last_segment = *header;
  contents_.end.segment = segment.first;
  Take(*facts);
  Arrive(facts->bytes, facts->last_tx, facts->digest);
  return true;
}

void ContentsReader::Take(const SegmentFacts& facts) {
  std::uint64_t dead = 0;
  for (const StreamFacts& stream : facts.streams) {
    contents_.index.AddUnread(stream.stream, segment_number_, stream.first, stream.last);
    dead += contents_.floors.CountDead(stream.stream, stream.first, stream.last);
    if (stream.first <= contents_.floors.Of(stream.stream).position) {
      proofs_.erase(stream.stream);  // It cannot be proved without these rows.
    }
  }
  GoBehind(facts, contents_.tails);
  contents_.facts.push_back(facts);
  contents_.dead.push_back(dead);
  ++segment_number_;
}

absl::StatusOr<Index> ContentsReader::ReadOnly(const UnreadSegment& segment) {
  contents_.tails = segment.tails;
  contents_.end.tx = segment.last_tx;
  contents_.end.digest = segment.digest;
  proofs_.clear();
  may_be_torn_ = false;
  RETURN_IF_ERROR(ReadSegment(segment.facts.id));
  if (!GUARD("file.sealed-contents", contents_.facts.back() == segment.facts)) {
    return DamageAt(current_, 0, "the segment is not what the list of closed segments says");
  }
  return std::move(contents_.index);
}

absl::Status ContentsReader::ReadSegment(SegmentId segment) {
  const Tx first = segment.first;
  current_ = segment;
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
  contents_.facts.push_back({.id = segment, .marker = header->marker});
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
  SegmentFacts& facts = contents_.facts.back();
  facts.has_answers = facts.has_answers || !answers->empty();
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
  const bool sparse = row.position <= contents_.floors.Of(row.stream).position;
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
  if (sparse && !dead && proof != proofs_.end()) {
    RETURN_IF_ERROR(Prove(row, *tail, proof->second));
  }
  tail->position = row.position;
  tail->tx = tx;
  tail->at = row.at;
  tail->digest = row.digest;
  contents_.facts.back().Note(row.stream, row.position, tx, row.at, row.digest);
  contents_.dead.back() += dead ? 1 : 0;
  if (!dead) {
    contents_.index.Add(row.stream, row.position,
                        {segment_number_, static_cast<std::uint32_t>(offset)});
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
    tail.floor = contents_.floors.Of(tail.stream);
    const bool proved =
        proof != proofs_.end() ? proof->second.complete() : tail.position >= tail.floor.position;
    if (!GUARD("file.floor-proof", proved)) {
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
  const bool last = may_be_torn_ && end.segment == contents_.segments.back().first;
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
                                      const HeadMark& mark, const Floors& floors,
                                      const std::vector<SegmentFacts>& sealed) {
  return ContentsReader(directory, catalogue, mark, floors, sealed).Read();
}

absl::StatusOr<Index> ReadUnread(const Directory& directory, const Catalogue& catalogue,
                                 const UnreadSegment& segment) {
  return ContentsReader(directory, catalogue, {}, *segment.floors, {}).ReadOnly(segment);
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
