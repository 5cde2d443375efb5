// What a term writes: commands that carry their fence, and the writer that submits them.
//
// Whoever holds a lease (engine/lease.h) acts through a FencedWriter of that term. Each of its
// writes is judged inside the transaction that makes it: the lease's row is locked, then holder,
// token and expiry are compared on the store's clock. So what was written was written while the
// lease was held, whatever its writer believed.
//
// Some streams take nothing else (StreamSpec::fenced).

#pragma once

#include <atomic>
#include <functional>
#include <string>

#include <absl/status/status.h>

#include "engine/base/deadline.h"
#include "engine/command.h"
#include "engine/committer.h"
#include "engine/fence.h"

namespace engine {

// Shows that the caller is being judged in a term whose fence held under the lock. What may only be
// proposed in a term takes one; nobody but a FencedCommand has any.
class InTerm {
 public:
  InTerm(const InTerm&) = delete;
  InTerm& operator=(const InTerm&) = delete;

  const Fence& fence() const { return fence_; }

 private:
  friend class FencedCommand;
  explicit InTerm(const Fence& fence) : fence_(fence) {}

  const Fence& fence_;
};

// A command of a term.
class FencedCommand : public Command {
 public:
  explicit FencedCommand(Fence fence) : fence_(std::move(fence)) {}

  const Fence* fence() const final { return &fence_; }
  Proposal Decide(const DecideContext& context) final {
    return DecideInTerm(context, InTerm(fence_));
  }

 private:
  virtual Proposal DecideInTerm(const DecideContext& context, const InTerm& term) = 0;

  const Fence fence_;
};

// How a write of a term ended.
struct FencedOutcome {
  // Ok: committed, or there was nothing to write. IsFenced: nothing was written, and nothing of
  // this term ever will be. kUnknown: it may have been written. What the body said, if it refused.
  // Else nothing was written.
  absl::Status status;
  Tx tx = Tx::kBeforeFirst;                    // Where it committed.
  Position position = Position::kBeforeFirst;  // Of its first record there.
};

// The writes of one term. Thread-safe; Write blocks until the outcome is known, at most a little
// longer than its deadline. The lease itself is renewed and left elsewhere (engine/elector.h).
class FencedWriter {
 public:
  // `committer` must outlive it.
  FencedWriter(Committer& committer, Fence fence)
      : committer_(committer), fence_(std::move(fence)) {}

  // Says what to write, as Command::Decide does, or why nothing can be.
  using Body = std::function<absl::StatusOr<Proposal>(const DecideContext&, const InTerm&)>;

  // Judges and commits `body`, which runs on the committer's thread, possibly more than once.
  FencedOutcome Write(Body body, Deadline deadline);

  // Once a write was fenced this term is over: the later ones are refused without asking.
  bool ended() const { return ended_.load(std::memory_order_relaxed); }
  const Fence& fence() const { return fence_; }

 private:
  Committer& committer_;
  const Fence fence_;
  std::atomic<bool> ended_{false};
};

}  // namespace engine
