// ResourcesProjection folds the stream `resources` into images (projections/resources/image.h).

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/projection.h"
#include "projections/index_upkeep.h"
#include "projections/persistent_tree.h"
#include "projections/resources/image.h"

namespace projections {

template <typename Entry, typename Less>
using WritableTree = PersistentTree<Entry, Less>;

// One thread; never blocks. Publish costs the same however many resources there are, unless a good
// part of them has changed; what a batch touched is copied once.
class ResourcesProjection final : public engine::Projection {
 public:
  engine::StreamId stream() const override { return ResourcesImage::kStream; }
  std::uint32_t fold_version() const override { return 1; }
  absl::Status Apply(const engine::Record& record) override;
  std::shared_ptr<const engine::ProjectionImage> Publish() override;
  absl::Status Load(std::string_view part) override;
  void Reset() override;

 private:
  absl::Status Put(const engine::Record& record, const schemas::Resource& resource);
  absl::Status Remove(const engine::Record& record, const schemas::ResourceTombstone& tombstone);
  absl::Status Skip(const engine::Record& record) const;
  void Link(std::shared_ptr<const ResourceEntry> entry);
  // In and out of all trees but the one by id.
  void Index(EntryPtr entry);
  void Unindex(EntryPtr entry);
  void UnindexReferences(EntryPtr entry);
  // Leaves those that are in `but`, which is sorted.
  void UnindexMarks(EntryPtr entry, const std::vector<std::uint64_t>& but);
  // `added` takes the place of `old`, of the same id.
  void Reindex(EntryPtr old, EntryPtr added);
  void CountChange();
  void BuildIndexes();

  ResourceTrees<WritableTree> trees_;
  std::shared_ptr<KindNames> kinds_ = std::make_shared<KindNames>();
  std::shared_ptr<search::SpecPaths> spec_paths_ = std::make_shared<search::SpecPaths>();
  std::uint64_t digest_ = 0;
  std::size_t without_tenancy_ = 0;
  IndexUpkeep upkeep_;
};

}  // namespace projections
