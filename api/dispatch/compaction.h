// Compaction: runs the compactor again and again while this server holds the lease `compaction`,
// so that of all servers of one store one does it.
//
// The lease only spares work: a floor is raised from where it is, so two that compact at once do
// no harm.

#pragma once

#include <atomic>
#include <cstdint>

#include "engine/clock_skew.h"
#include "engine/compactor.h"
#include "engine/elector.h"
#include "engine/engine.h"

namespace api {

struct CompactionOptions {
  // Empty: nothing is ever compacted.
  engine::Retentions retentions = {};
  // Between two runs.
  engine::Duration interval = std::chrono::minutes(1);
  engine::Duration lease_ttl = std::chrono::seconds(15);
};

// Thread-safe. Works on threads of its own.
class Compaction {
 public:
  // `engine` must outlive the object.
  Compaction(engine::Engine& engine, const CompactionOptions& options);

  struct Counters {
    std::uint64_t runs = 0;
    std::uint64_t failed = 0;
    std::uint64_t removed = 0;  // Rows.
  };
  Counters counters() const { return {runs_, failed_, removed_}; }
  const engine::Elector& elector() const { return elector_; }
  // What the answers about the lease said of the store's clock.
  const engine::ClockSkew& clock_skew() const { return clock_skew_; }

 private:
  void Lead(engine::Term& term);
  void RunOnce(engine::Term& term);

  const engine::Duration interval_;
  engine::Compactor compactor_;
  std::atomic<std::uint64_t> runs_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> removed_ = 0;
  engine::ClockSkew clock_skew_;
  engine::Elector elector_;  // Last: its destruction waits for the step under way.
};

}  // namespace api
