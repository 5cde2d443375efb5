#include "api/resources/routes.h"

#include <memory>
#include <string>

#include "api/resources/removed.h"

namespace api {

void AddResourceRoutes(Dispatcher& dispatcher, const projections::Registry& registry,
                       const SpecSchemas& schemas, Reconciliations& reconciliations) {
  const auto removed = std::make_shared<RemovedResources>();
  for (const ResourceOperation& operation : ResourceOperations(registry)) {
    if (operation.action == ResourceAction::kHistory) {
      AddHistory(dispatcher, registry, operation, removed);
    } else if (operation.method == Method::kGet) {
      AddRead(dispatcher, registry, operation);
    } else {
      AddMutation(dispatcher, registry, schemas, reconciliations, operation);
    }
  }
}

projections::Target TargetOf(const Call& call, RouteScope scope) {
  return {.id = std::string(call.request->PathParameter("id")),
          .kind = scope.kind == nullptr ? std::string() : scope.kind->kind,
          .parent_id = std::string(call.request->PathParameter("parent_id")),
          .tenant = call.caller.tenant,
          .above = OwnersAbove(*call.request, scope)};
}

}  // namespace api
