// PostgresPresence: the seam of engine/presence.h in SQL.
//
// A beat is one transaction in one round trip: the life is noted, our row is put in its place, old
// rows are removed, the others' are read, COMMIT. It touches no row that another replica writes.

#pragma once

#include "engine/postgres/lives.h"
#include "engine/postgres/pool.h"
#include "engine/postgres/statements.h"
#include "engine/presence.h"

namespace engine::postgres {

// Thread-safe; its calls block.
class PostgresPresence final : public Presence {
 public:
  // All must outlive it.
  PostgresPresence(const Statements& statements, Pool& pool, Lives& lives)
      : statements_(statements), pool_(pool), lives_(lives) {}

  absl::StatusOr<Life> NoteLife(Deadline deadline) override;
  absl::StatusOr<Pulse> Beat(const Replica& self, Deadline deadline) override;

 private:
  // Runs `steps` in a transaction of its own, after the life was noted; their results.
  absl::StatusOr<std::vector<Result>> Write(std::vector<Step> steps, Deadline deadline, Life& life);

  const Statements& statements_;
  Pool& pool_;
  Lives& lives_;
};

}  // namespace engine::postgres
