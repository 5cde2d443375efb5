#include "engine/answer_table.h"

#include <algorithm>
#include <utility>

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

void AnswerTable::Add(KeptAnswer answer) {
  by_age_.push_back({answer.at, answer.key});
  std::string key = answer.key;
  by_key_.insert_or_assign(std::move(key), std::move(answer));
}

std::size_t AnswerTable::Prune(Timestamp before, std::size_t limit) {
  std::size_t pruned = 0;
  while (pruned < limit && !by_age_.empty() && by_age_.front().at < before) {
    const auto answer = by_key_.find(by_age_.front().key);
    if (answer != by_key_.end() && answer->second.at == by_age_.front().at) {
      by_key_.erase(answer);
      ++pruned;
    }
    by_age_.pop_front();
  }
  return pruned;
}

}  // namespace engine
