// GET .../statuses: what adapters reported about a resource, by adapter.

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/json/writer.h"
#include "api/resources/list_params.h"
#include "api/resources/problems.h"
#include "api/resources/routes.h"
#include "projections/resources/image.h"
#include "projections/resources/rules.h"
#include "projections/statuses/document.h"
#include "projections/statuses/image.h"

namespace api {
namespace {

using projections::ReportEntry;

Response ShowPage(const std::vector<const ReportEntry*>& reports, const PageParams& params) {
  // A page far behind the end must not overflow into one that is there.
  const std::size_t before = params.page - 1;
  const std::size_t first = before > reports.size() / params.size
                                ? reports.size()
                                : std::min(reports.size(), before * params.size);
  const std::size_t last = first + std::min(params.size, reports.size() - first);
  Response response;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("items").BeginArray();
  std::string document;
  for (std::size_t i = first; i < last; ++i) {
    document.clear();
    projections::AppendReportDocument(reports[i]->table(), document);
    json.Raw(document);
  }
  json.EndArray();
  json.Key("page").Uint(params.page);
  json.Key("size").Uint(last - first);
  json.Key("total").Uint(reports.size());
  json.EndObject();
  return response;
}

std::size_t BytesOf(const std::vector<const ReportEntry*>& reports) {
  std::size_t bytes = 0;
  for (const ReportEntry* report : reports) {
    bytes += report->payload().size();
  }
  return bytes;
}

}  // namespace

Dispatcher::ReadAnswer ShowStatuses(const Call& call, const LatestView& view,
                                    const projections::Registry& registry, RouteScope scope) {
  auto params = ParsePageParams(*call.request);
  if (auto* problem = std::get_if<Problem>(&params)) {
    return ProblemResponse(*call.request, *problem);
  }
  const auto image = view.Get<projections::ResourcesImage>();
  const auto statuses = view.Get<projections::StatusesImage>();
  if (!image.ok() || !statuses.ok()) {
    return StoreFailure(*call.request, image.ok() ? statuses.status() : image.status());
  }
  const projections::FoundTarget found =
      projections::FindTarget(TargetOf(call, scope), registry, **image, nullptr);
  if (found.refusal) {
    return ProblemResponse(*call.request, ProblemOf(*found.refusal));
  }
  std::vector<const ReportEntry*> reports = (*statuses)->Reports(found.entry->id());
  const PageParams page = std::get<PageParams>(params);
  if (BytesOf(reports) > kShownInPlace) {
    return [view, reports = std::move(reports), page](const auto& /*gone*/) {
      return ShowPage(reports, page);
    };
  }
  return ShowPage(reports, page);
}

}  // namespace api
