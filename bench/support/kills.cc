#include "bench/support/kills.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "bench/support/loop.h"
#include "projections/kill_list.h"

namespace bench {
namespace {

class KillCommand final : public engine::Command {
 public:
  KillCommand(engine::Committer& committer, std::string experiment, bool kill, Laps& laps)
      : committer_(committer),
        experiment_(std::move(experiment)),
        kill_(kill),
        laps_(laps),
        began_(Now()) {}

  engine::Deadline deadline() const override {
    return engine::Deadline::After(std::chrono::minutes(1));
  }

  engine::Proposal Decide(const engine::DecideContext& context) override {
    const projections::KillRequest request{.name = experiment_,
                                           .killed = kill_,
                                           .by = "operator@example.com",
                                           .reason = "error rate above the guardrail of 2 %"};
    return projections::ProposeKill(request, **engine::ImageIn<projections::KillList>(context.view),
                                    context.footprint);
  }

  void Finish(const engine::CommandOutcome& outcome) override {
    if (outcome.kind != engine::CommandOutcome::Kind::kCommitted) {
      std::fprintf(stderr, "not committed: %s\n", outcome.why.ToString().c_str());
      std::exit(1);
    }
    laps_.Done(began_);
    if (laps_.Take()) {
      committer_.Submit(std::make_unique<KillCommand>(committer_, experiment_, !kill_, laps_));
    }
  }

 private:
  engine::Committer& committer_;
  const std::string experiment_;
  const bool kill_;
  Laps& laps_;
  const engine::Duration began_;
};

}  // namespace

void RunWriters(engine::Committer& committer, int writers, Laps& laps) {
  // A run may end with an experiment killed, and the next one starts with a kill: new names.
  static std::atomic<int> runs = 0;
  const int run = ++runs;
  for (int writer = 0; writer < writers; ++writer) {
    if (laps.Take()) {
      committer.Submit(std::make_unique<KillCommand>(
          committer, absl::StrFormat("experiment-%d-%d", run, writer), true, laps));
    }
  }
  laps.Wait();
}

}  // namespace bench
