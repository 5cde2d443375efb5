// Kills through the committer, on the memory backend, into the projections of a server.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/committer.h"
#include "engine/follower.h"
#include "engine/memory/memory.h"
#include "projections/all.h"
#include "projections/audit.h"
#include "projections/kill_list.h"
#include "schemas/streams.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using engine::CommandOutcome;
using engine::MutexLock;

// Counts what ended, by its kind. Thread-safe.
class Endings {
 public:
  void Add(CommandOutcome::Kind kind) {
    MutexLock lock(mutex_);
    ++counts_[kind];
    ++total_;
    changed_.SignalAll();
  }
  std::map<CommandOutcome::Kind, int> WaitFor(int total) {
    MutexLock lock(mutex_);
    while (total_ < total) {
      changed_.Wait(mutex_);
    }
    return counts_;
  }

 private:
  engine::Mutex mutex_;
  engine::CondVar changed_;
  std::map<CommandOutcome::Kind, int> counts_ ABSL_GUARDED_BY(mutex_);
  int total_ ABSL_GUARDED_BY(mutex_) = 0;
};

class KillCommand final : public engine::Command {
 public:
  KillCommand(KillRequest request, Endings& endings)
      : request_(std::move(request)), endings_(endings) {}

  engine::Deadline deadline() const override { return engine::Deadline::Infinite(); }
  engine::Proposal Decide(const engine::DecideContext& context) override {
    const auto list = engine::ImageIn<KillList>(context.view);
    EXPECT_OK(list);
    return ProposeKill(request_, **list, context.footprint);
  }
  void Finish(const CommandOutcome& outcome) override { endings_.Add(outcome.kind); }

 private:
  const KillRequest request_;
  Endings& endings_;
};

class KillCommitTest : public testing::Test {
 protected:
  void Submit(const std::string& name, bool killed) {
    committer_.Submit(std::make_unique<KillCommand>(
        KillRequest{.name = name, .killed = killed, .by = "ops", .reason = "r"}, endings_));
    ++submitted_;
  }
  std::map<CommandOutcome::Kind, int> WaitForAll() { return endings_.WaitFor(submitted_); }

  static std::vector<std::uint64_t> Digests(const engine::Follower& main,
                                            const engine::Follower& audit) {
    return {(*engine::ImageIn<KillList>(*main.view()))->StateDigest(),
            (*engine::ImageIn<AuditTrail>(*audit.view()))->StateDigest()};
  }

  std::unique_ptr<engine::Engine> store_ = engine::memory::Open(schemas::Streams());
  engine::Follower main_{MainProjections()};
  engine::Follower audit_{AuditProjections()};
  Endings endings_;
  int submitted_ = 0;
  engine::CommitterOptions options_{.audit_stream = schemas::kAuditStream};
  engine::Committer committer_{store_->journal(), main_, &audit_, options_};
};

TEST_F(KillCommitTest, OfManyEqualKillsOneIsWritten) {
  for (int i = 0; i < 50; ++i) {
    Submit("search", true);
  }
  auto ended = WaitForAll();
  EXPECT_EQ(ended[CommandOutcome::Kind::kCommitted], 1);
  EXPECT_EQ(ended[CommandOutcome::Kind::kNothing], 49);
  EXPECT_EQ((*engine::ImageIn<KillList>(*main_.view()))->version(), 1U);
  EXPECT_EQ((*engine::ImageIn<AuditTrail>(*audit_.view()))->total(), 1U);
}

TEST_F(KillCommitTest, EachWrittenKillHasItsAuditEntryAndAReplayAgrees) {
  support::SeededRandom random;
  for (int i = 0; i < 1'000; ++i) {
    Submit("exp-" + std::to_string(random.Below(20)), random.Below(2) == 0);
  }
  auto ended = WaitForAll();
  const int written = ended[CommandOutcome::Kind::kCommitted];
  EXPECT_EQ(written + ended[CommandOutcome::Kind::kNothing], 1'000);
  EXPECT_GT(written, 100);
  const auto list = engine::ImageIn<KillList>(*main_.view());
  const auto trail = engine::ImageIn<AuditTrail>(*audit_.view());
  ASSERT_OK(list);
  ASSERT_OK(trail);
  EXPECT_EQ((*list)->version(), static_cast<std::uint64_t>(written));
  EXPECT_EQ((*trail)->total(), static_cast<std::uint64_t>(written));

  engine::Follower fresh_main(MainProjections());
  engine::Follower fresh_audit(AuditProjections());
  ASSERT_OK(fresh_main.Replay(store_->journal(), {}, engine::Deadline::Infinite()));
  ASSERT_OK(fresh_audit.Replay(store_->journal(), {}, engine::Deadline::Infinite()));
  EXPECT_EQ(Digests(fresh_main, fresh_audit), Digests(main_, audit_));
}

}  // namespace
}  // namespace projections
