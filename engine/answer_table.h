// AnswerTable: the answers kept for retries, in memory, as backends of one process hold them.
//
// They take a stated amount of memory at most: over it the oldest are forgotten before their time,
// which is logged once. A retry that comes after that is a new request.
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

// Some 200,000 answers of the usual size.
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

class AnswerTable {
 public:
  AnswerTable() = default;
  explicit AnswerTable(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Those of `keys` that are here.
  std::vector<KeptAnswer> Find(std::span<const std::string> keys) const;
  bool HasAny(std::span<const KeptAnswer> answers) const;
  // REQUIRES: `at` is not before that of any answer added earlier. An older answer under the same
  // key is replaced: it was pruned when this one was made.
  void Add(KeptAnswer answer);
  // Forgets up to `limit` answers from before `before`, the oldest first; how many.
  std::size_t Prune(Timestamp before, std::size_t limit);

  // What the answers take now, about.
  std::size_t bytes() const { return bytes_; }
  // How many were forgotten for want of room.
  std::size_t dropped() const { return dropped_; }

 private:
  // Of the tables' own, for each answer.
  static constexpr std::size_t kOverhead = 256;

  struct Added {
    Timestamp at;
    std::string key;
  };

  static std::size_t BytesOf(const KeptAnswer& answer);
  // How many answers went: none when a younger one of the same key is there.
  std::size_t RemoveOldest();
  void TellOnce();

  std::size_t max_bytes_ = kMaxAnswerBytes;
  std::size_t bytes_ = 0;
  std::size_t dropped_ = 0;
  bool told_ = false;
  std::unordered_map<std::string, KeptAnswer> by_key_;
  std::deque<Added> by_age_;  // Oldest first.
};

// The last moment whose answers may be forgotten at `now`.
constexpr Timestamp AnswersBefore(Timestamp now, Duration age) {
  return {now.micros - std::chrono::duration_cast<std::chrono::microseconds>(age).count()};
}

}  // namespace engine
