// HaloReaders: our reads as the server makes them, without HTTP: parked on the coalescer's next
// flight, answered from the view that it brought by one event loop, and by workers where many
// resources have to be looked at.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/dispatch/workers.h"
#include "api/http/transport.h"
#include "bench/peers/workloads.h"
#include "bench/support/loop.h"
#include "bench/support/stores.h"
#include "engine/coalescer.h"
#include "projections/registry.h"

namespace bench {

// Thread-compatible. Destroy it when no round is under way.
class HaloReaders {
 public:
  // Over a store whose records `bench` has folded; it outlives this.
  explicit HaloReaders(Workbench& bench);

  // One document, whose id is asked for each time.
  struct Get {
    std::function<const std::string&()> id;
    projections::TenantScope tenant;
  };
  // So many clients ask until the rounds are over; returns at once.
  void Ask(int clients, const Get& get, Rounds& rounds);
  void Ask(int clients, const Workload& list, Rounds& rounds);
  // The answer to one request. Blocks.
  std::string AskOnce(const Workload& list);
  // How many queries the store was asked so far.
  std::uint64_t flights() const { return coalescer_.counters().flights; }

 private:
  using Answered = std::function<void(std::string body)>;
  using Handler = std::function<void(const engine::ViewPtr& view, Answered answered)>;

  Handler HandlerOf(const Get& get) const;
  Handler HandlerOf(const Workload& list);
  void GoRound(const std::shared_ptr<const Handler>& handler, Rounds& rounds);

  const projections::Registry registry_ = projections::Registry::Stock();
  api::Transport loop_{{}};  // The server's I/O thread.
  api::Workers workers_;     // As many as the server has by default.
  engine::Coalescer coalescer_;
};

}  // namespace bench
