#include "api/resources/routes.h"

#include <memory>

#include "api/resources/removed.h"

namespace api {

void AddResourceRoutes(Dispatcher& dispatcher, const projections::Registry& registry,
                       const SpecSchemas& schemas) {
  const auto removed = std::make_shared<RemovedResources>();
  for (const ResourceOperation& operation : ResourceOperations(registry)) {
    if (operation.action == ResourceAction::kHistory) {
      AddHistory(dispatcher, registry, operation, removed);
    } else if (operation.method == Method::kGet) {
      AddRead(dispatcher, registry, operation);
    } else {
      AddMutation(dispatcher, registry, schemas, operation);
    }
  }
}

}  // namespace api
