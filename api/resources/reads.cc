#include <string>
#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/json/writer.h"
#include "api/resources/list_params.h"
#include "api/resources/problems.h"
#include "api/resources/routes.h"
#include "projections/resources/document.h"
#include "projections/resources/image.h"
#include "projections/resources/rules.h"
#include "projections/statuses/image.h"

namespace api {
namespace {

using projections::ResourcesImage;
using projections::StatusesImage;

// A list of more than this is put into another order by a worker: that takes as long as some
// hundred other requests.
constexpr std::size_t kOrderedInPlace = 1000;

using ReadAnswer = Dispatcher::ReadAnswer;

ReadAnswer ShowOne(const Call& call, const LatestView& view, const projections::Registry& registry,
                   RouteScope scope) {
  const auto image = view.Get<ResourcesImage>();
  const auto statuses = view.Get<StatusesImage>();
  if (!image.ok() || !statuses.ok()) {
    return StoreFailure(*call.request, image.ok() ? statuses.status() : image.status());
  }
  const projections::FoundTarget found =
      projections::FindTarget(TargetOf(call, scope), registry, **image, nullptr);
  if (found.refusal) {
    return ProblemResponse(*call.request, ProblemOf(*found.refusal));
  }
  Response response;
  const projections::StatusEntry* status = (*statuses)->Find(found.entry->id());
  projections::AppendResourceDocument(found.entry->table(),
                                      status == nullptr ? nullptr : &status->table(), registry,
                                      response.body);
  response.With("ETag",
                EntityTag(found.entry->position(),
                          status == nullptr ? engine::Position::kBeforeFirst : status->position()));
  return response;
}

// Whose resources a list shows, or why there is no such list.
std::variant<Problem, projections::ListScope> ScopeOf(const Call& call, const ResourcesImage& image,
                                                      const projections::Registry& registry,
                                                      RouteScope scope) {
  const Request& request = *call.request;
  projections::ListScope list;
  list.tenant = call.caller.tenant;
  if (scope.kind != nullptr) {
    list.kind = scope.kind->kind;
  } else if (const auto kind = request.Query("kind");
             kind && kind->find_first_not_of(" \t") != std::string_view::npos) {
    const projections::EntityDescriptor* known = registry.FindKind(*kind);
    if (known == nullptr) {
      return FieldProblem("kind", absl::StrFormat("unknown kind '%s'", *kind), "enum");
    }
    list.kind = known->kind;
  }
  if (scope.parent != nullptr) {
    const auto parent =
        projections::ParentIn(request.PathParameter("parent_id"), scope.parent->kind,
                              call.caller.tenant, OwnersAbove(request, scope));
    const auto found = projections::FindTarget(parent, registry, image, nullptr);
    if (found.refusal) {
      return ProblemOf(*found.refusal);
    }
    list.owner_id = found.entry->id();
  }
  return list;
}

Response ShowPage(const projections::ListPage& page, const StatusesImage& statuses,
                  const projections::ListOptions& options, const projections::Registry& registry) {
  Response response;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("items").BeginArray();
  std::string document;
  for (const projections::ResourceEntry* entry : page.items) {
    document.clear();
    const projections::StatusEntry* status = statuses.Find(entry->id());
    projections::AppendResourceDocument(
        entry->table(), status == nullptr ? nullptr : &status->table(), registry, document);
    json.Raw(document);
  }
  json.EndArray();
  json.Key("page").Uint(options.page);
  json.Key("size").Uint(page.items.size());
  json.Key("total").Uint(page.total);
  json.EndObject();
  return response;
}

std::size_t BytesOf(const projections::ListPage& page) {
  std::size_t bytes = 0;
  for (const projections::ResourceEntry* entry : page.items) {
    bytes += entry->payload().size();
  }
  return bytes;
}

// `call` and `view` live as long as what is done later.
ReadAnswer ShowPageOf(const Call& call, const LatestView& view, const ResourcesImage& image,
                      const StatusesImage& statuses, const projections::ListScope& list,
                      const projections::ListOptions& options,
                      const projections::Registry& registry) {
  if (options.order != projections::DefaultOrder() && image.Count(list) > kOrderedInPlace) {
    return [call, view, &image, &statuses, list, options, &registry] {
      return ShowPage(image.List(list, options), statuses, options, registry);
    };
  }
  projections::ListPage page = image.List(list, options);
  if (BytesOf(page) > kShownInPlace) {
    return [call, view, page = std::move(page), &statuses, options, &registry] {
      return ShowPage(page, statuses, options, registry);
    };
  }
  return ShowPage(page, statuses, options, registry);
}

ReadAnswer ShowList(const Call& call, const LatestView& view, const projections::Registry& registry,
                    RouteScope scope) {
  auto parsed = ParseListParams(*call.request, scope.kind);
  if (auto* problem = std::get_if<Problem>(&parsed)) {
    return ProblemResponse(*call.request, *problem);
  }
  const auto image = view.Get<ResourcesImage>();
  const auto statuses = view.Get<StatusesImage>();
  if (!image.ok() || !statuses.ok()) {
    return StoreFailure(*call.request, image.ok() ? statuses.status() : image.status());
  }
  auto found = ScopeOf(call, **image, registry, scope);
  if (auto* problem = std::get_if<Problem>(&found)) {
    return ProblemResponse(*call.request, *problem);
  }
  const auto& params = std::get<ListParams>(parsed);
  auto& list = std::get<projections::ListScope>(found);
  list.ref_type = params.ref_type;
  list.ref_target_id = params.ref_target_id;
  return ShowPageOf(call, view, **image, **statuses, list, params.options, registry);
}

}  // namespace

void AddRead(Dispatcher& dispatcher, const projections::Registry& registry,
             const ResourceOperation& operation) {
  const auto show = operation.action == ResourceAction::kList       ? ShowList
                    : operation.action == ResourceAction::kStatuses ? ShowStatuses
                                                                    : ShowOne;
  dispatcher.Read(
      Access::kResources, operation.pattern,
      [&registry, scope = operation.scope, show](const Call& call, const LatestView& view) {
        return show(call, view, registry, scope);
      });
}

}  // namespace api
