// RelationalFront: an HTTP server over the first seed's tables, to be asked like ours.
//
// It is made of our own HTTP room (api/http), one I/O thread, and of worker threads with a
// connection each, which run the seed's statements (bench/peers/relational.h); writes have threads
// of their own, so that they never wait for one behind lists. It does nothing else that a server
// does: no credentials, no log, no metrics, no look at what it is sent; the searches of the
// comparison are known to it beforehand, and answers to writes have the generation only. Each helps
// the relational side.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/dispatch/workers.h"
#include "api/http/router.h"
#include "api/http/transport.h"
#include "bench/peers/relational.h"
#include "bench/peers/workloads.h"
#include "engine/base/mutex.h"

namespace bench {

// Threads with a connection each. Thread-safe; Run never blocks.
class ClientPool {
 public:
  // Ends the program when it cannot connect.
  ClientPool(const std::string& url, int connections);

  // `work` gets a connection that nobody else uses.
  void Run(std::function<void(RelationalClient& client)> work);

 private:
  engine::Mutex mutex_;
  std::vector<std::unique_ptr<RelationalClient>> idle_ ABSL_GUARDED_BY(mutex_);
  api::Workers workers_;  // As many as there are connections. Ends first: its tasks use the rest.
};

struct FrontOptions {
  int readers = 1;  // Connections.
  int writers = 1;
};

// Serves from construction to destruction. Thread-safe.
class RelationalFront {
 public:
  // Over the tables of this database; ends the program when it cannot. Routes and headers are those
  // of a halo-server with FleetConfig().
  RelationalFront(const std::string& relational_url, const FrontOptions& options);
  ~RelationalFront();
  RelationalFront(const RelationalFront&) = delete;
  RelationalFront& operator=(const RelationalFront&) = delete;

  const std::string& url() const { return url_; }

 private:
  using Answer =
      std::function<api::Response(RelationalClient& client, const api::Request& request)>;

  void AddRoutes();
  void Handle(api::Method method, std::string_view pattern, const Answer& answer);
  api::Response List(RelationalClient& client, const api::Request& request) const;

  std::map<std::string, Workload, std::less<>> searches_;  // By their text.
  api::Router router_;
  api::Transport transport_;
  std::string url_;
  ClientPool readers_;
  ClientPool writers_;
};

}  // namespace bench
