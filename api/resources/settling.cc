#include "api/resources/settling.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "api/dispatch/caller.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "projections/resources/settle.h"

namespace api {
namespace {

using projections::ResourcesImage;
using projections::StatusesImage;

// On their way at once: a few transactions' worth, so that others need not wait behind them.
constexpr std::size_t kAtOnce = 64;
constexpr engine::Duration kTimeout = std::chrono::seconds(30);

std::string RowOf(const projections::EntityDescriptor& descriptor) {
  return "conditions/" + descriptor.kind;
}

std::string_view Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// Commands that somebody waits for.
class Group {
 public:
  // `committed` counts those that committed.
  explicit Group(std::atomic<std::uint64_t>& committed) : committed_(committed) {}

  void Add() {
    engine::MutexLock lock(mutex_);
    ++pending_;
  }
  void Finish(const engine::CommandOutcome& outcome) {
    using Kind = engine::CommandOutcome::Kind;
    engine::MutexLock lock(mutex_);
    if (outcome.kind != Kind::kCommitted && outcome.kind != Kind::kNothing) {
      failure_.Update(outcome.why.ok() ? absl::UnknownError("outcome unknown") : outcome.why);
    }
    committed_ += outcome.kind == Kind::kCommitted ? 1 : 0;
    if (--pending_ == 0) {
      all_.SignalAll();
    }
  }
  // Once all have ended: why one of them failed, if one did.
  absl::Status Wait() {
    engine::MutexLock lock(mutex_);
    while (pending_ > 0) {
      all_.Wait(mutex_);
    }
    return failure_;
  }

 private:
  std::atomic<std::uint64_t>& committed_;
  engine::Mutex mutex_;
  engine::CondVar all_;
  std::size_t pending_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

class SettleCommand final : public engine::Command {
 public:
  SettleCommand(std::string id, const projections::Registry& registry,
                Reconciliations& reconciliations, std::shared_ptr<Group> group)
      : id_(std::move(id)),
        registry_(registry),
        reconciliations_(reconciliations),
        group_(std::move(group)) {
    group_->Add();
  }

  engine::Deadline deadline() const override { return deadline_; }

  engine::Proposal Decide(const engine::DecideContext& context) override {
    const auto image = engine::ImageIn<ResourcesImage>(context.view);
    const auto statuses = engine::ImageIn<StatusesImage>(context.view);
    judgement_ = {};
    if (!image.ok() || !statuses.ok()) {
      return {};  // A damaged stream: /readyz says so.
    }
    judgement_ = projections::JudgeSettle(
        id_, kSystemActor, {registry_, **image, **statuses, context.now, context.footprint});
    return std::move(judgement_.proposal);
  }

  void Finish(const engine::CommandOutcome& outcome) override {
    if (outcome.kind == engine::CommandOutcome::Kind::kCommitted) {
      reconciliations_.CountStarts(judgement_.reconciliations);
    }
    if (judgement_.refusal) {
      engine::Log(engine::Severity::kWarning, "conditions stay as they were",
                  {{"resource_id", id_}, {"why", judgement_.refusal->detail}});
    }
    group_->Finish(outcome);
  }

 private:
  const std::string id_;
  const projections::Registry& registry_;
  Reconciliations& reconciliations_;
  const std::shared_ptr<Group> group_;
  const engine::Deadline deadline_ = engine::Deadline::After(kTimeout);
  projections::Judgement judgement_;
};

}  // namespace

Settling::Settling(Store& store, const projections::Registry& registry,
                   Reconciliations& reconciliations, engine::Duration retry_interval)
    : store_(store),
      registry_(registry),
      reconciliations_(reconciliations),
      ticker_("settling", retry_interval, [this] { Tick(); }) {}

Settling::~Settling() {
  stopping_ = true;
}

void Settling::Tick() {
  if (done_) {
    return;
  }
  for (const projections::EntityDescriptor& descriptor : registry_.entities()) {
    if (stopping_ || kinds_.contains(descriptor.kind)) {
      continue;
    }
    if (const absl::Status settled = Settle(descriptor); !settled.ok()) {
      engine::Log(engine::Severity::kWarning, "conditions are not settled yet",
                  {{"kind", descriptor.kind}, {"why", Text(settled)}});
      return;
    }
    kinds_.insert(descriptor.kind);
  }
  done_ = kinds_.size() == registry_.entities().size();
}

absl::Status Settling::Settle(const projections::EntityDescriptor& descriptor) {
  const std::string fingerprint =
      absl::StrFormat("%016x", projections::ConditionsFingerprint(descriptor));
  const auto deadline = [] { return engine::Deadline::After(kTimeout); };
  ASSIGN_OR_RETURN(const auto known,
                   store_.engine().key_value().Get(RowOf(descriptor), deadline()));
  if (known && known->value == fingerprint) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(SettleAll(descriptor, store_.main().Last()));
  return store_.engine().key_value().Put(RowOf(descriptor), fingerprint, std::nullopt, deadline());
}

// The view is of the start or later: what is created or reported from then on is right already.
absl::Status Settling::SettleAll(const projections::EntityDescriptor& descriptor,
                                 const engine::ViewPtr& view) {
  ASSIGN_OR_RETURN(const auto image, engine::ImageIn<ResourcesImage>(*view));
  ASSIGN_OR_RETURN(const auto statuses, engine::ImageIn<StatusesImage>(*view));
  const auto group = std::make_shared<Group>(settled_);
  const std::uint64_t before = settled_;
  std::size_t sent = 0;
  for (const projections::ResourceEntry* entry : *image) {
    if (stopping_) {
      break;  // What is on its way counts here when it ends, so it is waited for.
    }
    if (entry->kind() != descriptor.kind) {
      continue;
    }
    engine::Footprint unused;
    const projections::Judgement judged = projections::JudgeSettle(
        entry->id(), kSystemActor, {registry_, *image, *statuses, {}, unused});
    if (judged.proposal.records.empty() && !judged.refusal) {
      continue;
    }
    store_.committer().Submit(std::make_unique<SettleCommand>(std::string(entry->id()), registry_,
                                                              reconciliations_, group));
    if (++sent % kAtOnce == 0) {
      RETURN_IF_ERROR(group->Wait());
    }
  }
  RETURN_IF_ERROR(group->Wait());
  if (stopping_) {
    return absl::CancelledError("the server ends");
  }
  if (const std::uint64_t written = settled_ - before; written > 0) {
    engine::Log(engine::Severity::kInfo, "conditions were settled",
                {{"kind", descriptor.kind}, {"resources", written}});
  }
  return absl::OkStatus();
}

}  // namespace api
