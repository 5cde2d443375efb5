#include "projections/statuses/pending.h"

#include <algorithm>
#include <map>
#include <utility>

#include "projections/statuses/aggregate.h"

namespace projections {

std::vector<PendingReconciliation> CountPending(const StatusesImage& statuses,
                                                const ResourcesImage& resources,
                                                engine::Timestamp now, engine::Duration threshold) {
  const std::int64_t limit =
      std::chrono::duration_cast<std::chrono::microseconds>(threshold).count();
  std::map<std::pair<std::string_view, bool>, PendingReconciliation> counts;
  for (const StatusEntry* status :
       statuses.WithCondition(kReconciled, schemas::ConditionStatus::kFalse)) {
    const ResourceEntry* resource = resources.Find(status->resource_id());
    // The two streams are of one cut; a resource of a kind that was registered once counts too.
    if (resource == nullptr) {
      continue;
    }
    PendingReconciliation& count = counts[{resource->kind(), resource->is_deleting()}];
    ++count.pending;
    const std::int64_t age =
        now.micros - status->FindCondition(kReconciled)->last_transition_time();
    if (age > limit) {
      ++count.stuck;
      count.stuck_seconds = std::max(count.stuck_seconds, static_cast<double>(age) / 1e6);
    }
  }
  std::vector<PendingReconciliation> result;
  for (auto& [key, count] : counts) {
    count.kind = key.first;
    count.is_delete = key.second;
    result.push_back(std::move(count));
  }
  return result;
}

}  // namespace projections
