// GET .../{id}/history: who changed what of one resource, newest first.

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/json/writer.h"
#include "api/resources/change_text.h"
#include "api/resources/changes.h"
#include "api/resources/problems.h"
#include "api/resources/removed.h"
#include "api/resources/routes.h"
#include "engine/base/bytes.h"
#include "engine/base/clock.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/resources/image.h"
#include "projections/resources/rules.h"
#include "schemas/codec.h"

namespace api {
namespace {

using projections::ResourcesImage;

constexpr int kDefaultLimit = 20;
constexpr int kMaxLimit = 100;
constexpr std::string_view kPagePurpose = "halo history page 1";

struct Query {
  projections::Target target;
  int limit = kDefaultLimit;
  // Where the page begins; empty: at the newest record.
  std::optional<engine::Position> from;
};

std::string PageToken(const engine::Seal& seal, std::string_view id, engine::Position next) {
  std::string text;
  engine::AppendU64(engine::Raw(next), text);
  text += id;
  return seal.Close(kPagePurpose, text);
}

std::variant<Problem, Query> ParseQuery(const Call& call, RouteScope scope,
                                        const engine::Seal& seal) {
  const Request& request = *call.request;
  Query query;
  query.target = {.id = std::string(request.PathParameter("id")),
                  .kind = scope.kind == nullptr ? std::string() : scope.kind->kind,
                  .parent_id = std::string(request.PathParameter("parent_id")),
                  .tenant = call.caller.tenant,
                  .above = OwnersAbove(request, scope)};
  if (request.Query("as_of")) {
    return FieldProblem("as_of", "a history has no as_of: it shows every change", "enum");
  }
  if (const auto limit = request.Query("limit")) {
    const auto [end, error] =
        std::from_chars(limit->data(), limit->data() + limit->size(), query.limit);
    if (error != std::errc() || end != limit->data() + limit->size() || query.limit < 1 ||
        query.limit > kMaxLimit) {
      return FieldProblem("limit", "limit must be a number from 1 to 100", "format");
    }
  }
  if (const auto cursor = request.Query("cursor")) {
    const auto text = seal.Open(kPagePurpose, *cursor);
    const bool is_ours = text && text->size() >= 8 && text->substr(8) == query.target.id;
    if (!GUARD("history.page", is_ours)) {
      return FieldProblem("cursor", "cursor is not one of this history", "format");
    }
    query.from = engine::Position{text && text->size() >= 8 ? engine::ReadU64(*text) : 1};
  }
  return query;
}

absl::StatusOr<Response> ShowChanges(const Changes& changes, const projections::Registry& registry,
                                     const engine::Seal& seal, std::string_view id) {
  Response response;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("items").BeginArray();
  for (const engine::Record& record : changes.records) {
    json.BeginObject();
    json.Key("position").Uint(engine::Raw(record.position));
    json.Key("tx").Uint(engine::Raw(record.tx));
    json.Key("time").String(engine::FormatTimestamp(record.at));
    RETURN_IF_ERROR(WriteChange(record, registry, json));
    json.EndObject();
  }
  json.EndArray();
  json.Key("complete").Bool(changes.complete());
  if (changes.floor != engine::Position::kBeforeFirst) {
    json.Key("floor").Uint(engine::Raw(changes.floor));
  }
  if (changes.next != engine::Position::kBeforeFirst) {
    json.Key("next").String(PageToken(seal, id, changes.next));
  }
  json.EndObject();
  return response;
}

// Reads one history, on a worker.
class HistoryReader {
 public:
  HistoryReader(Dispatcher& dispatcher, const projections::Registry& registry,
                RemovedResources& removed)
      : journal_(dispatcher.store().journal()),
        seal_(dispatcher.store().cursors().seal()),
        registry_(registry),
        removed_(removed) {}

  Response Answer(const Request& request, const Query& query, const engine::View& view) {
    const auto start = StartOf(query, view, request.deadline());
    if (!start.ok()) {
      return Refuse(request, query, start.status());
    }
    const auto changes =
        ReadChanges(journal_, query.target.id, *start, query.limit, request.deadline());
    if (!changes.ok()) {
      return Refuse(request, query, changes.status());
    }
    auto response = ShowChanges(*changes, registry_, seal_, query.target.id);
    return response.ok() ? *std::move(response) : StoreFailure(request, response.status());
  }

 private:
  // The newest record of the resource, whether or not it is still there; kNotFound for one that is
  // not of the target's kind and parent.
  absl::StatusOr<engine::Position> StartOf(const Query& query, const engine::View& view,
                                           engine::Deadline deadline) {
    ASSIGN_OR_RETURN(const ResourcesImage* image, engine::ImageIn<ResourcesImage>(view));
    if (const projections::ResourceEntry* entry = image->Find(query.target.id)) {
      const auto found = projections::FindTarget(query.target, registry_, *image, nullptr);
      if (found.refusal) {
        return absl::NotFoundError("it is another resource");
      }
      return query.from.value_or(entry->position());
    }
    const engine::StreamView& stream = *view.Find(schemas::kResourcesStream);
    ASSIGN_OR_RETURN(const auto tombstone,
                     removed_.Find(journal_, query.target.id,
                                   {stream.stream, stream.position, stream.digest}, deadline));
    if (!tombstone) {
      return absl::NotFoundError("there is no such resource");
    }
    RETURN_IF_ERROR(CheckRemoved(query.target, *tombstone, deadline));
    return query.from.value_or(*tombstone);
  }

  // Its last state says of which kind it was, and whose. Where compaction took that, nothing can be
  // told of it any more.
  absl::Status CheckRemoved(const projections::Target& target, engine::Position tombstone,
                            engine::Deadline deadline) {
    ASSIGN_OR_RETURN(const Changes last, ReadChanges(journal_, target.id, tombstone, 2, deadline));
    if (last.records.size() < 2) {
      return absl::NotFoundError("its last state was compacted");
    }
    ASSIGN_OR_RETURN(const schemas::Resource* state, StateIn(last.records.back().payload));
    const schemas::Owner* owner = state == nullptr ? nullptr : state->owner();
    const bool is_it =
        state != nullptr && GUARD("history.tenant", target.tenant.Sees(*state)) &&
        (target.kind.empty() || schemas::Text(state->kind()) == target.kind) &&
        (target.parent_id.empty() ||
         (owner != nullptr && schemas::Text(owner->id()) == target.parent_id)) &&
        std::ranges::all_of(target.above, [state](const std::string& above) {
          return schemas::Text(state->href()).find("/" + above + "/") != std::string_view::npos;
        });
    return is_it ? absl::OkStatus() : absl::NotFoundError("it was another resource");
  }

  static Response Refuse(const Request& request, const Query& query, const absl::Status& why) {
    if (!absl::IsNotFound(why)) {
      return StoreFailure(request, why);
    }
    Problem problem;
    if (query.from) {
      problem.code = ProblemCode::kGone;
      problem.detail = "what the cursor names was compacted";
      return ProblemResponse(request, problem);
    }
    problem.code = ProblemCode::kNotFound;
    problem.detail = (query.target.kind.empty() ? "Resource" : query.target.kind) + " with id='" +
                     query.target.id + "' not found";
    return ProblemResponse(request, problem);
  }

  engine::Journal& journal_;
  const engine::Seal& seal_;
  const projections::Registry& registry_;
  RemovedResources& removed_;
};

}  // namespace

void AddHistory(Dispatcher& dispatcher, const projections::Registry& registry,
                const ResourceOperation& operation, std::shared_ptr<RemovedResources> removed) {
  dispatcher.Read(
      Access::kResources, operation.pattern,
      [&dispatcher, &registry, scope = operation.scope, removed = std::move(removed)](
          const Call& call, const LatestView& view) -> Dispatcher::ReadAnswer {
        auto query = ParseQuery(call, scope, dispatcher.store().cursors().seal());
        if (auto* problem = std::get_if<Problem>(&query)) {
          return ProblemResponse(*call.request, *problem);
        }
        return [&dispatcher, &registry, removed, request = call.request, view = view.ptr(),
                query = std::get<Query>(std::move(query))](const auto& /*gone*/) {
          return HistoryReader(dispatcher, registry, *removed).Answer(*request, query, *view);
        };
      });
}

}  // namespace api
