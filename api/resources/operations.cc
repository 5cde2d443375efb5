#include "api/resources/operations.h"

#include <array>
#include <string_view>

#include <absl/strings/str_format.h>

namespace api {
namespace {

struct Row {
  ResourceAction action;
  Method method;
  std::string_view suffix;
};
constexpr std::array<Row, 9> kRows = {{
    {ResourceAction::kList, Method::kGet, ""},
    {ResourceAction::kCreate, Method::kPost, ""},
    {ResourceAction::kShow, Method::kGet, "/{id}"},
    {ResourceAction::kPatch, Method::kPatch, "/{id}"},
    {ResourceAction::kDelete, Method::kDelete, "/{id}"},
    {ResourceAction::kForceDelete, Method::kPost, "/{id}/force-delete"},
    {ResourceAction::kHistory, Method::kGet, "/{id}/history"},
    {ResourceAction::kStatuses, Method::kGet, "/{id}/statuses"},
    {ResourceAction::kReport, Method::kPut, "/{id}/statuses"},
}};

// `/api/hyperfleet/v1/clusters/{parent_id}/nodepools`, `.../resources` without a kind.
std::string CollectionPattern(const projections::Registry& registry, RouteScope scope) {
  std::string owners;  // Outermost first, so each goes before those that are there.
  const projections::EntityDescriptor* owner = scope.parent;
  for (std::size_t level = 1; owner != nullptr && level <= 1 + scope.owners_above; ++level) {
    owners.insert(0, absl::StrFormat("%s/{%s}/", owner->plural, OwnerVariable(level)));
    owner = registry.FindKind(owner->parent_kind);
  }
  const std::string pattern = "/api/hyperfleet/v1/" + owners;
  return pattern + (scope.kind == nullptr ? std::string("resources") : scope.kind->plural);
}

std::size_t OwnersOf(const projections::Registry& registry,
                     const projections::EntityDescriptor& kind) {
  std::size_t owners = 0;
  for (const auto* at = &kind; !at->is_root(); at = registry.FindKind(at->parent_kind)) {
    ++owners;
  }
  return owners;
}

}  // namespace

std::string OwnerVariable(std::size_t level) {
  return level == 1 ? "parent_id" : "owner" + std::to_string(level) + "_id";
}

std::vector<std::string> OwnersAbove(const Request& request, RouteScope scope) {
  std::vector<std::string> owners;
  owners.reserve(scope.owners_above);
  for (std::size_t i = 0; i < scope.owners_above; ++i) {
    owners.emplace_back(request.PathParameter(OwnerVariable(i + 2)));
  }
  return owners;
}

std::vector<ResourceOperation> ResourceOperations(const projections::Registry& registry) {
  std::vector<ResourceOperation> operations;
  const auto add = [&](RouteScope scope) {
    const std::string collection = CollectionPattern(registry, scope);
    for (const Row& row : kRows) {
      operations.push_back({row.action, row.method, collection + std::string(row.suffix), scope});
    }
  };
  add({});
  for (const projections::EntityDescriptor& kind : registry.entities()) {
    add({&kind, nullptr});
    if (!kind.is_root()) {
      const RouteScope nested{&kind, registry.FindKind(kind.parent_kind)};
      add(nested);
      if (const std::size_t owners = OwnersOf(registry, kind); owners > 1) {
        add({nested.kind, nested.parent, owners - 1});
      }
    }
  }
  return operations;
}

}  // namespace api
