#include "api/dispatch/store.h"

#include <algorithm>
#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/logging.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "engine/history.h"
#include "projections/resources/image.h"
#include "schemas/streams.h"

namespace api {
namespace {

// Between two lines about a replay under way.
constexpr engine::Duration kProgressInterval = std::chrono::seconds(2);
// Of one batch of old answers.
constexpr engine::Duration kPruneTimeout = std::chrono::seconds(5);
// Of getting the key of cursors.
constexpr engine::Duration kKeyTimeout = std::chrono::seconds(30);

engine::CoalescerOptions Flights(const StoreOptions& options, engine::Proof& proof) {
  return {options.flight_timeout, options.max_queue, options.loop, &proof};
}

engine::HeartbeatOptions Named(engine::HeartbeatOptions options) {
  if (options.replica.empty()) {
    options.replica = engine::NewUuidV7(engine::SystemClock().Now(), engine::SystemRandom());
  }
  return options;
}

// What a view has under the key of a record.
engine::Payload StateIn(const engine::View& view, const engine::Record& record) {
  if (record.stream != schemas::kResourcesStream || view.Find(record.stream) == nullptr) {
    return {};
  }
  const auto image = engine::ImageIn<projections::ResourcesImage>(view);
  const projections::ResourceEntry* entry = image.ok() ? (*image)->Find(record.key) : nullptr;
  return entry == nullptr ? engine::Payload() : entry->payload();
}

// From now on `recent` has what the follower folds.
std::unique_ptr<engine::Follower> Feeding(std::unique_ptr<engine::Follower> follower,
                                          Recent& recent) {
  recent.Start(*follower->view(), [&follower = *follower](const engine::Record& tombstone) {
    return StateIn(*follower.view(), tombstone);
  });
  follower->SetObserver([&recent](const engine::Record& record) { recent.Fold(record); },
                        [&recent](const engine::ViewPtr& view) { recent.Publish(*view); });
  return follower;
}

std::string NameOf(const engine::Catalogue& catalogue, engine::StreamId stream) {
  const auto spec = std::ranges::find(catalogue, stream, &engine::StreamSpec::id);
  return spec == catalogue.end() ? absl::StrFormat("%d", engine::Raw(stream)) : spec->name;
}

absl::Status Replay(engine::Follower& follower, engine::Journal& journal, std::string_view what) {
  const engine::Duration start = engine::SystemClock().SinceBoot();
  engine::Duration told = start;
  RETURN_IF_ERROR(follower.Replay(
      journal, std::nullopt, engine::Deadline::Infinite(), [&told, what](std::uint64_t rows) {
        const engine::Duration now = engine::SystemClock().SinceBoot();
        if (now - told < kProgressInterval) {
          return;
        }
        told = now;
        engine::Log(engine::Severity::kInfo, "replaying", {{"lane", what}, {"rows", rows}});
      }));
  const engine::Duration took = engine::SystemClock().SinceBoot() - start;
  engine::Log(engine::Severity::kInfo, "replayed",
              {{"lane", what},
               {"tx", engine::Raw(follower.view()->tx)},
               {"seconds", std::chrono::duration<double>(took).count()}});
  return absl::OkStatus();
}

// In batches, so that no statement takes long; what is left waits for the next time.
void PruneAnswers(engine::Journal& journal) {
  constexpr int kBatch = 1000;
  constexpr int kMostBatches = 100;
  for (int i = 0; i < kMostBatches; ++i) {
    const absl::StatusOr<int> pruned = journal.PruneAnswers(engine::kAnswerLifetime, kBatch,
                                                            engine::Deadline::After(kPruneTimeout));
    if (!pruned.ok()) {
      engine::Log(engine::Severity::kWarning, "old answers were not pruned",
                  {{"error", std::string(pruned.status().message().data(),
                                         pruned.status().message().size())}});
      return;
    }
    if (*pruned < kBatch) {
      return;
    }
  }
}

}  // namespace

Lane::Lane(engine::Journal& journal, std::unique_ptr<engine::Follower> follower,
           engine::CoalescerOptions options)
    : follower_(std::move(follower)),
      fresh_at_(engine::SystemClock().SinceBoot().count()),
      coalescer_(journal, *follower_, std::move(options)),
      rebuilder_(journal, *follower_,
                 {.refolded = [this] { Latest([](const absl::StatusOr<engine::ViewPtr>&) {}); }}) {}

void Lane::Latest(engine::Coalescer::Reader reader) {
  coalescer_.Join([this, reader = std::move(reader)](const absl::StatusOr<engine::ViewPtr>& view) {
    if (view.ok()) {
      fresh_at_.store(engine::SystemClock().SinceBoot().count(), std::memory_order_relaxed);
    }
    reader(view);
  });
}

engine::Duration Lane::Age() const {
  return engine::SystemClock().SinceBoot() -
         engine::Duration(fresh_at_.load(std::memory_order_relaxed));
}

absl::StatusOr<std::unique_ptr<Store>> Store::Open(engine::Engine& engine, Projections main,
                                                   Projections audit, const StoreOptions& options) {
  auto main_follower = std::make_unique<engine::Follower>(std::move(main));
  auto audit_follower = std::make_unique<engine::Follower>(std::move(audit));
  std::unique_ptr<Snapshots> snapshots = Snapshots::Open(options.snapshots);
  if (snapshots != nullptr) {
    RETURN_IF_ERROR(snapshots->Restore("main", *main_follower, engine.journal()));
    RETURN_IF_ERROR(snapshots->Restore("audit", *audit_follower, engine.journal()));
  }
  RETURN_IF_ERROR(Replay(*main_follower, engine.journal(), "main"));
  RETURN_IF_ERROR(Replay(*audit_follower, engine.journal(), "audit"));
  ASSIGN_OR_RETURN(auto cursors,
                   CursorSeal::Open(engine.key_value(), engine::Deadline::After(kKeyTimeout)));
  return std::unique_ptr<Store>(new Store(engine, std::move(main_follower),
                                          std::move(audit_follower), std::move(snapshots),
                                          std::move(cursors), options));
}

Store::Store(engine::Engine& engine, std::unique_ptr<engine::Follower> main,
             std::unique_ptr<engine::Follower> audit, std::unique_ptr<Snapshots> snapshots,
             std::unique_ptr<CursorSeal> cursors, const StoreOptions& options)
    : engine_(engine),
      cursors_(std::move(cursors)),
      past_(options.past ? std::make_unique<Past>(engine.journal(), options.past) : nullptr),
      recent_(options.recent_bytes),
      look_interval_(options.look_interval),
      main_(engine.journal(), Feeding(std::move(main), recent_), Flights(options, proof_)),
      audit_(engine.journal(), std::move(audit), Flights(options, proof_)),
      committer_(engine.journal(), main_.follower(), &audit_.follower(),
                 {.max_queue = options.max_queue,
                  .limits = {},
                  .audit_stream = schemas::kAuditStream,
                  .proof = &proof_}),
      heartbeat_(engine.presence(), proof_, {&main_.follower(), &audit_.follower()},
                 Named(options.heartbeat)),
      background_("background", options.look_interval, [this] { LookAtStore(); }),
      prune_ticker_("answers-prune", options.prune_interval,
                    [&engine] { PruneAnswers(engine.journal()); }),
      snapshots_(std::move(snapshots)) {
  if (snapshots_ != nullptr) {
    snapshots_->Start(engine.journal());
  }
}

void Store::LookAtStore() {
  engine::Follower* const followers[] = {&main_.follower(), &audit_.follower()};
  // A store that cannot be asked fails the flights below as well, and there it is counted.
  engine::CheckHeads(engine_.journal(), followers, engine::Deadline::After(std::chrono::seconds(2)))
      .IgnoreError();
  const auto nobody = [](const absl::StatusOr<engine::ViewPtr>&) {};
  audit_.Latest(nobody);
  if (main_.Age() >= look_interval_) {
    main_.Latest(nobody);
  }
  std::vector<std::function<void()>> tasks;
  {
    engine::MutexLock lock(later_mutex_);
    tasks.swap(later_);
  }
  for (const std::function<void()>& task : tasks) {
    task();
  }
}

void Store::AfterNextLook(std::function<void()> task) {
  engine::MutexLock lock(later_mutex_);
  later_.push_back(std::move(task));
}

absl::Status Store::StreamHealth() const {
  for (const Lane* lane : {&main_, &audit_}) {
    const engine::ViewPtr view = lane->Last();
    for (const engine::StreamView& stream : view->streams) {
      const std::string name = NameOf(engine_.journal().catalogue(), stream.stream);
      if (stream.rebuilding != engine::Rebuilding::kNo) {
        return absl::UnavailableError(absl::StrFormat(
            "stream %s is being rebuilt: the store has another history than before", name));
      }
      if (!stream.health.ok()) {
        return absl::DataLossError(
            absl::StrFormat("stream %s is stopped: its history is damaged at position %d", name,
                            engine::Raw(engine::Next(stream.position))));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace api
