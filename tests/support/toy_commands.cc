#include "tests/support/toy_commands.h"

#include <algorithm>

#include "engine/base/sha256.h"

namespace support {
namespace {

class ToyCommand final : public engine::Command {
 public:
  ToyCommand(ToyBody body, std::size_t index, Outcomes& outcomes, ToyTerms terms)
      : body_(std::move(body)), index_(index), outcomes_(outcomes), terms_(std::move(terms)) {}

  engine::Deadline deadline() const override { return terms_.deadline; }
  const engine::RetryKey* retry_key() const override { return terms_.key ? &*terms_.key : nullptr; }
  const engine::Fence* fence() const override { return terms_.fence ? &*terms_.fence : nullptr; }

  engine::Proposal Decide(const engine::DecideContext& context) override {
    if (const auto image = engine::ImageIn<ToyImage>(context.view); !image.ok()) {
      answer_ = image.status().ToString();
      return {};
    }
    ToyWork work(context);
    answer_ = body_(work);
    engine::Proposal proposal = std::move(work).proposal();
    if (!proposal.records.empty()) {
      proposal.audit = engine::AuditDraft{.actor = "toy", .action = "toy.put"};
    }
    return proposal;
  }

  std::string AnswerToKeep(const engine::CommandOutcome& /*outcome*/) override { return answer_; }

  void Finish(const engine::CommandOutcome& outcome) override {
    const bool repeated = outcome.kind == engine::CommandOutcome::Kind::kRepeated;
    outcomes_.Add(index_, {outcome.kind,
                           outcome.why,
                           repeated ? std::string(outcome.answer) : answer_,
                           outcome.tx,
                           {outcome.records.begin(), outcome.records.end()}});
  }

 private:
  const ToyBody body_;
  const std::size_t index_;
  Outcomes& outcomes_;
  const ToyTerms terms_;
  std::string answer_;
};

}  // namespace

void Outcomes::Add(std::size_t index, Ended ended) {
  engine::MutexLock lock(mutex_);
  outcomes_.emplace_back(index, std::move(ended));
  ended_.SignalAll();
}

std::vector<Ended> Outcomes::WaitFor(std::size_t count) {
  engine::MutexLock lock(mutex_);
  const engine::Deadline deadline = Soon();
  while (outcomes_.size() < count && !deadline.HasPassed()) {
    ended_.WaitUntil(mutex_, deadline);
  }
  std::ranges::stable_sort(outcomes_, {}, [](const auto& entry) { return entry.first; });
  std::vector<Ended> ended;
  for (const auto& [index, outcome] : outcomes_) {
    ended.push_back(outcome);
  }
  ended.resize(std::max(ended.size(), count));
  return ended;
}

ToyWork::ToyWork(const engine::DecideContext& context)
    : context_(context), entries_((*engine::ImageIn<ToyImage>(context.view))->entries()) {}

std::string ToyWork::Get(const std::string& key) {
  context_.footprint.Read(key);
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? "" : entry->second.value;
}

std::size_t ToyWork::Count(const std::string& prefix) {
  context_.footprint.ReadPrefix(prefix);
  return static_cast<std::size_t>(std::ranges::count_if(
      entries_, [&](const auto& entry) { return entry.first.starts_with(prefix); }));
}

void ToyWork::Put(const std::string& key, const std::string& value) {
  context_.footprint.Write(key);
  engine::RecordDraft draft;
  draft.stream = kThings;
  draft.key = key;
  draft.payload = value;
  if (const auto entry = entries_.find(key); entry != entries_.end()) {
    draft.previous = entry->second.position;
  }
  proposal_.records.push_back(std::move(draft));
}

std::unique_ptr<engine::Command> MakeToyCommand(ToyBody body, std::size_t index, Outcomes& outcomes,
                                                ToyTerms terms) {
  return std::make_unique<ToyCommand>(std::move(body), index, outcomes, std::move(terms));
}

engine::RetryKey ToyKey(const std::string& name, const std::string& request) {
  return {engine::Sha256Of(name), engine::Sha256Of(request)};
}

}  // namespace support
