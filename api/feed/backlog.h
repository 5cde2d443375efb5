// Backlog: what a watcher has missed, read from the journal until it meets the live edge.
//
// Blocks on the store: for workers.

#pragma once

#include <vector>

#include <absl/status/statusor.h>

#include "engine/journal.h"

namespace api {

struct BacklogRow {
  engine::Record record;
  engine::Payload before;  // As RecentRecord::before, where it was asked for.
};

// The records that follow after these cursors in their streams, oldest first: by transaction, in it
// by stream, in that by position. Nothing is left out in between; where it ends may be in the
// middle of a transaction, since the cursors say where to go on. At most about a megabyte, but one
// record at least; none: there is nothing new.
//
// Fails with kOutOfRange when a stream was compacted past its cursor, with kFailedPrecondition when
// the cursors are of another history, with kDataLoss when rows are damaged, and as the journal's
// calls do.
absl::StatusOr<std::vector<engine::Record>> ReadBacklog(engine::Journal& journal,
                                                        const engine::Cursors& after,
                                                        engine::Deadline deadline);

// The same, with what each tombstone's key held before it: a look-up for each.
absl::StatusOr<std::vector<BacklogRow>> ReadBacklogWithStates(engine::Journal& journal,
                                                              const engine::Cursors& after,
                                                              engine::Deadline deadline);

}  // namespace api
