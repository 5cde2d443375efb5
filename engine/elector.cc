#include "engine/elector.h"

#include <algorithm>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/logging.h"

namespace engine {
namespace {

// What is left of a time to live for stepping down: more than clocks drift apart in it, and than
// an effect takes that was begun while the term was valid.
Duration Safe(Duration ttl) {
  return ttl - ttl / 3;
}

std::string Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

std::string NewHolder(const Clock& clock, Random& random) {
  return NewUuidV7(clock.Now(), random);
}

}  // namespace

Term::Term(Fence fence, Duration until, const Clock& clock)
    : fence_(std::move(fence)), clock_(clock), until_(until) {}

Term::Signal::~Signal() {
  if (term_ == nullptr) {
    return;
  }
  MutexLock lock(term_->mutex_);
  term_->signals_.erase(id_);
  while (term_->calling_.contains(id_)) {
    term_->changed_.Wait(term_->mutex_);
  }
}

bool Term::valid() const {
  MutexLock lock(mutex_);
  return !ended_ && GUARD("elector.own-clock", clock_.SinceBoot() < until_);
}

Duration Term::until() const {
  MutexLock lock(mutex_);
  return until_;
}

bool Term::WaitUntilEnded(Deadline deadline) {
  MutexLock lock(mutex_);
  while (!ended_ && !deadline.HasPassed()) {
    changed_.WaitUntil(mutex_, deadline);
  }
  return ended_;
}

Term::Signal Term::OnEnd(std::function<void()> stop) {
  std::uint64_t id = 0;
  {
    MutexLock lock(mutex_);
    id = next_signal_++;
    if (!ended_) {
      signals_.emplace(id, std::move(stop));
      return Signal(*this, id);
    }
  }
  stop();
  return Signal(*this, id);
}

void Term::Extend(Duration until) {
  MutexLock lock(mutex_);
  // An answer that comes when the term is over changes nothing: who was told that it is over has
  // stopped.
  if (GUARD("elector.no-revival", clock_.SinceBoot() < until_)) {
    until_ = std::max(until_, until);
  }
  changed_.SignalAll();
}

void Term::End() {
  MutexLock lock(mutex_);
  ended_ = true;
  changed_.SignalAll();
  while (!signals_.empty()) {
    const auto first = signals_.begin();
    const std::uint64_t id = first->first;
    const std::function<void()> stop = std::move(first->second);
    signals_.erase(first);
    calling_.insert(id);
    mutex_.Unlock();
    stop();
    mutex_.Lock();
    calling_.erase(id);
    changed_.SignalAll();
  }
}

void Term::RunTimer() {
  {
    MutexLock lock(mutex_);
    while (!ended_ && clock_.SinceBoot() < until_) {
      changed_.WaitUntil(mutex_, Deadline::After(until_ - clock_.SinceBoot(), clock_));
    }
    if (ended_) {
      return;
    }
  }
  Log(Severity::kWarning, "stepped down: the lease was not renewed in time",
      {{"lease", fence_.lease}, {"token", fence_.token}});
  End();
}

Elector::Elector(Leases& leases, Options options, Lead lead)
    : leases_(leases), options_(std::move(options)), lead_(std::move(lead)) {
  thread_ = Thread("elector", [this] { Run(); });
}

Elector::~Elector() {
  Stop();
}

void Elector::Stop() {
  std::shared_ptr<Term> term;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    term = term_;
    wake_.SignalAll();
  }
  if (term != nullptr) {
    term->End();
  }
  thread_.Join();
}

Elector::State Elector::state() const {
  MutexLock lock(mutex_);
  return {term_ != nullptr && term_->valid(), changes_};
}

bool Elector::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

bool Elector::PauseFor(Duration pause) {
  const Deadline until = Deadline::After(pause, *options_.clock);
  MutexLock lock(mutex_);
  while (!stopping_ && !until.HasPassed()) {
    wake_.WaitUntil(mutex_, until);
  }
  return !stopping_;
}

void Elector::Observe(const LeaseAnswer& answer, Timestamp sent) {
  if (options_.skew != nullptr) {
    options_.skew->Observe(sent, options_.clock->Now(), answer.now);
  }
  MutexLock lock(mutex_);
  if (answer.token != 0 && answer.token != last_token_) {
    last_token_ = answer.token;
    ++changes_;
  }
}

void Elector::Run() {
  while (const std::shared_ptr<Term> term = Campaign()) {
    Serve(term);
    // Others first, should `lead` have returned at once.
    if (!PauseFor(options_.ttl / 3)) {
      return;
    }
  }
}

std::shared_ptr<Term> Elector::Campaign() {
  const std::string holder = NewHolder(*options_.clock, *options_.random);
  while (!stopping()) {
    Duration pause{};
    if (std::shared_ptr<Term> term = TryOnce(holder, pause)) {
      return term;
    }
    if (!PauseFor(pause)) {
      break;
    }
  }
  return nullptr;
}

// Without a term, `pause` says how long to wait: until the present one ends, if that is soon.
std::shared_ptr<Term> Elector::TryOnce(const std::string& holder, Duration& pause) {
  const Duration interval = options_.ttl / 3;
  const Timestamp sent_at = options_.clock->Now();
  const Duration sent = options_.clock->SinceBoot();
  const absl::StatusOr<LeaseAnswer> answer =
      leases_.Acquire(options_.lease, holder, options_.ttl, Deadline::After(interval));
  const auto jitter = static_cast<Duration::rep>(
      options_.random->Below(static_cast<std::uint64_t>(interval.count()) / 2 + 1));
  pause = interval / 2 + Duration(jitter);
  if (!answer.ok()) {
    Log(Severity::kWarning, "could not campaign",
        {{"lease", options_.lease}, {"why", Text(answer.status())}});
    return nullptr;
  }
  Observe(*answer, sent_at);
  if (!answer->held) {
    const Duration left = std::chrono::microseconds(answer->expires_at.micros - answer->now.micros);
    pause = std::clamp(left + interval / 30, interval / 10, pause);
    return nullptr;
  }
  const Duration from =
      GUARD("elector.from-before-the-send", false) ? options_.clock->SinceBoot() : sent;
  return std::make_shared<Term>(Fence{options_.lease, holder, answer->token},
                                from + Safe(options_.ttl), *options_.clock);
}

void Elector::Serve(const std::shared_ptr<Term>& term) {
  bool wanted = false;
  {
    MutexLock lock(mutex_);
    term_ = term;
    wanted = !stopping_;
  }
  Log(Severity::kInfo, "leading", {{"lease", options_.lease}, {"token", term->fence().token}});
  Thread timer("lease-timer", [&] { term->RunTimer(); });
  Thread keeper("lease-keeper", [&] { Keep(*term); });
  if (wanted) {  // Else Stop came while the lease was being asked for.
    lead_(*term);
  }
  term->End();
  keeper.Join();
  timer.Join();
  {
    MutexLock lock(mutex_);
    term_ = nullptr;
  }
  const absl::Status released = leases_.Release(term->fence(), Deadline::After(options_.ttl / 3));
  if (!released.ok()) {
    // It expires; until then nobody leads.
    Log(Severity::kWarning, "could not give the lease up",
        {{"lease", options_.lease}, {"why", Text(released)}});
  }
}

// Renews until the term has ended; ends it when the lease is lost.
void Elector::Keep(Term& term) {
  // Counted from the request that won the term, however late this thread came to run.
  Duration next = term.until() - Safe(options_.ttl) + options_.ttl / 3;
  while (
      !term.WaitUntilEnded(Deadline::After(next - options_.clock->SinceBoot(), *options_.clock))) {
    if (!RenewOnce(term, next)) {
      term.End();
    }
  }
}

// False: the term is over. `next` is when to renew again.
bool Elector::RenewOnce(Term& term, Duration& next) {
  const Duration interval = options_.ttl / 3;
  const Timestamp sent_at = options_.clock->Now();
  const Duration sent = options_.clock->SinceBoot();
  const absl::StatusOr<LeaseAnswer> answer =
      leases_.Renew(term.fence(), options_.ttl, Deadline::After(interval));
  if (!answer.ok()) {
    Log(Severity::kWarning, "could not renew the lease",
        {{"lease", options_.lease}, {"why", Text(answer.status())}});
    next = options_.clock->SinceBoot() + interval / 5;
    return true;
  }
  Observe(*answer, sent_at);
  if (!GUARD("elector.lost", answer->held)) {
    Log(Severity::kWarning, "the lease was lost", {{"lease", options_.lease}});
    return false;
  }
  term.Extend(sent + Safe(options_.ttl));
  next = sent + interval;
  return true;
}

}  // namespace engine
