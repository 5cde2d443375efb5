#include "tests/conformance/conformance.h"

#include "engine/file/file.h"
#include "tests/conformance/compaction.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"

namespace conformance {
namespace {

class FileStore final : public Store {
 public:
  // Null for `disk`: the real one.
  FileStore(std::uint64_t segment_bytes, engine::Disk* disk)
      : segment_bytes_(segment_bytes), disk_(disk), directory_(*support::PrivateDirectory::Make()) {
    Open();
  }

  engine::Engine& engine() override { return *engine_; }
  // One process writes to a directory, but its threads share the journal.
  engine::Engine* second() override { return engine_.get(); }
  bool Reopen() override {
    engine_.reset();
    Open();
    return true;
  }

 private:
  void Open() {
    auto opened = engine::file::Open(Streams(), {.dir = directory_->path() + "/data",
                                                 .segment_bytes = segment_bytes_,
                                                 .state_bytes = segment_bytes_,
                                                 .disk = disk_});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
  }

  const std::uint64_t segment_bytes_;
  engine::Disk* const disk_;
  std::unique_ptr<support::PrivateDirectory> directory_;
  std::unique_ptr<engine::Engine> engine_;
};

std::unique_ptr<Store> OnTheDisk() {
  return std::make_unique<FileStore>(std::uint64_t{64} << 20, nullptr);
}

// A new segment every few transactions.
std::unique_ptr<Store> InSmallSegments() {
  return std::make_unique<FileStore>(std::uint64_t{4} << 10, &engine::file::Hasty());
}

const auto kWays = testing::Values(StoreFactory{"File", OnTheDisk},
                                   StoreFactory{"SmallSegments", InSmallSegments});

INSTANTIATE_TEST_SUITE_P(File, JournalConformance, kWays, StoreName);
INSTANTIATE_TEST_SUITE_P(File, LeaseConformance, kWays, StoreName);
INSTANTIATE_TEST_SUITE_P(File, KeyValueConformance, kWays, StoreName);
INSTANTIATE_TEST_SUITE_P(File, CompactionConformance, kWays, StoreName);

}  // namespace
}  // namespace conformance
