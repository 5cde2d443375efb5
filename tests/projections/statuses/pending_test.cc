#include "projections/statuses/pending.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/projections/statuses/reports.h"

namespace projections {
namespace {

using Counts = std::vector<PendingReconciliation>;

TEST(PendingTest, CountsWhatIsNotReconciledByKindAndDeletion) {
  TestStore store;
  const auto count = [&store](engine::Duration threshold) {
    return CountPending(*store.statuses(), *store.image(), store.now(), threshold);
  };
  const std::chrono::minutes ten(10);
  EXPECT_EQ(count(ten), Counts{});
  store.Add("Channel", "no adapters");
  const std::string first = store.Add("Cluster", "a");
  store.Pass(600'000'000);
  const std::string second = store.Add("Cluster", "b");
  store.Add("NodePool", "p", first);
  const double age = 600.000001 + 2e-6;  // A microsecond passes with each commit.
  Counts expected = {{"Cluster", false, 2, 1, age}, {"NodePool", false, 1, 0, 0}};
  const Counts counted = count(ten);
  ASSERT_EQ(counted.size(), 2U);
  EXPECT_NEAR(counted[0].stuck_seconds, age, 1e-5);
  expected[0].stuck_seconds = counted[0].stuck_seconds;
  EXPECT_EQ(counted, expected);
  for (const char* adapter : {"validation", "dns", "pullsecret", "hypershift"}) {
    store.Do(Report(store, first, adapter, 1));
    store.Do(Report(store, second, adapter, 1));
  }
  EXPECT_EQ(count(ten), (Counts{{"NodePool", false, 1, 0, 0}}));
  store.Delete(first);
  EXPECT_EQ(count(ten), (Counts{{"Cluster", true, 1, 0, 0}, {"NodePool", true, 1, 0, 0}}));
}

}  // namespace
}  // namespace projections
