// ResourcesProjection folds the stream `resources` into images (projections/resources/image.h).

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/projection.h"
#include "projections/resources/image.h"

namespace projections {

template <typename Entry, typename Less>
using WritableTree = PersistentTree<Entry, Less>;

// One thread; never blocks. Publish costs the same however many resources there are; what a batch
// touched is copied once.
class ResourcesProjection final : public engine::Projection {
 public:
  engine::StreamId stream() const override { return ResourcesImage::kStream; }
  std::uint32_t fold_version() const override { return 1; }
  absl::Status Apply(const engine::Record& record) override;
  std::shared_ptr<const engine::ProjectionImage> Publish() override;

 private:
  absl::Status Put(const engine::Record& record, const schemas::Resource& resource);
  absl::Status Remove(const engine::Record& record, const schemas::ResourceTombstone& tombstone);
  void Skip(const engine::Record& record);
  // Takes the entry out of every index; the tree by id keeps it alive until the caller is done.
  void Unlink(EntryPtr entry);
  void Link(std::shared_ptr<const ResourceEntry> entry);

  ResourceTrees<WritableTree> trees_;
  std::shared_ptr<KindNames> kinds_ = std::make_shared<KindNames>();
  std::uint64_t digest_ = 0;
};

}  // namespace projections
