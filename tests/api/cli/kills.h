// KillsTest: a data directory with four kills and one unkill, and no server.

#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/cli/storage.h"
#include "engine/committer.h"
#include "engine/file/file.h"
#include "projections/all.h"
#include "projections/kill_list.h"
#include "schemas/streams.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_commands.h"

namespace api::cli {

class KillCommand final : public engine::Command {
 public:
  KillCommand(projections::KillRequest request, support::Outcomes& outcomes)
      : request_(std::move(request)), outcomes_(outcomes) {}
  engine::Deadline deadline() const override { return support::Soon(); }
  engine::Proposal Decide(const engine::DecideContext& context) override {
    const auto list = engine::ImageIn<projections::KillList>(context.view);
    return projections::ProposeKill(request_, **list, context.footprint);
  }
  void Finish(const engine::CommandOutcome& outcome) override {
    outcomes_.Add(0, {outcome.kind, outcome.why, "", outcome.tx, {}});
  }

 private:
  const projections::KillRequest request_;
  support::Outcomes& outcomes_;
};

inline projections::KillRequest KillOf(const std::string& name) {
  return {.name = name, .killed = true, .by = "ops", .reason = "errors"};
}

class KillsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make());
    flags_.data_dir = directory_->path() + "/data";
    Commit(flags_.data_dir,
           {KillOf("a"), KillOf("b"), KillOf("c"), KillOf("d"),
            projections::KillRequest{.name = "b", .killed = false, .by = "ops", .reason = ""}});
  }

  // Each in a transaction of its own.
  static void Commit(const std::string& dir,
                     const std::vector<projections::KillRequest>& requests) {
    engine::file::Options options;
    options.dir = dir;
    ASSERT_OK_AND_ASSIGN(const auto store, engine::file::Open(schemas::Streams(), options));
    engine::Follower main(projections::MainProjections());
    engine::Follower audit(projections::AuditProjections());
    engine::Committer committer(store->journal(), main, &audit,
                                {.audit_stream = schemas::kAuditStream});
    support::Outcomes outcomes;
    std::size_t count = 0;
    for (const projections::KillRequest& request : requests) {
      committer.Submit(std::make_unique<KillCommand>(request, outcomes));
      ASSERT_EQ(outcomes.WaitFor(++count).back().kind, engine::CommandOutcome::Kind::kCommitted);
    }
  }

  std::unique_ptr<support::PrivateDirectory> directory_;
  StorageFlags flags_;
  std::ostringstream out_;
};

}  // namespace api::cli
