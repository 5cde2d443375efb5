// Compactor removes, in the background, records that newer ones of their key have replaced, once
// they are older than the stream keeps its history.
//
// In small steps a stream's floor is raised over rows that are old enough; of the rows at or below
// it only each key's newest remains, and none of a key that is gone. Everything above the floor
// stays exact: history, cursors, states of the past. Which rows a step takes away is told by the
// `previous` of the rows it passes, so a step costs what it passes, not what there is.
//
// Streams without keys and chained ones are never compacted. Why what remains can be trusted:
// docs/journal.md, "Compaction".

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/journal.h"

namespace engine {

// How long each stream keeps replaced records. A stream that is not in it keeps them for ever.
using Retentions = std::map<StreamId, Duration>;

// What the catalogue says.
Retentions DefaultRetentions(const Catalogue& catalogue);

// `resources=30d,statuses=12h` over the catalogue's own; `never` keeps them for ever. Fails with
// kInvalidArgument, naming the item, also when a stream is there twice.
absl::StatusOr<Retentions> ParseRetentions(const Catalogue& catalogue, std::string_view text);

// The step that raises `from` over `rows`, which follow it densely. `at_floor` is the row at
// `from`; null when nothing was compacted yet. REQUIRES: there are rows, of one keyed stream.
//
// Fails with kDataLoss when a row's checksum or digest does not fit, or `previous` is not older:
// what is damaged is not compacted, or the damage could not be found any more.
absl::StatusOr<CompactionStep> PlanCompaction(const Floor& from, const Record* at_floor,
                                              std::span<const Record> rows);

struct CompactorOptions {
  Retentions retentions;
  int rows_a_step = 1000;
};

struct CompactionReport {
  std::uint64_t steps = 0;
  std::uint64_t passed = 0;   // Rows that floors were raised over.
  std::uint64_t removed = 0;  // Rows that are gone.
  // Streams that were left alone because of damage; each was logged with stream and position.
  std::vector<StreamId> damaged;
};

// One thread. Calls block on the store.
class Compactor {
 public:
  // `journal` must outlive the object.
  Compactor(Journal& journal, CompactorOptions options)
      : journal_(journal), options_(std::move(options)) {}

  // Raises the floors of all streams as far as their retention allows, by the store's clock, as
  // long as `go_on` says so; it is asked before each step. Each call of the store may take until
  // `patience` has passed. A step is done wholly or not at all, also when the process dies.
  //
  // Fails as the journal's calls do; what was done until then stays. Another compactor at work is
  // no failure: that stream is left to it.
  absl::StatusOr<CompactionReport> Run(const std::function<bool()>& go_on, Duration patience);

  // Raises one stream's floor to `to`, however young its rows are; the stream has to go on above.
  // Fails as Run does, with kInvalidArgument for a stream that is never compacted or ends there,
  // with kAborted when another compactor is at work, and with kDataLoss for a damaged stream.
  absl::StatusOr<CompactionReport> RaiseTo(StreamId stream, Position to, Duration patience);

 private:
  // How far a stream's floor may rise.
  struct Reach;

  absl::Status CompactStream(StreamTail tail, const Reach& reach, CompactionReport& report);
  absl::StatusOr<bool> Step(StreamTail& tail, const Reach& reach, CompactionReport& report);

  Journal& journal_;
  const CompactorOptions options_;
};

}  // namespace engine
