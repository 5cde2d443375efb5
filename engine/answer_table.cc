#include "engine/answer_table.h"

#include <algorithm>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/logging.h"

namespace engine {

std::vector<KeptAnswer> AnswerTable::Find(std::span<const std::string> keys) const {
  std::vector<KeptAnswer> found;
  for (const std::string& key : keys) {
    if (const auto answer = by_key_.find(key); answer != by_key_.end()) {
      found.push_back(answer->second);
    }
  }
  return found;
}

bool AnswerTable::HasAny(std::span<const KeptAnswer> answers) const {
  return std::ranges::any_of(
      answers, [this](const KeptAnswer& answer) { return by_key_.contains(answer.key); });
}

std::size_t AnswerTable::BytesOf(const KeptAnswer& answer) {
  return 3 * answer.key.size() + answer.request.size() + answer.answer.size() + kOverhead;
}

void AnswerTable::Add(KeptAnswer answer) {
  by_age_.push_back({answer.at, answer.key});
  bytes_ += BytesOf(answer);
  std::string key = answer.key;
  if (const auto older = by_key_.find(key); older != by_key_.end()) {
    bytes_ -= BytesOf(older->second);
  }
  by_key_.insert_or_assign(std::move(key), std::move(answer));
  while (!GUARD("answers.bytes", bytes_ <= max_bytes_) && by_age_.size() > 1) {
    dropped_ += RemoveOldest();
    TellOnce();
  }
}

void AnswerTable::TellOnce() {
  if (!std::exchange(told_, true)) {
    Log(Severity::kWarning, "the answers kept for retries have reached their limit of bytes",
        {{"limit", max_bytes_}, {"kept", by_key_.size()}});
  }
}

std::size_t AnswerTable::RemoveOldest() {
  const auto answer = by_key_.find(by_age_.front().key);
  // Else a younger one took its place.
  const bool is_it = answer != by_key_.end() && answer->second.at == by_age_.front().at;
  if (is_it) {
    bytes_ -= BytesOf(answer->second);
    by_key_.erase(answer);
  }
  by_age_.pop_front();
  return is_it ? 1 : 0;
}

std::size_t AnswerTable::Prune(Timestamp before, std::size_t limit) {
  std::size_t pruned = 0;
  while (pruned < limit && !by_age_.empty() && by_age_.front().at < before) {
    pruned += RemoveOldest();
  }
  return pruned;
}

}  // namespace engine
