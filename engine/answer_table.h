// AnswerTable: the answers kept for retries, in memory, as backends of one process hold them.
//
// Thread-compatible; never blocks.

#pragma once

#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/journal.h"

namespace engine {

class AnswerTable {
 public:
  // Those of `keys` that are here.
  std::vector<KeptAnswer> Find(std::span<const std::string> keys) const;
  bool HasAny(std::span<const KeptAnswer> answers) const;
  // REQUIRES: `at` is not before that of any answer added earlier. An older answer under the same
  // key is replaced: it was pruned when this one was made.
  void Add(KeptAnswer answer);
  // Forgets up to `limit` answers from before `before`, the oldest first; how many.
  std::size_t Prune(Timestamp before, std::size_t limit);

 private:
  struct Added {
    Timestamp at;
    std::string key;
  };

  std::unordered_map<std::string, KeptAnswer> by_key_;
  std::deque<Added> by_age_;  // Oldest first.
};

// The last moment whose answers may be forgotten at `now`.
constexpr Timestamp AnswersBefore(Timestamp now, Duration age) {
  return {now.micros - std::chrono::duration_cast<std::chrono::microseconds>(age).count()};
}

}  // namespace engine
