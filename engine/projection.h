// Projection is what a fold looks like to the engine: records in, an immutable image out.
//
// A projection folds one stream in memory. It knows no SQL, no HTTP and no clock. Its owner, the
// follower (engine/follower.h), is the only one to call `Apply` and `Publish`; everyone else sees
// the published images, through a view.

#pragma once

#include <cstdint>
#include <memory>

#include <absl/status/status.h>

#include "engine/journal.h"

namespace engine {

// The state of one projection at one position. Immutable: held by any number of readers for as
// long as they like, read without locks.
class ProjectionImage {
 public:
  virtual ~ProjectionImage() = default;

  // Equal for equal states, on every replica and backend: kept incrementally, independent of the
  // order in which keys were written.
  virtual std::uint64_t StateDigest() const = 0;
};

// One thread (the follower serialises).
class Projection {
 public:
  virtual ~Projection() = default;

  virtual StreamId stream() const = 0;

  // Raised whenever the same records fold to another state; digests compare only within one.
  virtual std::uint32_t fold_version() const = 0;

  // Folds the next record of the stream, whose checksum, digest and position have been checked.
  // Never judges business rules: writers did, under the lock.
  //
  // Fails with kDataLoss when the payload cannot be decoded or is of an unknown type that may not
  // be skipped; the state is as before the call then.
  virtual absl::Status Apply(const Record& record) = 0;

  // The state as it is now. Costs the same however large the state is.
  virtual std::shared_ptr<const ProjectionImage> Publish() = 0;
};

}  // namespace engine
