// Elector campaigns for a lease and runs a function for as long as it holds it: one term after
// another, never two at once in the world.
//
//   Elector elector(engine.leases(), {.lease = "compactor"}, [&](Term& term) {
//     while (term.valid() && CompactOneStep(term.fence())) {
//     }
//   });
//
// A term ends by the elector's own boot-time clock, without asking anyone: at the latest two
// thirds of the time to live after the last renewal that succeeded was sent, so a third before the
// store lets anybody else in. Whoever works under a term checks `valid` before each effect, writes
// under its fence, and lets its cancel signal stop what takes long.
//
// The rules behind this: docs/coordination.md.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/base/thread.h"
#include "engine/clock_skew.h"
#include "engine/lease.h"

namespace engine {

// Thread-safe.
class Term {
 public:
  // Removes its signal on destruction, and waits for it if it is being called just then: not to
  // be destroyed by the signal itself.
  class Signal {
   public:
    Signal(Term& term, std::uint64_t id) : term_(&term), id_(id) {}
    Signal(Signal&& other) noexcept : term_(std::exchange(other.term_, nullptr)), id_(other.id_) {}
    Signal& operator=(Signal&&) = delete;
    ~Signal();

   private:
    Term* term_;
    const std::uint64_t id_;
  };

  // Only electors make terms. `until`: on the boot clock.
  Term(Fence fence, Duration until, const Clock& clock);
  Term(const Term&) = delete;
  Term& operator=(const Term&) = delete;

  // What writes of this term carry.
  const Fence& fence() const { return fence_; }

  // Whether the term lasts. Once false, false for ever. Never blocks; right also at the moment
  // when a suspended machine wakes up.
  bool valid() const;

  // Blocks until the term has ended (true) or `deadline` has passed.
  bool WaitUntilEnded(Deadline deadline);

  // The cancel signal: calls `stop` once when the term ends; at once when it has ended. From
  // another thread, which it must not block. Keep the result for as long as `stop` may be called.
  [[nodiscard]] Signal OnEnd(std::function<void()> stop);

 private:
  friend class Elector;

  // A renewal succeeded; the term now lasts until then, unless it is over already.
  void Extend(Duration until);
  void End();
  // Ends the term when its time has come; returns when it has ended.
  void RunTimer();
  Duration until() const;

  const Fence fence_;
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  Duration until_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t next_signal_ ABSL_GUARDED_BY(mutex_) = 1;
  std::set<std::uint64_t> calling_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::function<void()>> signals_ ABSL_GUARDED_BY(mutex_);
};

// Thread-safe. One thread of its own, two more during a term.
class Elector {
 public:
  struct Options {
    std::string lease;
    // The same for all who campaign for the lease. Renewed after a third of it.
    Duration ttl = std::chrono::seconds(15);
    // Must outlive the elector.
    const Clock* clock = &SystemClock();
    Random* random = &SystemRandom();
    // Optional: is told what the store's clock says.
    ClockSkew* skew = nullptr;
  };

  // Runs for each term, on the elector's thread. Returns soon after the term has ended; when it
  // returns earlier the lease is given up and campaigned for again after a while.
  using Lead = std::function<void(Term& term)>;

  // Starts to campaign. `leases` and what `lead` uses must outlive the elector.
  Elector(Leases& leases, Options options, Lead lead);
  // As Stop.
  ~Elector();

  // Ends the term, waits until `lead` has returned, and only then gives the lease up, so that a
  // peer wins at its next attempt and never overlaps with our last step. Blocks for as long as
  // `lead` does.
  void Stop();

  struct State {
    bool leading = false;
    // How many terms of the lease were seen to begin here, whoever's they were.
    std::uint64_t changes = 0;
  };
  State state() const;
  // Whether Stop was called.
  bool stopping() const;
  const std::string& lease() const { return options_.lease; }

 private:
  // A term that was won; empty when the elector is to stop.
  std::shared_ptr<Term> Campaign();
  std::shared_ptr<Term> TryOnce(const std::string& holder, Duration& pause);
  void Serve(const std::shared_ptr<Term>& term);
  void Keep(Term& term);
  bool RenewOnce(Term& term, Duration& next);
  void Run();
  bool PauseFor(Duration pause);
  void Observe(const LeaseAnswer& answer, Timestamp sent);

  Leases& leases_;
  const Options options_;
  const Lead lead_;
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<Term> term_ ABSL_GUARDED_BY(mutex_);  // The present one, or null.
  std::uint64_t last_token_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  Thread thread_;
};

}  // namespace engine
