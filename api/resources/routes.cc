#include "api/resources/routes.h"

namespace api {

void AddResourceRoutes(Dispatcher& dispatcher, const projections::Registry& registry) {
  for (const ResourceOperation& operation : ResourceOperations(registry)) {
    if (operation.method == Method::kGet) {
      AddRead(dispatcher, registry, operation);
    } else {
      AddMutation(dispatcher, registry, operation);
    }
  }
}

}  // namespace api
