#include "projections/all.h"

#include "projections/audit.h"
#include "projections/documents.h"
#include "projections/kill_list.h"
#include "projections/resources/projection.h"
#include "projections/statuses/projection.h"

namespace projections {

std::vector<std::unique_ptr<engine::Projection>> MainProjections() {
  std::vector<std::unique_ptr<engine::Projection>> projections;
  projections.push_back(std::make_unique<KillListProjection>());
  projections.push_back(std::make_unique<ResourcesProjection>());
  projections.push_back(std::make_unique<StatusesProjection>());
  projections.push_back(std::make_unique<DocumentsProjection>(schemas::kControllerStateStream));
  projections.push_back(std::make_unique<DocumentsProjection>(schemas::kDocumentsStream));
  return projections;
}

std::vector<std::unique_ptr<engine::Projection>> ResourceProjections() {
  std::vector<std::unique_ptr<engine::Projection>> projections;
  projections.push_back(std::make_unique<ResourcesProjection>());
  projections.push_back(std::make_unique<StatusesProjection>());
  return projections;
}

std::vector<std::unique_ptr<engine::Projection>> AuditProjections() {
  std::vector<std::unique_ptr<engine::Projection>> projections;
  projections.push_back(std::make_unique<AuditProjection>());
  return projections;
}

}  // namespace projections
