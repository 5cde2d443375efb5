// StatusesProjection folds the stream `statuses` into images (projections/statuses/image.h).

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/projection.h"
#include "projections/index_upkeep.h"
#include "projections/persistent_tree.h"
#include "projections/statuses/image.h"

namespace projections {

template <typename Entry, typename Less>
using WritableStatusTree = PersistentTree<Entry, Less>;

// One thread; never blocks. Publish costs the same however much was reported, unless a good part
// of all conditions has changed; what a batch touched is copied once.
class StatusesProjection final : public engine::Projection {
 public:
  engine::StreamId stream() const override { return StatusesImage::kStream; }
  std::uint32_t fold_version() const override { return 1; }
  absl::Status Apply(const engine::Record& record) override;
  std::shared_ptr<const engine::ProjectionImage> Publish() override;
  absl::Status Load(std::string_view part) override;
  void Reset() override;

 private:
  absl::Status Fold(const engine::Record& record, const schemas::RecordView& view);
  absl::Status Put(const engine::Record& record, const schemas::ResourceStatus& status);
  absl::Status Put(const engine::Record& record, const schemas::AdapterReport& report);
  absl::Status Remove(const engine::Record& record, const schemas::StatusTombstone& tombstone);
  absl::Status Skip(const engine::Record& record) const;
  std::vector<ConditionKey> KeysOf(const StatusEntry& entry);
  void Index(const StatusEntry& entry);
  void Unindex(const StatusEntry& entry);
  void CountChange();
  void BuildIndex();

  StatusTrees<WritableStatusTree> trees_;
  std::shared_ptr<ConditionTypes> types_ = std::make_shared<ConditionTypes>();
  std::uint64_t digest_ = 0;
  IndexUpkeep upkeep_;
};

}  // namespace projections
