// Changes: what became of one resource, newest first, read back from the journal.
//
// Each record names the one before it of its key, so this is a walk of look-ups by position and
// needs no index. Blocks on the store: for workers.

#pragma once

#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/journal.h"

namespace api {

struct Changes {
  std::vector<engine::Record> records;  // Newest first.
  // Where the walk goes on; kBeforeFirst: there is no older record, or compaction took it.
  engine::Position next = engine::Position::kBeforeFirst;
  // Of the stream, where compaction took what would come next.
  engine::Position floor = engine::Position::kBeforeFirst;

  // Whether the oldest record is the first of the resource.
  bool complete() const {
    return next == engine::Position::kBeforeFirst && floor == engine::Position::kBeforeFirst;
  }
};

// Up to `limit` records, fewer where they are large, of the resource `id`, the newest of which is
// at `from`.
//
// Fails with kNotFound when there is no record of it at `from` (compaction took it, or it never
// was), with kDataLoss when a record is not what its place says, and as Journal::ReadStream does.
absl::StatusOr<Changes> ReadChanges(engine::Journal& journal, std::string_view id,
                                    engine::Position from, int limit, engine::Deadline deadline);

}  // namespace api
