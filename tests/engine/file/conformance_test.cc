#include "tests/conformance/conformance.h"

#include "engine/file/file.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"

namespace conformance {
namespace {

class FileStore final : public Store {
 public:
  explicit FileStore(std::uint64_t segment_bytes)
      : segment_bytes_(segment_bytes), directory_(*support::PrivateDirectory::Make()) {
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
    auto opened = engine::file::Open(
        Streams(), {.dir = directory_->path() + "/data", .segment_bytes = segment_bytes_});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
  }

  const std::uint64_t segment_bytes_;
  std::unique_ptr<support::PrivateDirectory> directory_;
  std::unique_ptr<engine::Engine> engine_;
};

INSTANTIATE_TEST_SUITE_P(
    File, JournalConformance,
    testing::Values(
        StoreFactory{"File", [] { return std::make_unique<FileStore>(std::uint64_t{64} << 20); }},
        // A new segment every few transactions.
        StoreFactory{"SmallSegments",
                     [] { return std::make_unique<FileStore>(std::uint64_t{4} << 10); }}),
    StoreName);

}  // namespace
}  // namespace conformance
