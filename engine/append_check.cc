#include "engine/append_check.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

std::string Where(const Record& row) {
  return absl::StrFormat("stream %d position %d", Raw(row.stream), Raw(row.position));
}

absl::Status CheckLimits(const Catalogue& catalogue, const Record& row) {
  const auto spec = std::ranges::find(catalogue, row.stream, &StreamSpec::id);
  if (spec == catalogue.end()) {
    return absl::InvalidArgumentError(Where(row) + ": the stream is not in the catalogue");
  }
  if (row.key.empty() == spec->keyed) {
    return absl::InvalidArgumentError(
        Where(row) + (spec->keyed ? ": the record has no key" : ": the record has a key"));
  }
  if (row.key.size() > kMaxKeyBytes) {
    return absl::InvalidArgumentError(Where(row) + ": the key is over its limit");
  }
  if (row.payload.size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(Where(row) + ": the record is over its limit");
  }
  return absl::OkStatus();
}

absl::Status CheckFollows(const Record& row, const StreamTail& tail) {
  if (row.position != Next(tail.position)) {
    return absl::AbortedError(
        absl::StrFormat("%s does not follow %d", Where(row), Raw(tail.position)));
  }
  if (row.previous >= row.position) {
    return absl::InvalidArgumentError(Where(row) + ": previous is not before it");
  }
  if (row.at < tail.at) {
    return absl::InvalidArgumentError(Where(row) + ": its time is before the last row's");
  }
  if (row.checksum != RowChecksum(row) || row.digest != ChainDigest(tail.digest, row.checksum)) {
    return absl::InvalidArgumentError(Where(row) + ": checksum or digest does not fit");
  }
  return absl::OkStatus();
}

// Adds what the answers count for to `bytes`.
absl::Status CheckAnswers(const Appending& appending, std::size_t& bytes) {
  std::set<std::string_view> keys;
  for (const KeptAnswer& answer : appending.answers) {
    if (answer.key.size() != kAnswerHashBytes || answer.request.size() != kAnswerHashBytes) {
      return absl::InvalidArgumentError("an answer's hashes have another size than SHA-256");
    }
    if (!keys.insert(answer.key).second) {
      return absl::InvalidArgumentError("two answers have one key");
    }
    if (answer.tx != appending.rows.back().tx || answer.at != appending.rows.back().at) {
      return absl::InvalidArgumentError("an answer is of another transaction than its rows");
    }
    bytes += AnswerCost(answer.answer.size());
  }
  return absl::OkStatus();
}

void Advance(const Catalogue& catalogue, const Record& row, StreamTail& tail) {
  tail.position = row.position;
  tail.tx = row.tx;
  tail.at = row.at;
  tail.digest = row.digest;
  if (std::ranges::find(catalogue, row.stream, &StreamSpec::id)->chained) {
    tail.last_payload = row.payload;
  }
}

}  // namespace

absl::Status CheckAppend(const Catalogue& catalogue, std::span<const StreamTail> tails, Tx last_tx,
                         const Appending& appending) {
  const std::span<const Record> rows = appending.rows;
  if (rows.empty()) {
    return absl::InvalidArgumentError("a transaction without rows");
  }
  std::vector<StreamTail> ends(tails.begin(), tails.end());
  std::size_t bytes = 0;
  for (const Record& row : rows) {
    RETURN_IF_ERROR(CheckLimits(catalogue, row));
    bytes += RowCost(row.key.size(), row.payload.size());
    if (row.tx != Next(last_tx)) {
      return absl::AbortedError(
          absl::StrFormat("tx %d does not follow %d", Raw(row.tx), Raw(last_tx)));
    }
    StreamTail& tail = *std::ranges::find(ends, row.stream, &StreamTail::stream);
    RETURN_IF_ERROR(CheckFollows(row, tail));
    Advance(catalogue, row, tail);
  }
  RETURN_IF_ERROR(CheckAnswers(appending, bytes));
  if (!GUARD("journal.transaction-limit", bytes <= kMaxTransactionBytes)) {
    return absl::InvalidArgumentError("the transaction is over its limit");
  }
  return absl::OkStatus();
}

std::vector<StreamTail> TailsAfter(const Catalogue& catalogue, std::vector<StreamTail> tails,
                                   std::span<const Record> rows) {
  for (const Record& row : rows) {
    Advance(catalogue, row, *std::ranges::find(tails, row.stream, &StreamTail::stream));
  }
  return tails;
}

std::vector<StreamTail> EmptyTails(const Catalogue& catalogue) {
  std::vector<StreamTail> tails(catalogue.size());
  std::ranges::transform(catalogue, tails.begin(), [](const StreamSpec& spec) {
    StreamTail tail;
    tail.stream = spec.id;
    return tail;
  });
  return tails;
}

}  // namespace engine
