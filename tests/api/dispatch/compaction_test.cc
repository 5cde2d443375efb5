#include "api/dispatch/compaction.h"

#include <gmock/gmock.h>

#include "engine/memory/memory.h"
#include "schemas/streams.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using engine::Position;

class CompactionTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t i = 0; i < 20; ++i) {
      auto transaction = journal().Begin(support::Soon());
      ASSERT_OK(transaction);
      const auto state = (*transaction)->Read({});
      ASSERT_OK(state);
      ASSERT_OK(
          (*transaction)
              ->Append(support::RowBuilder(*state)
                           .Add(schemas::kResourcesStream, "id", std::to_string(i), Position{i})
                           .rows(),
                       {}));
      ASSERT_OK((*transaction)->Commit(support::Soon()).why);
    }
  }
  engine::Journal& journal() { return engine_->journal(); }
  static CompactionOptions Eager() {
    return {.retentions = {{schemas::kResourcesStream, std::chrono::nanoseconds(1)}},
            .interval = std::chrono::milliseconds(1)};
  }

  std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
};

TEST_F(CompactionTest, WhoHoldsTheLeaseCompacts) {
  const Compaction compaction(*engine_, Eager());
  EXPECT_TRUE(
      support::WaitFor([&] { return compaction.counters().removed == 18; }, support::Soon()));
  ASSERT_OK_AND_ASSIGN(const auto tails, journal().Tails(support::Soon()));
  EXPECT_EQ(tails[2].floor.position, Position{19});
  EXPECT_EQ(compaction.counters().failed, 0U);
}

TEST_F(CompactionTest, OneServerOfAllDoesIt) {
  const auto first = std::make_unique<Compaction>(*engine_, Eager());
  ASSERT_TRUE(support::WaitFor([&] { return first->counters().runs > 2; }, support::Soon()));
  const Compaction second(*engine_, Eager());
  const std::uint64_t runs = first->counters().runs;
  EXPECT_TRUE(
      support::WaitFor([&] { return first->counters().runs > runs + 20; }, support::Soon()));
  EXPECT_EQ(second.counters().runs, 0U);
  EXPECT_FALSE(second.elector().state().leading);
}

}  // namespace
}  // namespace api
