// Projection is what a fold looks like to the engine: records in, an immutable image out.
//
// A projection folds one stream in memory. It knows no SQL, no HTTP and no clock. Its owner, the
// follower (engine/follower.h), is the only one to call `Apply` and `Publish`; everyone else sees
// the published images, through a view.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <absl/status/status.h>

#include "engine/journal.h"

namespace engine {

// A saved state is a sequence of parts, each as large as one record at most, and a little.
inline constexpr std::size_t kMaxStatePartBytes = kMaxRecordBytes + 4096;
// Takes the parts of a state, in order; an error ends the saving with it.
using StatePartSink = std::function<absl::Status(std::string_view part)>;

// The state of one projection at one position. Immutable: held by any number of readers for as
// long as they like, read without locks.
class ProjectionImage {
 public:
  virtual ~ProjectionImage() = default;

  // Equal for equal states, on every replica and backend: kept incrementally, independent of the
  // order in which keys were written.
  virtual std::uint64_t StateDigest() const = 0;

  // Hands the whole state to `sink`, in parts that Projection::Load of the same fold version takes
  // in the same order. Reads the image alone, so the projection goes on meanwhile. Fails as the
  // sink does. Bytes of each projection: docs/formats/snapshot.md.
  virtual absl::Status Save(const StatePartSink& sink) const = 0;
};

// One thread (the follower serialises).
class Projection {
 public:
  virtual ~Projection() = default;

  virtual StreamId stream() const = 0;

  // Raised whenever the same records fold to another state, or a state is saved in other bytes;
  // digests and saved states are good only within one.
  virtual std::uint32_t fold_version() const = 0;

  // Folds the next record of the stream, whose checksum, digest and position have been checked.
  // Never judges business rules: writers did, under the lock.
  //
  // Fails with kDataLoss when the payload cannot be decoded or is of an unknown type that may not
  // be skipped; the state is as before the call then.
  virtual absl::Status Apply(const Record& record) = 0;

  // The state as it is now. Costs the same however large the state is.
  virtual std::shared_ptr<const ProjectionImage> Publish() = 0;

  // Takes the next part of a saved state, instead of the records that led to it. REQUIRES: nothing
  // was applied since construction or Reset.
  //
  // Fails with kDataLoss for bytes that no image of this fold version saves; Reset then.
  virtual absl::Status Load(std::string_view part) = 0;

  // Back to the state before the first record. Images that were published stay as they are.
  virtual void Reset() = 0;
};

}  // namespace engine
