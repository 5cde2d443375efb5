#include <string>
#include <string_view>
#include <variant>

#include "api/resources/fields.h"
#include "api/resources/lists.h"
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

using ReadAnswer = Dispatcher::ReadAnswer;

ReadAnswer ShowOne(const Call& call, const LatestView& view, const projections::Registry& registry,
                   RouteScope scope) {
  const auto fields = FieldSelection::Parse(*call.request);
  if (const auto* problem = std::get_if<Problem>(&fields)) {
    return ProblemResponse(*call.request, *problem);
  }
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
  std::string document;
  projections::AppendResourceDocument(
      found.entry->table(), status == nullptr ? nullptr : &status->table(), registry, document);
  std::get<FieldSelection>(fields).Append(document, response.body);
  response.With("ETag",
                EntityTag(found.entry->position(),
                          status == nullptr ? engine::Position::kBeforeFirst : status->position()));
  return response;
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
