// Server: one API server over one engine, from the listeners to the committer.
//
//   ASSIGN_OR_RETURN(auto server, api::Server::Start(*engine, {.listen = "127.0.0.1:0"}));
//   server->address();                            // "127.0.0.1:40213"
//   server->router().Dispatch(request, responder);  // without a socket
//   server->Drain(engine::Deadline::After(20s));
//
// Which backend the engine is, is none of its business; main files and tests open one.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "api/dispatch/admission.h"
#include "api/dispatch/caller.h"
#include "api/dispatch/compaction.h"
#include "api/dispatch/dispatcher.h"
#include "api/dispatch/readiness.h"
#include "api/dispatch/store.h"
#include "api/dispatch/sweeper.h"
#include "api/dispatch/workers.h"
#include "api/feed/feed.h"
#include "api/http/router.h"
#include "api/http/transport.h"
#include "api/identity/authenticator.h"
#include "api/resources/reconciliations.h"
#include "api/resources/settling.h"
#include "api/server/access_log.h"
#include "api/server/metrics.h"
#include "api/server/service_routes.h"
#include "api/spec_schema/spec_schemas.h"
#include "api/tracing/tracer.h"
#include "engine/engine.h"
#include "projections/registry.h"

namespace api {

struct ServerOptions {
  // HOST:PORT; empty: no listener. Port 0 picks one.
  std::string listen = {};
  // Further listeners, served by a thread of their own also while the main one drains.
  std::string metrics_listen = {};
  std::string health_listen = {};
  // Of each of the three; null: in the clear.
  std::shared_ptr<TlsContext> tls = {};
  std::shared_ptr<TlsContext> metrics_tls = {};
  std::shared_ptr<TlsContext> health_tls = {};
  // Between two looks at whether their files are others.
  engine::Duration tls_check_interval = std::chrono::seconds(10);
  TransportOptions transport = {};
  ReadinessOptions readiness = {};
  int workers = 4;
  // Of the leases that this server campaigns for.
  engine::Duration lease_ttl = std::chrono::seconds(15);
  AdminTokens admin_tokens = {};
  // Whose tokens the routes of resources take, and how tenants are told apart.
  IdentityOptions identity = {};
  // Between two fetches because of keys that an issuer did not have (api/identity/key_source.h).
  engine::Duration key_pause = KeySourceOptions().pause;
  AccessLogOptions access_log = {};
  // Gets a span for each request of the main listener; null: there are no traces.
  std::shared_ptr<Tracer> tracer = {};
  projections::Registry registry = projections::Registry::Stock();
  // What the registry's kinds demand of specs.
  SpecSchemas spec_schemas = {};
  // Serve only if the audit holds an entry of this hash: 64 digits in lower case. Empty: any.
  std::string expect_head = {};
  FeedOptions feed = {};
  // What the backend adds to /metrics. Must not block.
  std::function<void(Samples&)> backend_metrics = {};
  // How long streams keep replaced records; `lease_ttl` of it is the one above.
  CompactionOptions compaction = {};
  // Where snapshots are kept; empty: there are none, and every start reads the whole journal.
  std::string snapshot_dir = {};
  // What the backend adds to /readyz: settings of the store, by name. Must not block.
  BackendFacts backend_facts = {};
  // A resource that is not reconciled for longer is stuck, for /metrics.
  engine::Duration reconciliation_stuck_threshold = std::chrono::minutes(10);
  // How long the main listener still takes requests after readiness went away.
  engine::Duration drain_grace = std::chrono::milliseconds(250);
};

// Thread-safe but for Drain and destruction.
class Server {
 public:
  // Opens the listeners, replays the journal, and starts to serve. Blocks until then; requests
  // that come earlier wait in the kernel.
  //
  // Fails with kInvalidArgument or kUnavailable for a listener (the message names it), with
  // kFailedPrecondition when the audit is not the one that was expected, and as Store::Open does.
  // `engine` must outlive the server.
  static absl::StatusOr<std::unique_ptr<Server>> Start(engine::Engine& engine,
                                                       ServerOptions options);
  // Cuts off what is in flight; see Drain.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // With the real port; empty without a listener.
  const std::string& address() const { return address_; }
  const std::string& metrics_address() const { return metrics_address_; }
  const std::string& health_address() const { return health_address_; }

  // For requests that do not come over a socket.
  const Router& router() const { return router_; }
  Store& store() { return *store_; }
  Readiness& readiness() { return *readiness_; }

  // /readyz says `shutting_down` first; then no new connections, what is in flight is answered.
  // True: nothing was cut off. Blocks until done or `deadline`.
  bool Drain(engine::Deadline deadline);

 private:
  explicit Server(ServerOptions options);

  absl::Status Listen();
  absl::Status Open(engine::Engine& engine);
  void AddRoutes();
  void AddSideRoutes();
  void AddMetricSources();
  void AddReconciliations(Samples& samples) const;
  // Takes certificates that were replaced. Reads files.
  void RefreshCertificates();

  ServerOptions options_;
  const AccessLog access_log_;
  Metrics metrics_;
  Router router_;
  Router metrics_router_;
  Router health_router_;
  Transport transport_;
  Transport side_transport_;
  std::string address_;
  std::string metrics_address_;
  std::string health_address_;
  Reconciliations reconciliations_;
  // Destroyed in the reverse order, after both transports stopped: what runs on the I/O threads
  // uses all of these. The workers end first: their tasks use the dispatcher and the store.
  std::unique_ptr<Store> store_;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<Readiness> readiness_;
  std::unique_ptr<Sweeper> sweeper_;
  std::unique_ptr<Settling> settling_;
  std::unique_ptr<Compaction> compaction_;
  std::unique_ptr<Ticker> certificates_;  // Null: nothing is served over TLS.
};

}  // namespace api
