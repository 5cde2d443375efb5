#include "api/server/server.h"

#include <algorithm>
#include <utility>

#include "api/control/routes.h"
#include "api/feed/routes.h"
#include "api/resources/routes.h"
#include "api/server/identity_metrics.h"
#include "api/server/process_metrics.h"
#include "api/server/tracing.h"
#include "api/server/version.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/expected_head.h"
#include "engine/history.h"
#include "projections/all.h"
#include "schemas/own_level.h"
#include "schemas/streams.h"

namespace api {
namespace {

TransportOptions SideTransport(const TransportOptions& main) {
  TransportOptions side = main;
  side.max_queue = 64;
  side.max_connections = 256;
  return side;
}

absl::StatusOr<std::string> ListenOn(Transport& transport, std::string_view address,
                                     const Router& router, std::shared_ptr<const TlsContext> tls) {
  if (address.empty()) {
    return std::string();
  }
  return transport.Listen(address, router, std::move(tls));
}

void AddLane(std::string_view lane, const engine::Coalescer::Counters& counters, Samples& samples) {
  const auto add = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    samples.push_back({std::string(name),
                       std::string(help),
                       MetricType::kCounter,
                       static_cast<double>(value),
                       {{"lane", std::string(lane)}}});
  };
  add("halo_flights_total", "Catch-up queries sent.", counters.flights);
  add("halo_flights_failed_total", "Catch-up queries that failed.", counters.failed);
  add("halo_flight_readers_total", "Readers that a catch-up answered.", counters.readers);
  add("halo_flight_rows_total", "Rows that catch-ups fetched.", counters.rows);
}

void AddCommitter(const engine::Committer::Counters& counters, Samples& samples) {
  const auto add = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    samples.push_back({std::string(name),
                       std::string(help),
                       MetricType::kCounter,
                       static_cast<double>(value),
                       {}});
  };
  add("halo_commit_batches_total", "Transactions that committed.", counters.batches);
  add("halo_commit_commands_total", "Mutations judged.", counters.commands);
  add("halo_commit_records_total", "Records committed, audit entries included.", counters.records);
  add("halo_commit_deferred_total", "Mutations moved to a later batch.", counters.deferred);
  add("halo_commit_failed_total", "Transactions that failed.", counters.failed);
  add("halo_commit_unknown_total", "Transactions whose outcome had to be settled.",
      counters.unknown);
  add("halo_idempotency_repeated_total", "Mutations answered with what was kept under their key.",
      counters.repeated);
  add("halo_idempotency_reused_total", "Mutations refused: their key was another request's.",
      counters.key_reused);
}

void AddHeartbeat(const engine::Heartbeat::Counters& counters, std::uint32_t feature_level,
                  Samples& samples) {
  const auto add = [&](std::string_view name, std::string_view help, MetricType type,
                       std::uint64_t value) {
    samples.push_back({std::string(name), std::string(help), type, static_cast<double>(value), {}});
  };
  add("halo_heartbeats_total", "Heartbeats that the store acknowledged.", MetricType::kCounter,
      counters.beats);
  add("halo_heartbeats_failed_total", "Heartbeats that it did not.", MetricType::kCounter,
      counters.failed);
  add("halo_replicas", "Replicas that were alive at the last heartbeat.", MetricType::kGauge,
      counters.replicas);
  add("halo_epoch", "The number of the store's life that acknowledged the last heartbeat.",
      MetricType::kGauge, counters.epoch);
  add("halo_feature_level", "The newest record types that every replica can read.",
      MetricType::kGauge, feature_level);
  add("halo_replica_digest_mismatch",
      "Streams of other replicas that are folded to another state than here.", MetricType::kGauge,
      counters.differing);
  add("halo_replica_digest_mismatch_total", "How often that was found.", MetricType::kCounter,
      counters.mismatches);
  add("halo_history_changes_total", "Streams whose history in the store had become another one.",
      MetricType::kCounter, engine::HistoryChanges());
}

void AddTransport(const TransportStats& stats, Samples& samples) {
  const auto add = [&](std::string_view name, std::string_view help, MetricType type,
                       std::uint64_t value) {
    samples.push_back({std::string(name), std::string(help), type, static_cast<double>(value), {}});
  };
  add("halo_http_connections", "Open connections.", MetricType::kGauge, stats.connections);
  add("halo_http_parked", "Requests that wait for their answer.", MetricType::kGauge, stats.parked);
  add("halo_http_connections_total", "Connections accepted.", MetricType::kCounter, stats.accepted);
  add("halo_http_turned_away_total", "Connections closed because there were too many.",
      MetricType::kCounter, stats.turned_away);
  add("halo_http_requests_total", "Requests answered.", MetricType::kCounter, stats.requests);
  add("halo_http_unsent_bytes", "Bytes of answers that clients have not taken.", MetricType::kGauge,
      stats.unsent);
  add("halo_http_cut_off_total", "Connections closed because their clients were too slow.",
      MetricType::kCounter, stats.cut_off);
  add("halo_http_refused_total", "Requests refused because too many were parked.",
      MetricType::kCounter, stats.refused);
}

void AddFeed(Feed& feed, Samples& samples) {
  const auto add = [&](std::string_view name, std::string_view help, MetricType type,
                       std::uint64_t value) {
    samples.push_back({std::string(name), std::string(help), type, static_cast<double>(value), {}});
  };
  const Feed::Counters& counters = feed.counters();
  add("halo_watches", "Open watches.", MetricType::kGauge, feed.watches());
  add("halo_watch_events_total", "Records sent to watches.", MetricType::kCounter,
      counters.events.load());
  add("halo_watch_cut_off_total", "Watches ended because their clients were too slow.",
      MetricType::kCounter, counters.cut_off.load());
  add("halo_watch_gone_total", "Watches refused or ended because their history is gone.",
      MetricType::kCounter, counters.gone.load());
  add("halo_watch_reads_total", "Reads of the journal for watches that were behind.",
      MetricType::kCounter, counters.reads.load());
}

void AddPositions(const engine::Catalogue& catalogue, const engine::View& view, Samples& samples) {
  for (const engine::StreamView& stream : view.streams) {
    const auto spec = std::ranges::find(catalogue, stream.stream, &engine::StreamSpec::id);
    samples.push_back({"halo_journal_position",
                       "The newest record of the stream that this replica has folded.",
                       MetricType::kGauge,
                       static_cast<double>(engine::Raw(stream.position)),
                       {{"stream", spec == catalogue.end() ? "" : spec->name}}});
  }
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      access_log_(options_.access_log),
      transport_(options_.transport),
      side_transport_(SideTransport(options_.transport)) {}

Server::~Server() {
  transport_.Stop();
  side_transport_.Stop();
  // A task under way may have outlasted the drain; it uses the dispatcher.
  workers_.reset();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(engine::Engine& engine,
                                                      ServerOptions options) {
  std::unique_ptr<Server> server(new Server(std::move(options)));
  RETURN_IF_ERROR(server->Listen());
  RETURN_IF_ERROR(server->Open(engine));
  return server;
}

absl::Status Server::Listen() {
  ASSIGN_OR_RETURN(address_, ListenOn(transport_, options_.listen, router_, options_.tls));
  ASSIGN_OR_RETURN(metrics_address_, ListenOn(side_transport_, options_.metrics_listen,
                                              metrics_router_, options_.metrics_tls));
  ASSIGN_OR_RETURN(health_address_, ListenOn(side_transport_, options_.health_listen,
                                             health_router_, options_.health_tls));
  return absl::OkStatus();
}

absl::Status Server::Open(engine::Engine& engine) {
  StoreOptions store;
  store.heartbeat.feature_level = schemas::OwnFeatureLevel();
  store.max_queue = options_.transport.max_queue;
  store.snapshots.dir = options_.snapshot_dir;
  store.past = projections::ResourceProjections;
  // A reader may have to wait for the flight under way and then for its own, all in its time.
  store.flight_timeout = std::min(store.flight_timeout, options_.transport.request_timeout / 2);
  store.loop = {.run = [this](std::function<void()> task) { transport_.Post(std::move(task)); },
                .when_readable =
                    [this](int descriptor, std::function<void()> task) {
                      return transport_.WhenReadable(descriptor, std::move(task));
                    }};
  ASSIGN_OR_RETURN(store_, Store::Open(engine, projections::MainProjections(),
                                       projections::AuditProjections(), store));
  if (!options_.expect_head.empty()) {
    RETURN_IF_ERROR(engine::FindAuditEntry(engine.journal(), schemas::kAuditStream,
                                           options_.expect_head, engine::Deadline::Infinite()));
  }
  if (options_.identity.tenant.enabled) {
    WarnOfNobodys(*store_->main().Last());
  }
  workers_ = std::make_unique<Workers>(options_.workers, options_.transport.max_queue);
  ASSIGN_OR_RETURN(authenticator_, Authenticator::Make(options_.identity, engine::SystemClock(),
                                                       options_.key_pause));
  admission_ = std::make_unique<Admission>(options_.admin_tokens, *authenticator_);
  const auto post = [this](std::function<void()> task) { transport_.Post(std::move(task)); };
  dispatcher_ = std::make_unique<Dispatcher>(router_, *store_, *workers_, *admission_, post);
  feed_ = std::make_unique<Feed>(*store_, *workers_, options_.registry, options_.feed);
  readiness_ = std::make_unique<Readiness>(*store_, options_.readiness);
  sweeper_ = std::make_unique<Sweeper>(engine.key_value());
  const bool has_none =
      options_.tls == nullptr && options_.metrics_tls == nullptr && options_.health_tls == nullptr;
  if (!GUARD("server.certificates", has_none)) {
    certificates_ = std::make_unique<Ticker>("certificates", options_.tls_check_interval,
                                             [this] { RefreshCertificates(); });
  }
  settling_ = std::make_unique<Settling>(*store_, options_.registry, reconciliations_);
  options_.compaction.lease_ttl = options_.lease_ttl;
  compaction_ = std::make_unique<Compaction>(engine, options_.compaction);
  AddMetricSources();
  AddRoutes();
  readiness_->WaitForFirstProbe();
  readiness_->SetServing();
  side_transport_.Start();
  transport_.Start();
  return absl::OkStatus();
}

void Server::AddRoutes() {
  router_.AddFamily(HyperfleetFamily());
  router_.AddFamily(ControlFamily());
  router_.SetObserver([this](const Request& request, int status, double seconds) {
    metrics_.Observe(request, status, seconds);
    access_log_.Answered(request, status, seconds);
    if (options_.tracer != nullptr) {
      RecordRequest(request, status, seconds, engine::SystemClock().Now(),
                    options_.tls == nullptr ? "http" : "https", *options_.tracer);
    }
  });
  router_.SetArrivalObserver([this](const Request& request) { access_log_.Arrived(request); });
  AddHealthRoutes(router_, *readiness_, options_.backend_facts);
  AddMetricsRoute(router_, metrics_);
  AddApiRoutes(router_, options_.registry);
  AddControlRoutes(*dispatcher_);
  AddResourceRoutes(*dispatcher_, options_.registry, options_.spec_schemas, reconciliations_);
  AddFeedRoutes(*dispatcher_, *feed_);
  AddSideRoutes();
}

// What these listeners do not serve is answered with a problem document, as clients of the
// resource API know it.
void Server::AddSideRoutes() {
  Family everything = HyperfleetFamily();
  everything.prefix.clear();
  for (Router* side : {&metrics_router_, &health_router_}) {
    side->AddFamily(everything);
    side->SetObserver([this](const Request& request, int status, double seconds) {
      access_log_.Answered(request, status, seconds);
    });
    AddHealthRoutes(*side, *readiness_, options_.backend_facts);
  }
  AddMetricsRoute(metrics_router_, metrics_);
}

void Server::AddMetricSources() {
  metrics_.AddSource([this](Samples& samples) {
    const auto first = static_cast<std::ptrdiff_t>(samples.size());
    AddLane("main", store_->main().counters(), samples);
    AddLane("audit", store_->audit().counters(), samples);
    AddCommitter(store_->committer().counters(), samples);
    AddHeartbeat(store_->heartbeat().counters(), store_->feature_level(), samples);
    AddTransport(transport_.stats(), samples);
    AddIssuers(*authenticator_, samples);
    if (options_.identity.tenant.enabled) {
      AddTenancy(*store_->main().Last(), samples);
    }
    AddFeed(*feed_, samples);
    AddPositions(store_->journal().catalogue(), *store_->main().Last(), samples);
    AddPositions(store_->journal().catalogue(), *store_->audit().Last(), samples);
    samples.push_back({"halo_stale_answers_total",
                       "Reads answered from an old view because the store was away.",
                       MetricType::kCounter,
                       static_cast<double>(dispatcher_->stale_answers()),
                       {}});
    samples.push_back({"halo_unproven_reads_total",
                       "Reads refused because nothing proved that the store's answer was newest.",
                       MetricType::kCounter,
                       static_cast<double>(dispatcher_->unproven()),
                       {}});
    samples.push_back({"halo_compacted_rows_total",
                       "Replaced records that this process removed.",
                       MetricType::kCounter,
                       static_cast<double>(compaction_->counters().removed),
                       {}});
    // Samples of one name have to stand together.
    std::ranges::stable_sort(samples.begin() + first, samples.end(), {}, &Sample::name);
  });
  metrics_.AddSource(AddProcess);
  if (options_.tracer != nullptr) {
    metrics_.AddSource([this](Samples& samples) { AddTracing(*options_.tracer, samples); });
  }
  metrics_.AddSource([this](Samples& samples) { AddReconciliations(samples); });
  metrics_.AddElector(compaction_->elector());
  metrics_.AddClockSkew(compaction_->clock_skew());
  if (options_.backend_metrics) {
    metrics_.AddSource(options_.backend_metrics);
  }
}

void Server::AddReconciliations(Samples& samples) const {
  for (Reconciliations::Sample& sample :
       reconciliations_.Samples(*store_->main().Last(), engine::SystemClock().Now(),
                                options_.reconciliation_stuck_threshold)) {
    samples.push_back({sample.name,
                       sample.help,
                       sample.is_counter ? MetricType::kCounter : MetricType::kGauge,
                       sample.value,
                       {{"resource_type", std::move(sample.resource_type)},
                        {"is_delete", sample.is_delete ? "true" : "false"},
                        {"component", "api"},
                        {"version", std::string(kVersion)}}});
  }
}

void Server::RefreshCertificates() {
  for (TlsContext* tls :
       {options_.tls.get(), options_.metrics_tls.get(), options_.health_tls.get()}) {
    if (tls == nullptr) {
      continue;
    }
    const absl::StatusOr<bool> changed = tls->Refresh();
    if (!changed.ok()) {
      engine::Log(
          engine::Severity::kWarning, "the certificate cannot be replaced yet",
          {{"file", tls->files().cert_file}, {"why", std::string(changed.status().message())}});
    } else if (*changed) {
      engine::Log(engine::Severity::kInfo, "the certificate was replaced",
                  {{"file", tls->files().cert_file}});
    }
  }
}

bool Server::Drain(engine::Deadline deadline) {
  readiness_->SetDraining();
  engine::Mutex mutex;
  engine::CondVar never;
  {
    const auto grace = engine::Deadline::After(options_.drain_grace).EarlierOf(deadline);
    engine::MutexLock lock(mutex);
    while (never.WaitUntil(mutex, grace)) {
    }
  }
  const bool whole = transport_.Drain(deadline);
  side_transport_.Drain(engine::Deadline::After(std::chrono::seconds(2)).EarlierOf(deadline));
  return whole;
}

}  // namespace api
