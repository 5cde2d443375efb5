// How much memory a resource takes, counted in the allocator: what docs/operations.md says.

#include <gtest/gtest.h>
#include <malloc.h>

#include "tests/projections/resources/store.h"

namespace projections {
namespace {

// Beside its record: entry, three indexes, their nodes.
constexpr std::size_t kBesideTheRecord = 768;
constexpr std::size_t kResources = 20'000;

std::size_t Allocated() {
  return mallinfo2().uordblks;
}

TEST(ResourcesMemoryTest, AResourceTakesItsRecordAndAStatedAmountBeside) {
  ResourceState state;
  state.kind = "NodePool";
  state.href = "/api/hyperfleet/v1/nodepools/01936d3c-0000-7000-8000-000000000000";
  state.spec = "{\"text\":\"" + std::string(500, 'x') + "\"}";
  state.created_by = state.updated_by = "alice";
  state.labels = {{"team", "x"}, {"stage", "production"}};
  std::size_t records = 0;
  const std::size_t before = Allocated();
  ResourcesProjection projection;
  for (std::size_t i = 0; i < kResources; ++i) {
    state.id = "01936d3c-0000-7000-8000-" + std::to_string(100'000'000'000 + i);
    state.name = "pool-" + std::to_string(i);
    engine::Record record;
    record.stream = ResourcesImage::kStream;
    record.position = engine::Position{i + 1};
    record.key = state.id;
    record.payload = engine::Payload(EncodeResource(state));
    records += record.payload.view().size();
    ASSERT_TRUE(projection.Apply(record).ok());
  }
  const auto image = ImageOf(projection);
  const std::size_t taken = Allocated() - before;
  if (taken == 0) {
    GTEST_SKIP() << "another allocator";
  }
  ASSERT_NE(image->Find(state.id), nullptr);
  EXPECT_GT(taken, records) << "the records are kept";
  const std::size_t beside = (taken - records) / kResources;
  RecordProperty("bytes_beside_the_record", static_cast<int>(beside));
  EXPECT_LT(beside, kBesideTheRecord);
}

}  // namespace
}  // namespace projections
