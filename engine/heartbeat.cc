#include "engine/heartbeat.h"

#include <algorithm>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"

namespace engine {
namespace {

// Replicas are seldom at one position at the same moment; this many of our own are kept to compare
// with.
constexpr std::size_t kRemembered = 64;

}  // namespace

Heartbeat::Heartbeat(Presence& presence, Proof& proof, std::vector<const Follower*> followers,
                     HeartbeatOptions options)
    : presence_(presence),
      proof_(proof),
      followers_(std::move(followers)),
      options_(std::move(options)) {
  proof_.SetOnWanted([this] {
    {
      MutexLock lock(mutex_);
      wanted_ = true;
    }
    changed_.SignalAll();
  });
  thread_ = Thread("heartbeat", [this] { BeatUntilStopped(); });
}

Heartbeat::~Heartbeat() {
  proof_.SetOnWanted({});
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.SignalAll();
  thread_.Join();
}

void Heartbeat::WaitForFirst(Deadline deadline) {
  MutexLock lock(mutex_);
  while (counters_.beats + counters_.failed == 0 && changed_.WaitUntil(mutex_, deadline)) {
  }
}

absl::Status Heartbeat::CanWrite(Duration max_age) const {
  MutexLock lock(mutex_);
  const bool fresh =
      acknowledged_.has_value() && SystemClock().SinceBoot() - *acknowledged_ <= max_age;
  if (fresh) {
    return absl::OkStatus();
  }
  const std::string reason(Sentence(ReasonOf(failure_)));
  return WithReasonOf(failure_, absl::UnavailableError("the store acknowledges no writes" +
                                                       (reason.empty() ? reason : ": " + reason)));
}

std::uint32_t Heartbeat::feature_level() const {
  MutexLock lock(mutex_);
  return feature_level_;
}

Heartbeat::Counters Heartbeat::counters() const {
  MutexLock lock(mutex_);
  return counters_;
}

void Heartbeat::BeatUntilStopped() {
  while (true) {
    BeatOnce();
    const Deadline next = Deadline::After(options_.interval);
    MutexLock lock(mutex_);
    while (!stopping_ && !wanted_ && changed_.WaitUntil(mutex_, next)) {
    }
    if (stopping_) {
      return;
    }
    wanted_ = false;
  }
}

void Heartbeat::BeatOnce() {
  Replica self{options_.replica, {}, options_.feature_level, Folded()};
  const Duration sent = SystemClock().SinceBoot();
  const absl::StatusOr<Pulse> pulse = presence_.Beat(self, Deadline::After(options_.timeout));
  if (pulse.ok()) {
    Remember(self.streams, pulse->life);
    Compare(*pulse);
    std::uint32_t level = options_.feature_level;
    for (const Replica& replica : pulse->replicas) {
      level =
          GUARD("heartbeat.feature-level", false) ? level : std::min(level, replica.feature_level);
    }
    MutexLock lock(mutex_);
    acknowledged_ = sent;
    failure_ = absl::OkStatus();
    feature_level_ = level;
    ++counters_.beats;
    counters_.replicas = pulse->replicas.size();
    counters_.epoch = pulse->life.epoch;
  } else {
    MutexLock lock(mutex_);
    failure_ = pulse.status();
    ++counters_.failed;
  }
  if (last_failed_ != !pulse.ok()) {
    last_failed_ = !pulse.ok();
    Log(last_failed_ ? Severity::kWarning : Severity::kInfo,
        last_failed_ ? "heartbeat not acknowledged" : "heartbeat acknowledged again",
        {{"replica", options_.replica}, {"status", pulse.status().ToString()}});
  }
  changed_.SignalAll();
  if (pulse.ok()) {
    proof_.Acknowledged(pulse->life.origin, sent);
  } else {
    proof_.Failed(pulse.status());
  }
}

std::vector<FoldedStream> Heartbeat::Folded() const {
  std::vector<FoldedStream> folded;
  for (const Follower* follower : followers_) {
    const ViewPtr view = follower->view();
    for (const StreamView& stream : view->streams) {
      if (stream.health.ok()) {
        folded.push_back(
            {stream.stream, stream.position, stream.fold_version, stream.image->StateDigest()});
      }
    }
  }
  return folded;
}

// A position names a state only within one history: what starts over is forgotten.
void Heartbeat::Remember(const std::vector<FoldedStream>& folded, const Life& life) {
  if (remembered_of_ != life.origin) {
    remembered_.clear();
    remembered_of_ = life.origin;
  }
  std::map<StreamId, std::deque<FoldedStream>> remembered;
  for (const FoldedStream& stream : folded) {
    std::deque<FoldedStream>& known = remembered[stream.stream];
    known = std::move(remembered_[stream.stream]);
    if (!known.empty() && stream.position < known.back().position) {
      known.clear();
    }
    if (known.empty() || !(known.back() == stream)) {
      known.push_back(stream);
    }
    if (known.size() > kRemembered) {
      known.pop_front();
    }
  }
  remembered_ = std::move(remembered);
}

std::optional<std::uint64_t> Heartbeat::OursAt(const FoldedStream& theirs) const {
  const auto stream = remembered_.find(theirs.stream);
  if (stream == remembered_.end()) {
    return std::nullopt;
  }
  const auto same = std::ranges::find_if(stream->second, [&](const FoldedStream& ours) {
    return ours.position == theirs.position && ours.fold_version == theirs.fold_version;
  });
  return same == stream->second.end() ? std::nullopt : std::optional(same->state_digest);
}

void Heartbeat::Compare(const Pulse& pulse) {
  for (const Replica& replica : pulse.replicas) {
    if (replica.name != options_.replica) {
      CompareWith(replica);
    }
  }
  std::erase_if(suspicions_, [&](const auto& suspicion) {
    return std::ranges::find(pulse.replicas, suspicion.first.first, &Replica::name) ==
           pulse.replicas.end();
  });
  Object();
}

// The first difference may be a replica that did not notice yet that the history changed.
void Heartbeat::CompareWith(const Replica& replica) {
  for (const FoldedStream& theirs : replica.streams) {
    const std::optional<std::uint64_t> ours = OursAt(theirs);
    if (!ours.has_value()) {
      continue;
    }
    const Key key{replica.name, theirs.stream};
    if (GUARD("heartbeat.digests", *ours == theirs.state_digest)) {
      suspicions_.erase(key);
      continue;
    }
    Suspicion& suspicion = suspicions_.try_emplace(key, Suspicion{replica.at}).first->second;
    if (suspicion.confirmed || suspicion.since == replica.at) {
      continue;
    }
    suspicion.confirmed = true;
    Log(Severity::kError, "replica digest mismatch",
        {{"replica", replica.name},
         {"stream", Raw(theirs.stream)},
         {"position", Raw(theirs.position)},
         {"digest", ToHex(*ours)},
         {"their_digest", ToHex(theirs.state_digest)}});
    MutexLock lock(mutex_);
    ++counters_.mismatches;
  }
}

void Heartbeat::Object() {
  std::uint64_t differing = 0;
  absl::Status objection;
  for (const auto& [key, suspicion] : suspicions_) {
    if (suspicion.confirmed) {
      ++differing;
      objection = absl::UnavailableError(
          absl::StrFormat("replica %s has another state of stream %d", key.first, Raw(key.second)));
    }
  }
  {
    MutexLock lock(mutex_);
    counters_.differing = differing;
  }
  proof_.SetObjection(objection);
}

}  // namespace engine
