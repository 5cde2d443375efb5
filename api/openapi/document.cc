#include "api/openapi/document.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "api/openapi/components.h"
#include "api/openapi/schemas.h"
#include "api/resources/operations.h"

namespace api {
namespace {

// What is the same for every kind: see DescriptionOf.
struct Described {
  std::string_view verb;
  std::string summary;
  std::vector<std::string_view> parameters;  // Beside those of the path.
  std::string body;                          // The schema of the request; empty: none.
  JsonObject responses;
  std::vector<int> refused;
};

bool IsNested(const ResourceOperation& operation) {
  return operation.scope.parent != nullptr;
}

// A child whose parent the path does not name: there is nothing to create it under.
bool IsRefusedCreate(const ResourceOperation& operation) {
  return operation.scope.kind != nullptr && !operation.scope.kind->is_root() &&
         !IsNested(operation);
}

std::string NounOf(RouteScope scope) {
  return scope.kind == nullptr ? "Resource" : scope.kind->kind;
}

Described DescribeList(const ResourceOperation& operation, const KindSchemas& schemas) {
  Described list{.verb = "list",
                 .summary = "List " + std::string(operation.scope.kind == nullptr
                                                      ? "resources of every kind"
                                                      : operation.scope.kind->plural),
                 .parameters = {"Page", "Size", "Order", "Cursor", "Search", "Fields", "RefType",
                                "RefTargetId", "Freshness", "AtLeast", "AsOf"},
                 .body = {},
                 .responses = {{"200", Success("One page.", schemas.list, false)}},
                 .refused = {400, 403, 410, 503}};
  if (operation.scope.kind == nullptr) {
    list.parameters.emplace_back("Kind");
  }
  if (IsNested(operation)) {
    list.refused.push_back(404);
  }
  return list;
}

Described DescribeCreate(const ResourceOperation& operation, const KindSchemas& schemas) {
  Described create{.verb = "create",
                   .summary = "Create a " + NounOf(operation.scope),
                   .parameters = {"IdempotencyKey"},
                   .body = schemas.create,
                   .responses = {},
                   .refused = {400, 413, 422, 503}};
  if (IsRefusedCreate(operation)) {
    create.summary += ": refused, since its parent is not in the path";
    return create;
  }
  create.responses["201"] = Success("It was created.", schemas.resource, true);
  create.refused.push_back(409);
  if (IsNested(operation)) {
    create.refused.push_back(404);
  }
  return create;
}

Described DescribeOne(const ResourceOperation& operation, const KindSchemas& schemas) {
  const std::string noun = NounOf(operation.scope);
  switch (operation.action) {
    case ResourceAction::kPatch:
      return {.verb = "patch",
              .summary = "Replace the spec, labels or references of a " + noun,
              .parameters = {"IfMatch", "IdempotencyKey"},
              .body = schemas.patch,
              .responses = {{"200", Success("As it is now.", schemas.resource, true)}},
              .refused = {400, 404, 409, 412, 413, 422, 503}};
    case ResourceAction::kDelete:
      return {
          .verb = "delete",
          .summary = "Ask for the deletion of a " + noun,
          .parameters = {"IfMatch", "IdempotencyKey"},
          .body = {},
          .responses = {{"202", Success("It is on its way out, or gone.", schemas.resource, true)}},
          .refused = {400, 404, 409, 412, 413, 422, 503}};
    case ResourceAction::kForceDelete:
      return {.verb = "forceDelete",
              .summary = "Remove a " + noun + " that is on its way out, and all below it",
              .parameters = {"IfMatch", "IdempotencyKey"},
              .body = "ForceDeleteRequest",
              .responses = {{"204", Success("It is gone.", "", false)}},
              .refused = {400, 404, 409, 412, 413, 422, 503}};
    case ResourceAction::kHistory:
      return {.verb = "getHistoryOf",
              .summary = "Show who changed what of a " + noun + ", newest first, removed or not",
              .parameters = {"HistoryLimit", "HistoryCursor", "Freshness", "AtLeast"},
              .body = {},
              .responses = {{"200", Success("Its changes.", "ResourceHistory", false)}},
              .refused = {400, 404, 410, 503}};
    default:
      return {.verb = "get",
              .summary = "Show a " + noun,
              .parameters = {"Fields", "Freshness", "AtLeast", "AsOf"},
              .body = {},
              .responses = {{"200", Success("The resource.", schemas.shown, true)}},
              .refused = {400, 403, 404, 410, 503}};
  }
}

Described DescribeStatuses(const ResourceOperation& operation) {
  const std::string noun = NounOf(operation.scope);
  if (operation.action == ResourceAction::kStatuses) {
    return {.verb = "listStatusesOf",
            .summary = "List what adapters reported about a " + noun,
            .parameters = {"Page", "Size", "Freshness"},
            .body = {},
            .responses = {{"200", Success("One page, by adapter.", "AdapterStatusList", false)}},
            .refused = {400, 404, 503}};
  }
  return {.verb = "reportStatusOf",
          .summary = "Report about a " + noun + ", as an adapter",
          .parameters = {"IfMatch", "IdempotencyKey"},
          .body = "AdapterStatusReport",
          .responses = {{"201", Success("The report as it is stored.", "AdapterStatus", false)},
                        {"204", Success("It is older than what is known, of no generation that is "
                                        "there, or says nothing new: it was dropped.",
                                        "", false)}},
          .refused = {400, 403, 404, 412, 413, 422, 503}};
}

Described Describe(const ResourceOperation& operation, const KindSchemas& schemas) {
  switch (operation.action) {
    case ResourceAction::kList:
      return DescribeList(operation, schemas);
    case ResourceAction::kCreate:
      return DescribeCreate(operation, schemas);
    case ResourceAction::kStatuses:
    case ResourceAction::kReport:
      return DescribeStatuses(operation);
    default:
      return DescribeOne(operation, schemas);
  }
}

std::string OperationId(const ResourceOperation& operation, std::string_view verb) {
  std::string noun = NounOf(operation.scope);
  if (operation.action == ResourceAction::kList) {
    noun = operation.scope.kind == nullptr ? "resources" : operation.scope.kind->plural;
    noun.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(noun.front())));
  }
  std::string id = std::string(verb) + noun;
  if (IsNested(operation)) {
    id += "Of" + operation.scope.parent->kind;
    id += operation.scope.owners_above > 0 ? "ByPath" : "";
  }
  return id;
}

JsonObject PathParameter(std::string_view name, std::string_view description) {
  return {{"name", name},
          {"in", "path"},
          {"required", true},
          {"description", description},
          {"schema", JsonObject{{"type", "string"}}}};
}

JsonArray Parameters(const projections::Registry& registry, const ResourceOperation& operation,
                     const Described& described) {
  JsonArray parameters;
  const projections::EntityDescriptor* owner = operation.scope.parent;
  for (std::size_t level = 1; owner != nullptr && level <= 1 + operation.scope.owners_above;
       ++level) {
    parameters.push_back(PathParameter(OwnerVariable(level), "The id of the " + owner->kind + "."));
    owner = registry.FindKind(owner->parent_kind);
  }
  if (operation.pattern.find("{id}") != std::string::npos) {
    parameters.push_back(PathParameter("id", "The id of the resource."));
  }
  for (const std::string_view name : described.parameters) {
    parameters.push_back(Ref("parameters", name));
  }
  parameters.push_back(Ref("parameters", "RequestId"));
  return parameters;
}

JsonObject OperationObject(const projections::Registry& registry,
                           const ResourceOperation& operation, const SchemaNames& names,
                           UniqueNames& ids) {
  Described described = Describe(operation, names.Of(operation.scope.kind));
  // Who may not is told so before anything else is looked at.
  described.refused.insert(described.refused.end(), {401, 403});
  std::ranges::sort(described.refused);
  JsonObject object{{"operationId", ids.Take(OperationId(operation, described.verb))},
                    {"summary", described.summary},
                    {"tags", JsonArray{NounOf(operation.scope)}},
                    {"parameters", Parameters(registry, operation, described)}};
  if (!described.body.empty()) {
    object["requestBody"] = JsonObject{
        {"required", true},
        {"content",
         JsonObject{{"application/json", JsonObject{{"schema", Ref("schemas", described.body)}}}}}};
  }
  AddRefusals(described.refused, described.responses);
  object["responses"] = std::move(described.responses);
  return object;
}

std::string LowerName(Method method) {
  std::string name(MethodName(method));
  for (char& c : name) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

// What is there whatever the kinds, and needs no store.
JsonObject ServiceOperation(std::string_view id, std::string_view summary, JsonObject response) {
  JsonObject responses{{"200", std::move(response)}};
  AddRefusals(std::array{400}, responses);
  return {{"operationId", id},
          {"summary", summary},
          {"tags", JsonArray{"API"}},
          {"security", JsonArray{}},
          {"parameters", JsonArray{Ref("parameters", "RequestId")}},
          {"responses", std::move(responses)}};
}

void AddServicePaths(UniqueNames& ids, JsonObject& paths) {
  const auto add = [&](std::string_view path, std::string_view id, std::string_view summary,
                       JsonObject response) {
    paths[path] = JsonObject{{"get", ServiceOperation(ids.Take(id), summary, std::move(response))}};
  };
  add(kApiPath, "getApi", "Say which API this is", Success("What this is.", "ApiMetadata", false));
  add(kOpenApiPath, "getOpenApi", "Show this document",
      Success("This document.", "OpenApiDocument", false));
  JsonObject page = Success("This document as a page.", "", false);
  page["content"] =
      JsonObject{{"text/html", JsonObject{{"schema", JsonObject{{"type", "string"}}}}}};
  add(kOpenApiPagePath, "getOpenApiPage", "Show this document as a page", std::move(page));
}

JsonObject Paths(const projections::Registry& registry, const SchemaNames& names) {
  JsonObject paths;
  UniqueNames ids;
  AddServicePaths(ids, paths);
  for (const ResourceOperation& operation : ResourceOperations(registry)) {
    JsonValue& path = paths[operation.pattern];
    if (path.is_null()) {
      path = JsonObject();
    }
    path.get_object()[LowerName(operation.method)] =
        OperationObject(registry, operation, names, ids);
  }
  return paths;
}

}  // namespace

JsonObject OpenApiDocument(const projections::Registry& registry, std::string_view version) {
  const SchemaNames names(registry);
  return {
      {"openapi", "3.0.3"},
      {"info",
       JsonObject{{"title", "HyperFleet API"},
                  {"version", version},
                  {"license", JsonObject{{"name", "Apache-2.0"},
                                         {"url", "https://www.apache.org/licenses/LICENSE-2.0"}}},
                  {"description",
                   "The resources that a fleet's control plane keeps. Errors are problem "
                   "documents (RFC 9457). HEAD is served wherever GET is."}}},
      {"servers", JsonArray{JsonObject{{"url", "/"}}}},
      {"tags", DocumentTags(registry)},
      {"security", JsonArray{JsonObject(), JsonObject{{"BearerAuth", JsonArray{}}}}},
      {"paths", Paths(registry, names)},
      {"components", JsonObject{{"schemas", ComponentSchemas(registry, names)},
                                {"parameters", ComponentParameters()},
                                {"headers", ComponentHeaders()},
                                {"responses", ComponentResponses()},
                                {"securitySchemes", ComponentSecurity()}}},
  };
}

}  // namespace api
