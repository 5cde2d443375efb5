// FloorProof judges what compaction left of a stream while it is read from its start.
//
// Rows at or below a floor have gaps, so their digests do not chain. What proves them is what the
// floor says: how many there are, the sum of their checksums, and the digest of the last one,
// which names the whole history that once was there.

#pragma once

#include <cstdint>

#include <absl/status/status.h>

#include "engine/journal.h"

namespace engine {

// One thread; never blocks.
class FloorProof {
 public:
  explicit FloorProof(const Floor& floor) : floor_(floor) {}

  bool Covers(Position position) const { return position <= floor_.position; }

  // Takes the next row, whose checksum was compared, behind the row at `before`. The row at the
  // floor is the last one, and the proof is complete with it.
  //
  // Fails with kDataLoss when it does not come behind, when its digest does not continue that of
  // the row right before it, or when the rows together are not those that the floor speaks of.
  absl::Status Take(const Record& row, const StreamCursor& before);

  bool complete() const { return complete_; }

 private:
  Floor floor_;
  std::uint64_t rows_ = 0;
  std::uint64_t sum_ = 0;
  bool complete_ = false;
};

}  // namespace engine
