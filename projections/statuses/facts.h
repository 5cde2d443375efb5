// TrackedStatuses: reports and conditions as a command may see them, every look noted in its
// footprint.
//
//   t/<id>     everything that was reported about the resource, and its conditions
//
// One fact a resource: its conditions depend on all reports about it, so two reports about one
// resource are never judged in one batch. Who changes a resource looks at its fact and writes it,
// like who reports about it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/guard.h"
#include "engine/footprint.h"
#include "projections/statuses/image.h"

namespace projections {

// One thread; never blocks.
class TrackedStatuses {
 public:
  TrackedStatuses(const StatusesImage& image, engine::Footprint& footprint)
      : image_(image), footprint_(footprint) {}

  // As in StatusesImage.
  const StatusEntry* Find(std::string_view resource_id) {
    Look(resource_id);
    return image_.Find(resource_id);
  }
  std::vector<const ReportEntry*> Reports(std::string_view resource_id) {
    Look(resource_id);
    return image_.Reports(resource_id);
  }

  void NoteChanged(std::string_view resource_id) { footprint_.Write(Fact(resource_id)); }

 private:
  static std::string Fact(std::string_view resource_id) { return "t/" + std::string(resource_id); }
  void Look(std::string_view resource_id) {
    if (!GUARD("statuses.facts", false)) {
      footprint_.Read(Fact(resource_id));
    }
  }

  const StatusesImage& image_;
  engine::Footprint& footprint_;
};

}  // namespace projections
