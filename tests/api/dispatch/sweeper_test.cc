#include "api/dispatch/sweeper.h"

#include <atomic>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "engine/memory/key_value.h"
#include "engine/memory/memory.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::Soon;

TEST(SweeperTest, RemovesAllThatHasExpiredInAsManyBatchesAsItTakes) {
  const auto store = engine::memory::Open({});
  engine::KeyValue& kv = store->key_value();
  for (int i = 0; i < 2500; ++i) {
    ASSERT_OK(kv.Put(absl::StrFormat("%d", i), "x", std::chrono::milliseconds(1), Soon()));
  }
  ASSERT_OK(kv.Put("alive", "x", std::nullopt, Soon()));
  EXPECT_TRUE(support::WaitFor([&] { return !(*kv.Get("2499", Soon())).has_value(); }, Soon()));
  SweepExpired(kv);
  ASSERT_OK_AND_ASSIGN(const int left, kv.Sweep(10, Soon()));
  EXPECT_EQ(left, 0);
  EXPECT_TRUE((*kv.Get("alive", Soon())).has_value());
}

// Counts sweeps, of which every second fails.
class CountingRows final : public engine::memory::Rows {
 public:
  absl::Status Change(const engine::memory::RowKey&, const Decide&, engine::Deadline) override {
    return absl::OkStatus();
  }
  std::optional<engine::memory::Row> Read(const engine::memory::RowKey&) const override {
    return std::nullopt;
  }
  absl::StatusOr<int> Sweep(int, engine::Deadline) override {
    if (++sweeps % 2 == 0) {
      return absl::UnavailableError("no store");
    }
    return 0;
  }
  engine::Timestamp Now() const override { return {}; }

  std::atomic<int> sweeps = 0;
};

TEST(SweeperTest, SweepsAgainAndAgainWhateverFails) {
  CountingRows rows;
  engine::memory::RowKeyValue kv(rows);
  const Sweeper sweeper(kv, std::chrono::milliseconds(1));
  EXPECT_TRUE(support::WaitFor([&] { return rows.sweeps >= 5; }, Soon()));
}

}  // namespace
}  // namespace api
