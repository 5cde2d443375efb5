#include "engine/floor_proof.h"

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"

namespace engine {
namespace {

absl::Status Damage(const Record& row, std::string_view what) {
  return absl::DataLossError(
      absl::StrFormat("stream %d position %d: %s", Raw(row.stream), Raw(row.position), what));
}

}  // namespace

absl::Status FloorProof::Take(const Record& row, const StreamCursor& before) {
  if (row.position <= before.position) {
    return Damage(row, absl::StrFormat("it comes after position %d", Raw(before.position)));
  }
  if (row.position == Next(before.position) &&
      row.digest != ChainDigest(before.digest, row.checksum)) {
    return Damage(row, "the digest does not continue the known history");
  }
  ++rows_;
  sum_ += row.checksum;
  if (row.position != floor_.position) {
    return absl::OkStatus();
  }
  if (!GUARD("floor.digest", row.digest == floor_.digest)) {
    return Damage(row, "the row at the floor is another one");
  }
  if (!GUARD("floor.rows", rows_ == floor_.rows)) {
    return Damage(
        row, absl::StrFormat("%d rows remain up to here, the floor says %d", rows_, floor_.rows));
  }
  if (!GUARD("floor.sum", sum_ == floor_.sum)) {
    return Damage(row, "the rows that remain up to here are not those that the floor proves");
  }
  complete_ = true;
  return absl::OkStatus();
}

}  // namespace engine
