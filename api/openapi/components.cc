#include "api/openapi/components.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "api/dispatch/idempotency.h"
#include "api/http/problem.h"
#include "api/openapi/schemas.h"
#include "api/resources/list_params.h"
#include "engine/base/check.h"
#include "projections/search/parser.h"

namespace api {
namespace {

constexpr auto kMaxSearch = static_cast<std::int64_t>(projections::search::kMaxSearchBytes);

struct Refused {
  int status;
  std::string_view why;
};
constexpr std::array<Refused, 10> kRefused = {{
    {400, "The request is not well-formed, or what it says cannot be."},
    {401, "There is no token, it is not valid, or it names nobody whom a change could be of."},
    {403,
     "It comes from a page of another site, its headers do not say whose it is, the system itself "
     "would change something, or `as_of` is from nobody who may."},
    {404, "There is no such resource."},
    {409, "The state of the resource, or of another one, forbids it."},
    {410, "The cursor is of a history that is gone, or older than what was compacted."},
    {412, "The resource is not as `If-Match` wants it."},
    {413, "The body, or what would be stored of it, is too large."},
    {422, "The `Idempotency-Key` was another request's, or a child is created without its parent."},
    {503,
     "The store cannot be reached, or too many requests wait: nothing was done, or `outcome` "
     "is `unknown`."},
}};

JsonObject Parameter(std::string_view name, std::string_view in, std::string_view description,
                     JsonObject schema) {
  return {{"name", name}, {"in", in}, {"description", description}, {"schema", std::move(schema)}};
}

JsonObject Bounded(std::int64_t maximum, std::int64_t fallback) {
  return {{"type", "integer"}, {"minimum", 1}, {"maximum", maximum}, {"default", fallback}};
}

JsonObject TextSchema() {
  return {{"type", "string"}};
}

std::string OrderDescription() {
  std::string text =
      "Fields to order by, a comma between them or the parameter repeated, each with ` asc` "
      "(the default) or ` desc` behind it. Ties are broken by id. One of: ";
  for (const std::string_view name : projections::ColumnNames()) {
    text += text.ends_with(": ") ? "" : ", ";
    text += name;
  }
  return text + ".";
}

std::string FieldsDescription() {
  std::string text =
      "Only these members, a comma between them or the parameter repeated; `id` is always there. "
      "Of conditions also single members: `status.conditions.reason`. One of: ";
  for (const std::string_view name : FieldNames()) {
    text += text.ends_with(": ") ? "" : ", ";
    text += name;
  }
  return text + ".";
}

JsonObject HeadersOf(std::initializer_list<std::string_view> names) {
  JsonObject headers;
  for (const std::string_view name : names) {
    headers[name] = Ref("headers", name);
  }
  return headers;
}

JsonObject Body(std::string_view type, std::string_view schema) {
  return {{type, JsonObject{{"schema", Ref("schemas", schema)}}}};
}

JsonObject RefusalResponse(std::string_view description, JsonObject headers) {
  return {{"description", description},
          {"headers", std::move(headers)},
          {"content", Body("application/problem+json", "ProblemDetails")}};
}

}  // namespace

JsonArray DocumentTags(const projections::Registry& registry) {
  JsonArray tags;
  const auto add = [&tags](std::string_view name, std::string_view description) {
    tags.push_back(JsonObject{{"name", name}, {"description", description}});
  };
  add("API", "What this service is, and this document.");
  add("Resource", "Resources of every kind.");
  for (const projections::EntityDescriptor& kind : registry.entities()) {
    if (kind.kind != "API" && kind.kind != "Resource") {
      add(kind.kind, "Resources of the kind " + kind.kind +
                         (kind.is_root() ? "." : ", each of a " + kind.parent_kind + "."));
    }
  }
  return tags;
}

JsonObject ComponentParameters() {
  JsonObject order = Parameter("order", "query", OrderDescription(), TextSchema());
  order["schema"].as_object()["default"] = "created_time desc";
  JsonObject freshness = Parameter(
      "freshness", "query",
      "`latest` shows what was acknowledged anywhere before the request; `cached` asks no store.",
      {{"type", "string"}, {"enum", JsonArray{"latest", "cached"}}, {"default", "latest"}});
  JsonObject id{{"type", "string"}, {"pattern", "^[A-Za-z0-9._-]{1,128}$"}};
  return {
      {"Page", Parameter("page", "query", "Which page, from 1 on.", Bounded(kMaxPage, 1))},
      {"Size",
       Parameter("size", "query", "Items a page.", Bounded(kMaxPageSize, kDefaultPageSize))},
      {"Order", std::move(order)},
      {"RefType", Parameter("ref_type", "query",
                            "With `ref_target_id`: only what refers to it by a reference of this "
                            "type.",
                            TextSchema())},
      {"RefTargetId",
       Parameter("ref_target_id", "query", "The id of the target of `ref_type`.", TextSchema())},
      {"Search", Parameter("search", "query",
                           "Only resources that fit, in a part of the language TSL: "
                           "`labels.team = 'x' and (generation > 3 or not name like 'dev-%')`.",
                           {{"type", "string"}, {"maxLength", kMaxSearch}})},
      {"Cursor", Parameter("cursor", "query",
                           "Instead of `page`: blank for the first page, then the `next_cursor` of "
                           "the page before. What does not move is shown once, whatever does.",
                           TextSchema())},
      {"Fields", Parameter("fields", "query", FieldsDescription(), TextSchema())},
      {"Kind", Parameter("kind", "query", "Only resources of this kind.", TextSchema())},
      {"Freshness", std::move(freshness)},
      {"AsOf",
       Parameter("as_of", "query",
                 "For operators: show what was true after this transaction (a number), or at this "
                 "time (RFC 3339).",
                 TextSchema())},
      {"AtLeast",
       Parameter("X-Halo-At-Least", "header",
                 "An `X-Halo-Cursor`: what it has, the answer has too, whatever the freshness.",
                 TextSchema())},
      {"HistoryLimit", Parameter("limit", "query", "How many changes at most.", Bounded(100, 20))},
      {"HistoryCursor",
       Parameter("cursor", "query", "`next` of the page before this one.", TextSchema())},
      {"IfMatch",
       Parameter("If-Match", "header", "ETags of which the resource must have one; `*` takes any.",
                 TextSchema())},
      {"IdempotencyKey",
       Parameter("Idempotency-Key", "header",
                 "Sent again with it, on any replica, the same request is done once and gets its "
                 "first answer, for 24 hours.",
                 {{"type", "string"}, {"minLength", 1}, {"maxLength", kMaxIdempotencyKeyBytes}})},
      {"RequestId", Parameter("X-Request-ID", "header",
                              "What the request is known by in logs, answers and the audit. Made "
                              "up where it is absent or something else.",
                              std::move(id))},
  };
}

JsonObject ComponentHeaders() {
  const auto header = [](std::string_view description, bool is_required) {
    return JsonObject{
        {"description", description}, {"required", is_required}, {"schema", TextSchema()}};
  };
  return {{"ETag",
           header("The version of the resource, for `If-Match`. Absent when it is gone.", false)},
          {"Retry-After", header("Seconds to wait.", true)},
          {"Vary", header("What the answer depends on.", true)},
          {"WWW-Authenticate", header("`Bearer`, and what is wrong with it.", true)},
          {"X-Halo-Cursor",
           header("A point in the history of the store that has all of the answer, for "
                  "`X-Halo-At-Least` and watches.",
                  false)},
          {"X-Halo-Tx", header("For operators: the transaction that the answer shows.", false)},
          {"X-Request-ID", header("What the request is known by.", true)}};
}

JsonObject ComponentResponses() {
  JsonObject responses;
  for (const Refused& refused : kRefused) {
    JsonObject headers = HeadersOf({"X-Request-ID", "X-Halo-Cursor", "Vary"});
    if (refused.status == 401) {
      headers["WWW-Authenticate"] = Ref("headers", "WWW-Authenticate");
    }
    if (refused.status == 503) {
      headers["Retry-After"] = Ref("headers", "Retry-After");
    }
    responses["Problem" + std::to_string(refused.status)] =
        RefusalResponse(refused.why, std::move(headers));
  }
  responses["Fault"] = RefusalResponse("The request could not be read, or the server is at fault.",
                                       HeadersOf({"X-Request-ID", "Vary"}));
  return responses;
}

JsonObject ComponentSecurity() {
  return {{"BearerAuth", JsonObject{{"type", "http"},
                                    {"scheme", "bearer"},
                                    {"description",
                                     "A token of an issuer that the server knows (RS256, RS384, "
                                     "RS512, PS256, ES256 or ES384), or an operator's."}}}};
}

JsonObject Success(std::string_view description, std::string_view schema, bool has_tag) {
  JsonObject headers = HeadersOf({"X-Request-ID", "X-Halo-Cursor", "X-Halo-Tx"});
  if (has_tag) {
    headers["ETag"] = Ref("headers", "ETag");
  }
  JsonObject response{{"description", description}, {"headers", std::move(headers)}};
  if (!schema.empty()) {
    response["content"] = Body("application/json", schema);
  }
  return response;
}

void AddRefusals(std::span<const int> statuses, JsonObject& responses) {
  for (const int status : statuses) {
    ENGINE_CHECK(std::ranges::find(kRefused, status, &Refused::status) != kRefused.end());
    responses[std::to_string(status)] = Ref("responses", "Problem" + std::to_string(status));
  }
  responses["default"] = Ref("responses", "Fault");
}

}  // namespace api
