#include "engine/fenced.h"

#include <memory>
#include <optional>
#include <utility>

#include "engine/base/mutex.h"

namespace engine {
namespace {

// Where a writer waits for its command; shared, because the command may outlive the waiting.
class Slot {
 public:
  void Set(FencedOutcome outcome) {
    {
      MutexLock lock(mutex_);
      outcome_ = std::move(outcome);
    }
    set_.SignalAll();
  }
  FencedOutcome Wait() {
    MutexLock lock(mutex_);
    while (!outcome_.has_value()) {
      set_.Wait(mutex_);
    }
    return *outcome_;
  }

 private:
  Mutex mutex_;
  CondVar set_;
  std::optional<FencedOutcome> outcome_ ABSL_GUARDED_BY(mutex_);
};

class BodyCommand final : public FencedCommand {
 public:
  BodyCommand(Fence fence, FencedWriter::Body body, Deadline deadline, std::shared_ptr<Slot> slot)
      : FencedCommand(std::move(fence)),
        body_(std::move(body)),
        deadline_(deadline),
        slot_(std::move(slot)) {}

  Deadline deadline() const override { return deadline_; }

  void Finish(const CommandOutcome& outcome) override {
    FencedOutcome ended{.status = outcome.why};
    if (outcome.kind == CommandOutcome::Kind::kNothing) {
      ended.status = refusal_;
    } else if (outcome.kind == CommandOutcome::Kind::kCommitted) {
      ended.tx = outcome.tx;
      ended.position = outcome.records.front().position;
    }
    slot_->Set(std::move(ended));
  }

 private:
  Proposal DecideInTerm(const DecideContext& context, const InTerm& term) override {
    absl::StatusOr<Proposal> proposal = body_(context, term);
    refusal_ = proposal.status();
    return proposal.ok() ? *std::move(proposal) : Proposal{};
  }

  const FencedWriter::Body body_;
  const Deadline deadline_;
  const std::shared_ptr<Slot> slot_;
  absl::Status refusal_;
};

}  // namespace

FencedOutcome FencedWriter::Write(Body body, Deadline deadline) {
  if (ended()) {
    return {.status = FencedError(fence_, "an earlier write of the term was fenced")};
  }
  auto slot = std::make_shared<Slot>();
  committer_.Submit(std::make_unique<BodyCommand>(fence_, std::move(body), deadline, slot));
  FencedOutcome outcome = slot->Wait();
  if (IsFenced(outcome.status)) {
    ended_.store(true, std::memory_order_relaxed);
  }
  return outcome;
}

}  // namespace engine
