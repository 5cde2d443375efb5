#include <algorithm>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file/contents_reader.h"
#include "engine/file/frame_reader.h"

namespace engine::file {

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
  const absl::StatusOr<SegmentHeader> header = ReadSegmentHeader(file.get(), SegmentName(segment));
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
    return Damage(0, "the segment is not what the list of closed segments says");
  }
  return std::move(contents_.index);
}

}  // namespace engine::file
