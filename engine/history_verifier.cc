#include "engine/history_verifier.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

constexpr int kRowsAtOnce = 1000;

absl::Status Damage(const Record& row, std::string_view what) {
  return absl::DataLossError(
      absl::StrFormat("stream %d position %d: %s", Raw(row.stream), Raw(row.position), what));
}

}  // namespace

HistoryVerifier::HistoryVerifier(Journal& journal, Cursors through,
                                 std::function<void(StreamId, const absl::Status&)> damaged)
    : journal_(journal), through_(std::move(through)), damaged_(std::move(damaged)) {}

void HistoryVerifier::NextStream() {
  ++stream_;
  next_ = Position{1};
  before_ = Digest::kEmpty;
}

bool HistoryVerifier::Step(Deadline deadline) {
  if (stream_ == through_.size()) {
    return false;
  }
  const StreamCursor& through = through_[stream_];
  if (next_ > through.position) {
    NextStream();
    return stream_ < through_.size();
  }
  const auto rows = journal_.ReadStream(through.stream, next_, kRowsAtOnce, deadline);
  absl::Status status = rows.status();
  if (rows.ok() && rows->empty()) {
    status = absl::DataLossError(absl::StrFormat("stream %d position %d: the rows end here",
                                                 Raw(through.stream), Raw(next_)));
  }
  for (std::size_t i = 0; status.ok() && i < rows->size(); ++i) {
    status = Check((*rows)[i]);
    if ((*rows)[i].position > through.position) {
      break;
    }
  }
  if (!status.ok() && !absl::IsDataLoss(status)) {
    return true;
  }
  if (!status.ok()) {
    damaged_(through.stream, status);
    NextStream();
  } else if (rows->back().position >= through.position) {
    NextStream();
  }
  return stream_ < through_.size();
}

absl::Status HistoryVerifier::Check(const Record& row) {
  const StreamCursor& through = through_[stream_];
  if (row.position != next_) {
    // Compaction leaves gaps, and may have made one since the page before.
    ASSIGN_OR_RETURN(const std::vector<StreamTail> tails, journal_.Tails(Deadline::Infinite()));
    const auto tail = std::ranges::find(tails, row.stream, &StreamTail::stream);
    if (tail == tails.end() || Position{Raw(row.position) - 1} > tail->floor.position) {
      return Damage(row, absl::StrFormat("position %d was expected", Raw(next_)));
    }
    before_.reset();
  }
  if (row.position > through.position) {
    return absl::OkStatus();  // Folded, and checked, since the start.
  }
  if (!GUARD("history.checksum", row.checksum == RowChecksum(row))) {
    return Damage(row, "the checksum does not fit the row");
  }
  if (before_.has_value() && row.digest != ChainDigest(*before_, row.checksum)) {
    return Damage(row, "the digest does not continue the rows before");
  }
  if (!GUARD("history.digest", row.position != through.position || row.digest == through.digest)) {
    return Damage(row, "the history before it is not the one that was known");
  }
  before_ = row.digest;
  next_ = Next(row.position);
  ++rows_;
  return absl::OkStatus();
}

}  // namespace engine
