// RemovedResources: where the last records of resources that are gone lie in the journal.
//
// The state of a replica forgets what is gone, and the journal has no index by key. So the stream
// is read through once, the first time that somebody asks for a resource that is not there, and
// from then on only what came since. It keeps 16 bytes and a little for each tombstone, for as
// long as compaction keeps the tombstone.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/mutex.h"
#include "engine/journal.h"

namespace api {

// Thread-safe. Find blocks on the store.
class RemovedResources {
 public:
  // The position of the tombstone of `id`, looked for up to `head`, the end of the stream as a view
  // shows it; empty when there is none (any more).
  //
  // One caller at a time reads, the others wait for it. Fails with kResourceExhausted when it was
  // still not done after a while: what was read so far is kept, so asking again helps. Else as
  // Journal::ReadStream and Tails do.
  absl::StatusOr<std::optional<engine::Position>> Find(engine::Journal& journal,
                                                       std::string_view id,
                                                       const engine::StreamCursor& head,
                                                       engine::Deadline deadline);

 private:
  absl::Status ReadUpTo(engine::Journal& journal, const engine::StreamCursor& head,
                        engine::Deadline deadline);
  absl::StatusOr<bool> IsStillThere(engine::Journal& journal, engine::Deadline deadline) const;
  absl::Status BeginTurn(engine::Deadline deadline);
  void EndTurn();
  void Take(const std::vector<engine::Record>& rows, engine::Position last);
  void Forget();

  engine::Mutex mutex_;
  engine::CondVar turn_ended_;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  // Of those whose turn it is alone.
  engine::StreamCursor read_;  // Everything up to here was looked at.
  absl::flat_hash_map<std::uint64_t, engine::Position> tombstones_;  // By the hash of the id.
  engine::Position floor_ = engine::Position::kBeforeFirst;
};

}  // namespace api
