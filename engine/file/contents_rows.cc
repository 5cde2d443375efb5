#include <algorithm>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/append_check.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file/contents_reader.h"

namespace engine::file {

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
      return Damage(offset, "the row does not fit into its frame");
    }
    RETURN_IF_ERROR(TakeRow(*row, frame.tx, offset));
    rest.remove_prefix(row->size());
    offset += row->size();
    at = row->at;
  }
  const bool compacted = frame.rows_at != kFrameHeaderBytes;
  if ((frame.rows == 0 && !compacted) || !TakeAnswers(rest, frame, at)) {
    return Damage(offset, "the frame's number of rows is wrong");
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
  const bool is_known = tail != contents_.tails.end();
  const std::string why =
      is_known ? Misfit(row, *tail, tx) : "the stream is not in the list of streams";
  if (!why.empty()) {
    return Damage(offset, absl::StrFormat("stream %d position %d: %s", Raw(row.stream),
                                          Raw(row.position), why));
  }
  const bool sparse = row.position <= contents_.floors.Of(row.stream).position;
  const bool dead = sparse && contents_.floors.IsDead(row.stream, row.position);
  if (sparse && !dead) {
    RETURN_IF_ERROR(Prove(row, *tail));
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

// Why the row cannot lie behind `tail`; empty when it can. At or below the floor rows may be
// missing before it.
std::string ContentsReader::Misfit(const RowView& row, const StreamTail& tail, Tx tx) const {
  const bool sparse = row.position <= contents_.floors.Of(row.stream).position;
  const bool follows = row.position == Next(tail.position);
  if (!follows && (!sparse || row.position <= tail.position)) {
    return absl::StrFormat("the row does not follow position %d", Raw(tail.position));
  }
  if (row.tx != tx || row.at < tail.at) {
    return "tx or time of the row does not fit";
  }
  if (!RowIntact(row) || (follows && row.digest != ChainDigest(tail.digest, row.checksum))) {
    return "checksum or digest of the row is wrong";
  }
  return {};
}

absl::Status ContentsReader::Prove(const RowView& row, const StreamTail& tail) {
  const auto proof = proofs_.find(row.stream);
  if (proof == proofs_.end()) {
    return absl::OkStatus();
  }
  Record record;
  record.stream = row.stream;
  record.position = row.position;
  record.checksum = row.checksum;
  record.digest = row.digest;
  return proof->second.Take(record, {tail.stream, tail.position, tail.digest});
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

}  // namespace engine::file
