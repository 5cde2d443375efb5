#include "engine/memory/memory.h"

#include "tests/conformance/compaction.h"
#include "tests/conformance/conformance.h"

namespace conformance {
namespace {

class MemoryStore final : public Store {
 public:
  engine::Engine& engine() override { return *engine_; }
  // Threads of one process share the memory as processes share a database.
  engine::Engine* second() override { return engine_.get(); }

 private:
  std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(Streams());
};

StoreFactory InMemory() {
  return {"Memory", [] { return std::make_unique<MemoryStore>(); }};
}

INSTANTIATE_TEST_SUITE_P(Memory, JournalConformance, testing::Values(InMemory()), StoreName);
INSTANTIATE_TEST_SUITE_P(Memory, LeaseConformance, testing::Values(InMemory()), StoreName);
INSTANTIATE_TEST_SUITE_P(Memory, KeyValueConformance, testing::Values(InMemory()), StoreName);
INSTANTIATE_TEST_SUITE_P(Memory, CompactionConformance, testing::Values(InMemory()), StoreName);

}  // namespace
}  // namespace conformance
