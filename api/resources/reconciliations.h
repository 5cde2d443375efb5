// Reconciliations: what `/metrics` says of resources that are not reconciled.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <absl/base/thread_annotations.h>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/view.h"
#include "projections/resources/rules.h"

namespace api {

// Thread-safe; never blocks for long.
class Reconciliations {
 public:
  // Of a mutation that this process committed.
  void CountStarts(const std::vector<projections::ReconciliationStart>& starts);

  struct Sample {
    const char* name = "";
    const char* help = "";
    bool is_counter = false;
    std::string resource_type;  // The kind in lower case.
    bool is_delete = false;
    double value = 0;
  };
  // hyperfleet_api_reconciliation_started_total, and of `view` the gauges
  // hyperfleet_api_resource_pending_reconciliation, ..._stuck and ..._stuck_duration_seconds; those
  // are left out where they are zero. Samples of one name stand together.
  std::vector<Sample> Samples(const engine::View& view, engine::Timestamp now,
                              engine::Duration stuck_threshold) const;

 private:
  mutable engine::Mutex mutex_;
  std::map<std::pair<std::string, bool>, std::uint64_t> started_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace api
