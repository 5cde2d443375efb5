#include "api/resources/operations.h"

#include <array>
#include <string_view>

namespace api {
namespace {

struct Row {
  ResourceAction action;
  Method method;
  std::string_view suffix;
};
constexpr std::array<Row, 7> kRows = {{
    {ResourceAction::kList, Method::kGet, ""},
    {ResourceAction::kCreate, Method::kPost, ""},
    {ResourceAction::kShow, Method::kGet, "/{id}"},
    {ResourceAction::kPatch, Method::kPatch, "/{id}"},
    {ResourceAction::kDelete, Method::kDelete, "/{id}"},
    {ResourceAction::kForceDelete, Method::kPost, "/{id}/force-delete"},
    {ResourceAction::kHistory, Method::kGet, "/{id}/history"},
}};

// `/api/hyperfleet/v1/clusters/{parent_id}/nodepools`, `.../resources` without a kind.
std::string CollectionPattern(RouteScope scope) {
  std::string pattern = "/api/hyperfleet/v1/";
  if (scope.parent != nullptr) {
    pattern += scope.parent->plural + "/{parent_id}/";
  }
  return pattern + (scope.kind == nullptr ? std::string("resources") : scope.kind->plural);
}

}  // namespace

std::vector<ResourceOperation> ResourceOperations(const projections::Registry& registry) {
  std::vector<ResourceOperation> operations;
  const auto add = [&operations](RouteScope scope) {
    const std::string collection = CollectionPattern(scope);
    for (const Row& row : kRows) {
      operations.push_back({row.action, row.method, collection + std::string(row.suffix), scope});
    }
  };
  add({});
  for (const projections::EntityDescriptor& kind : registry.entities()) {
    add({&kind, nullptr});
    if (!kind.is_root()) {
      add({&kind, registry.FindKind(kind.parent_kind)});
    }
  }
  return operations;
}

}  // namespace api
