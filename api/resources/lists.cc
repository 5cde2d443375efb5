#include "api/resources/lists.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <absl/strings/str_format.h>

#include "api/json/writer.h"
#include "api/resources/list_cursor.h"
#include "api/resources/list_params.h"
#include "api/resources/problems.h"
#include "api/resources/routes.h"
#include "engine/base/guard.h"
#include "projections/resources/document.h"
#include "projections/resources/lists.h"
#include "projections/resources/rules.h"
#include "projections/statuses/image.h"

namespace api {
namespace {

using projections::ResourcesImage;
using projections::StatusesImage;

// A list that looks at more than this is made by a worker: that takes as long as some hundred other
// requests.
constexpr std::size_t kLookedAtInPlace = 1000;

using ReadAnswer = Dispatcher::ReadAnswer;

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
                  const ListParams& params, const projections::Registry& registry) {
  Response response;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("items").BeginArray();
  std::string document;
  std::string shown;
  for (const projections::ResourceEntry* entry : page.items) {
    document.clear();
    shown.clear();
    const projections::StatusEntry* status = statuses.Find(entry->id());
    projections::AppendResourceDocument(
        entry->table(), status == nullptr ? nullptr : &status->table(), registry, document);
    params.fields.Append(document, shown);
    json.Raw(shown);
  }
  json.EndArray();
  json.Key("page").Uint(params.options.page);
  json.Key("size").Uint(page.items.size());
  json.Key("total").Uint(page.total);
  if (params.wants_cursor && page.has_more) {
    const auto place = projections::PlaceOf(*page.items.back(), params.options.order);
    json.Key("next_cursor").String(EncodeListCursor(params.options.order, place));
  }
  json.EndObject();
  return response;
}

// Whether anybody wants to know what comes of looking further.
absl::Status MayGoOn(const Request& request, const std::function<bool()>& gone) {
  if (!GUARD("lists.deadline", !request.deadline().HasPassed())) {
    return absl::DeadlineExceededError("the request's time is over");
  }
  return GUARD("lists.gone", !gone()) ? absl::OkStatus()
                                      : absl::CancelledError("the client has gone");
}

Response TooLong(const Request& request) {
  Response response =
      RefuseRequest(request, ProblemCode::kUnavailable,
                    "the list took longer than a request may: ask for less of it, or search by "
                    "what has an index");
  response.With("Retry-After", "1");
  return response;
}

std::size_t BytesOf(const projections::ListPage& page) {
  std::size_t bytes = 0;
  for (const projections::ResourceEntry* entry : page.items) {
    bytes += entry->payload().size();
  }
  return bytes;
}

}  // namespace

ReadAnswer ShowList(const Call& call, const LatestView& view, const projections::Registry& registry,
                    RouteScope scope) {
  auto parsed = ParseListParams(*call.request, scope.kind);
  if (auto* problem = std::get_if<Problem>(&parsed)) {
    return ProblemResponse(*call.request, *problem);
  }
  const auto params = std::make_shared<const ListParams>(std::get<ListParams>(std::move(parsed)));
  const auto image = view.Get<ResourcesImage>();
  if (!image.ok()) {
    return StoreFailure(*call.request, image.status());
  }
  const auto statuses = view.Get<StatusesImage>();
  if (!statuses.ok()) {
    return StoreFailure(*call.request, statuses.status());
  }
  auto found = ScopeOf(call, **image, registry, scope);
  if (auto* problem = std::get_if<Problem>(&found)) {
    return ProblemResponse(*call.request, *problem);
  }
  auto& list = std::get<projections::ListScope>(found);
  list.ref_type = params->ref_type;
  list.ref_target_id = params->ref_target_id;
  const auto plan =
      std::make_shared<const projections::ListPlan>(**image, &**statuses, list, params->options);
  // What is done later keeps what the plan points to: the request, and the images by their view.
  if (plan->cost() > kLookedAtInPlace) {
    return [call, view, plan, &all = **statuses, params, &registry](const auto& gone) {
      const auto page = plan->RunWhile([&call, &gone] { return MayGoOn(*call.request, gone); });
      return page.ok() ? ShowPage(*page, all, *params, registry) : TooLong(*call.request);
    };
  }
  projections::ListPage page = plan->Run();
  if (BytesOf(page) > kShownInPlace) {
    return [call, view, page = std::move(page), &all = **statuses, params,
            &registry](const auto& /*gone*/) { return ShowPage(page, all, *params, registry); };
  }
  return ShowPage(page, **statuses, *params, registry);
}

}  // namespace api
