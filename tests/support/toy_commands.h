// Commands over the toy projection, for tests of the committer.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/command.h"
#include "engine/committer.h"
#include "tests/support/row_builder.h"
#include "tests/support/toy_fold.h"

namespace support {

// What became of a command.
struct Ended {
  engine::CommandOutcome::Kind kind = engine::CommandOutcome::Kind::kFailed;
  absl::Status why;
  std::string answer;  // What Decide said last, or what was kept.
  engine::Tx tx{};
  std::vector<engine::Record> records;
};

// Collects outcomes and waits for them. Thread-safe.
class Outcomes {
 public:
  void Add(std::size_t index, Ended ended);
  // Blocks until `count` commands have ended; in order of their index.
  std::vector<Ended> WaitFor(std::size_t count);

 private:
  engine::Mutex mutex_;
  engine::CondVar ended_;
  std::vector<std::pair<std::size_t, Ended>> outcomes_ ABSL_GUARDED_BY(mutex_);
};

// Reads and writes of one toy command, with their footprint kept in step.
class ToyWork {
 public:
  explicit ToyWork(const engine::DecideContext& context);

  // Empty when the key is not there.
  std::string Get(const std::string& key);
  // The number of keys that start with `prefix`.
  std::size_t Count(const std::string& prefix);
  void Put(const std::string& key, const std::string& value);
  engine::Proposal proposal() && { return std::move(proposal_); }

 private:
  const engine::DecideContext& context_;
  const std::map<std::string, ToyEntry>& entries_;
  engine::Proposal proposal_;
};

// Does the work and returns the answer; work without a Put is a refusal.
using ToyBody = std::function<std::string(ToyWork&)>;

// What makes a command more than a body.
struct ToyTerms {
  engine::Deadline deadline = Soon();
  std::optional<engine::RetryKey> key = {};  // Its answer is what Decide said.
  std::optional<engine::Fence> fence = {};
};

// The key of that name, for a request that asks for `request`.
engine::RetryKey ToyKey(const std::string& name, const std::string& request = "");

std::unique_ptr<engine::Command> MakeToyCommand(ToyBody body, std::size_t index, Outcomes& outcomes,
                                                ToyTerms terms = {});

}  // namespace support
