#include "api/resources/routes.h"

#include <string>

namespace api {

std::string CollectionPattern(RouteScope scope) {
  std::string pattern = "/api/hyperfleet/v1/";
  if (scope.parent != nullptr) {
    pattern += scope.parent->plural + "/{parent_id}/";
  }
  return pattern + (scope.kind == nullptr ? std::string("resources") : scope.kind->plural);
}

void AddResourceRoutes(Dispatcher& dispatcher, const projections::Registry& registry) {
  const auto add = [&](RouteScope scope) {
    AddReads(dispatcher, registry, scope);
    AddMutations(dispatcher, registry, scope);
  };
  add({});
  for (const projections::EntityDescriptor& kind : registry.entities()) {
    add({&kind, nullptr});
    if (!kind.is_root()) {
      add({&kind, registry.FindKind(kind.parent_kind)});
    }
  }
}

}  // namespace api
