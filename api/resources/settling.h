// Settling: brings the conditions of stored resources in line with the configuration.
//
// Conditions are records: they are written when a resource changes or an adapter reports. So when
// `required_adapters` or `conditions` of a kind are others than before, its resources have
// conditions of before. A server that starts looks at all resources of such kinds once, beside its
// other work, and has written what differs; what is finalizing and waits for nobody any more goes.
// A row of the store's key-value side says what a kind was settled for last, so that nothing is
// looked at where nothing has changed.

#pragma once

#include <atomic>
#include <set>
#include <string>

#include "api/dispatch/store.h"
#include "api/dispatch/ticker.h"
#include "api/resources/reconciliations.h"
#include "projections/registry.h"

namespace api {

// Thread-safe. Works on a thread of its own, which tries again what the store refuses.
class Settling {
 public:
  // All arguments must outlive the object.
  Settling(Store& store, const projections::Registry& registry, Reconciliations& reconciliations,
           engine::Duration retry_interval = std::chrono::seconds(5));
  // Leaves off; waits for what is on its way.
  ~Settling();

  bool done() const { return done_; }
  // Resources whose conditions it had written.
  std::uint64_t settled() const { return settled_; }

 private:
  void Tick();
  absl::Status Settle(const projections::EntityDescriptor& descriptor);
  absl::Status SettleAll(const projections::EntityDescriptor& descriptor,
                         const engine::ViewPtr& view);

  Store& store_;
  const projections::Registry& registry_;
  Reconciliations& reconciliations_;
  std::set<std::string> kinds_;  // That are settled. Of the thread only.
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> done_ = false;
  std::atomic<std::uint64_t> settled_ = 0;
  Ticker ticker_;  // Last: its destruction waits for the thread.
};

}  // namespace api
