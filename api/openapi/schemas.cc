#include "api/openapi/schemas.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "api/http/problem.h"
#include "api/resources/bodies.h"
#include "projections/statuses/keys.h"

namespace api {
namespace {

// What every document has, whatever the registry.
constexpr std::array<std::string_view, 21> kShared = {
    "AdapterCondition",    "AdapterMetadata",   "AdapterStatus",         "AdapterStatusList",
    "AdapterStatusReport", "ApiMetadata",       "ForceDeleteRequest",    "ObjectReference",
    "OpenApiDocument",     "ProblemDetails",    "ReferenceTarget",       "ReportedCondition",
    "ResourceChange",      "ResourceCondition", "ResourceConditionPart", "ResourceHistory",
    "ResourcePart",        "ResourceSnapshot",  "ResourceStatus",        "ResourceStatusPart",
    "ValidationError"};

constexpr std::string_view kNamePattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

JsonObject Text(std::string_view description, std::size_t max_length = 0) {
  JsonObject text{{"type", "string"}, {"description", description}};
  if (max_length > 0) {
    text["maxLength"] = max_length;
  }
  return text;
}

JsonObject Time(std::string_view description) {
  return {{"type", "string"}, {"format", "date-time"}, {"description", description}};
}

JsonObject Integer(std::int64_t minimum, std::string_view description) {
  return {{"type", "integer"}, {"minimum", minimum}, {"description", description}};
}

JsonObject Choice(std::initializer_list<std::string_view> choices, std::string_view description) {
  JsonObject schema = Text(description);
  schema["enum"] = JsonArray(choices.begin(), choices.end());
  return schema;
}

JsonObject ListOf(JsonObject item) {
  return {{"type", "array"}, {"items", std::move(item)}};
}

JsonObject ObjectOf(std::string_view description, JsonObject properties,
                    std::initializer_list<std::string_view> required) {
  JsonObject schema{{"type", "object"}, {"description", description}};
  if (required.size() > 0) {
    schema["required"] = JsonArray(required.begin(), required.end());
  }
  schema["properties"] = std::move(properties);
  return schema;
}

JsonObject AnyObject(std::string_view description) {
  return {{"type", "object"}, {"description", description}, {"additionalProperties", true}};
}

JsonObject TextMap(std::string_view description) {
  return {{"type", "object"},
          {"description", description},
          {"additionalProperties", JsonObject{{"type", "string"}}}};
}

JsonObject Labels() {
  JsonObject labels = TextMap("For filtering and grouping.");
  labels["additionalProperties"].as_object()["maxLength"] = 63;
  return labels;
}

JsonObject SpecSchema(const KindSchemas& names) {
  return names.spec.empty() ? AnyObject("What is wanted; belongs to the kind.")
                            : Ref("schemas", names.spec);
}

JsonObject KindSchema(const projections::EntityDescriptor* kind) {
  return kind == nullptr ? Text("Which kind of resource this is.")
                         : Choice({kind->kind}, "Which kind of resource this is.");
}

JsonObject NameSchema(const projections::EntityDescriptor* kind) {
  const int min = kind == nullptr ? 0 : kind->name_min_len;
  const int max = kind == nullptr ? 0 : kind->name_max_len;
  JsonObject name = Text("Unique among active resources of the kind, or of the kind and owner.");
  name["pattern"] = kNamePattern;
  name["minLength"] = min > 0 ? min : 1;
  name["maxLength"] = max > 0 ? static_cast<std::int64_t>(max)
                              : static_cast<std::int64_t>(projections::Registry::kDefaultMaxName);
  return name;
}

JsonObject ResourceSchema(const projections::EntityDescriptor* kind, const KindSchemas& names) {
  JsonObject id = Text("UUID of version 7.");
  id["format"] = "uuid";
  JsonObject generation = Integer(1, "Rises with every change of spec or labels, and on deletion.");
  generation["format"] = "int32";
  JsonObject references{{"type", "object"},
                        {"description", "Links that own nothing, by their type."},
                        {"additionalProperties", ListOf(Ref("schemas", "ObjectReference"))}};
  JsonObject schema = ObjectOf(
      "A resource.",
      {{"id", std::move(id)},
       {"kind", KindSchema(kind)},
       {"name", Text("As it was created.")},
       {"href", Text("The path of this resource.")},
       {"spec", SpecSchema(names)},
       {"labels", Labels()},
       {"tenancy", TextMap("Whose it is; empty when nobody's.")},
       {"generation", std::move(generation)},
       {"owner_references", Ref("schemas", "ObjectReference")},
       {"references", std::move(references)},
       {"created_time", Time("When it was created.")},
       {"created_by", Text("Who created it.")},
       {"updated_time", Time("When a client last changed it.")},
       {"updated_by", Text("Who last changed it.")},
       {"deleted_time", Time("When its deletion was asked for; absent while it is active.")},
       {"deleted_by", Text("Who asked for its deletion.")},
       {"status", Ref("schemas", "ResourceStatus")}},
      {"id", "kind", "name", "href", "spec", "tenancy", "generation", "created_time", "created_by",
       "updated_time", "updated_by", "status"});
  if (kind != nullptr && !kind->is_root()) {
    schema["required"].as_array().emplace_back("owner_references");
  }
  return schema;
}

// A resource as it was: without its status, which has a history of its own.
JsonObject SnapshotSchema(const KindSchemas& names) {
  JsonObject schema = ResourceSchema(nullptr, names);
  schema["description"] = "A resource as it was, without its status.";
  schema["properties"].as_object().erase("status");
  JsonArray& required = schema["required"].as_array();
  required.erase(std::ranges::find(required, JsonValue("status")));
  return schema;
}

JsonObject ChangeSchema() {
  JsonObject removal =
      ObjectOf("Why the resource is gone.",
               {{"cause", Choice({"deleted", "cascaded", "forced", "finalized"},
                                 "By a DELETE of it or of one above it, by force, or when the last "
                                 "thing it waited for was gone.")},
                {"reason", Text("Of a removal by force.")}},
               {"cause"});
  return ObjectOf("One change of a resource.",
                  {{"position", Integer(1, "The place of the record in the stream `resources`.")},
                   {"tx", Integer(1, "The transaction that made it.")},
                   {"time", Time("When.")},
                   {"actor", Text("Who did it.")},
                   {"action", Choice({"create", "patch", "delete", "remove"},
                                     "`delete` asked for the deletion, `remove` ended it.")},
                   {"generation", Integer(1, "Of the resource, from then on.")},
                   {"resource", Ref("schemas", "ResourceSnapshot")},
                   {"removal", std::move(removal)}},
                  {"position", "tx", "time", "actor", "action"});
}

JsonObject HistorySchema() {
  return ObjectOf(
      "A page of the changes of a resource, newest first.",
      {{"items", ListOf(Ref("schemas", "ResourceChange"))},
       {"complete",
        JsonObject{{"type", "boolean"}, {"description", "The last item is its first change."}}},
       {"floor", Integer(1, "Older changes, at or below this position, were compacted.")},
       {"next", Text("The `cursor` of the next page; absent: there is none.")}},
      {"items", "complete"});
}

JsonObject ShownSchema(const KindSchemas& names) {
  return {{"description", "All of a resource, or what `fields` selects of it."},
          {"anyOf", JsonArray{Ref("schemas", names.resource), Ref("schemas", "ResourcePart")}}};
}

// Members of conditions may be missing, too.
JsonObject PartSchema(const KindSchemas& names) {
  JsonObject part = ResourceSchema(nullptr, names);
  part["description"] = "Some members of a resource.";
  part["required"] = JsonArray{"id"};
  part["properties"].as_object()["status"] = Ref("schemas", "ResourceStatusPart");
  return part;
}

JsonObject ListSchema(const KindSchemas& names) {
  return ObjectOf("One page of a list.",
                  {{"items", ListOf(Ref("schemas", names.shown))},
                   {"page", Integer(1, "Which page this is.")},
                   {"size", Integer(0, "How many items it has.")},
                   {"total", Integer(0, "How many the whole list has.")},
                   {"next_cursor", Text("Where the next page begins. Only where `cursor` was given "
                                        "and there is more.")}},
                  {"items", "page", "size", "total"});
}

// What a request may name as references: the types of the kind, or of any.
JsonObject RequestedReferences(const projections::EntityDescriptor* kind) {
  const auto targets = [] { return ListOf(Ref("schemas", "ReferenceTarget")); };
  JsonObject schema{{"type", "object"}, {"description", "Links that own nothing, by their type."}};
  if (kind == nullptr) {
    schema["additionalProperties"] = targets();
    return schema;
  }
  JsonObject properties;
  for (const projections::ReferenceDescriptor& type : kind->references) {
    JsonObject list = targets();
    list["description"] = "To resources of kind " + type.target_kind + ".";
    list["minItems"] = type.min;
    if (type.max > 0) {
      list["maxItems"] = type.max;
    }
    properties[type.ref_type] = std::move(list);
  }
  schema["properties"] = std::move(properties);
  schema["additionalProperties"] = false;
  return schema;
}

JsonObject CreateSchema(const projections::EntityDescriptor* kind, const KindSchemas& names) {
  return ObjectOf("What a resource is made from. Further members are ignored.",
                  {{"kind", KindSchema(kind)},
                   {"name", NameSchema(kind)},
                   {"spec", SpecSchema(names)},
                   {"labels", Labels()},
                   {"references", RequestedReferences(kind)}},
                  {"kind", "name", "spec"});
}

JsonObject PatchSchema(const projections::EntityDescriptor* kind, const KindSchemas& names) {
  JsonObject schema =
      ObjectOf("What replaces a part of a resource as a whole. Nothing else may be named.",
               {{"spec", SpecSchema(names)},
                {"labels", Labels()},
                {"references", RequestedReferences(kind)}},
               {});
  schema["minProperties"] = 1;
  schema["additionalProperties"] = false;
  return schema;
}

JsonObject ConditionSchema() {
  JsonObject generation = Integer(0, "The generation that this is about.");
  generation["format"] = "int32";
  return ObjectOf("One aspect of how far a resource has got.",
                  {{"type", Text("Which aspect.")},
                   {"status", Choice({"True", "False"}, "Whether it holds.")},
                   {"reason", Text("Why, in one word.")},
                   {"message", Text("Why, for people.")},
                   {"observed_generation", std::move(generation)},
                   {"created_time", Time("When the condition first appeared.")},
                   {"last_updated_time", Time("When it was last reported.")},
                   {"last_transition_time", Time("When its status last changed.")}},
                  {"type", "status", "observed_generation", "created_time", "last_updated_time",
                   "last_transition_time"});
}

JsonObject GenerationSchema(std::int64_t minimum, std::string_view description) {
  JsonObject generation = Integer(minimum, description);
  generation["format"] = "int32";
  return generation;
}

JsonObject ReportedConditionSchema() {
  return ObjectOf("What an adapter says about one aspect.",
                  {{"type", Text("Which aspect. Each once.")},
                   {"status", Choice({"True", "False", "Unknown"}, "Whether it holds.")},
                   {"reason", Text("Why, in one word.", projections::kMaxReportedReason)},
                   {"message", Text("Why, for people.", projections::kMaxReportedMessage)}},
                  {"type", "status"});
}

JsonObject AdapterConditionSchema() {
  JsonObject schema = ReportedConditionSchema();
  schema["properties"].as_object()["last_transition_time"] = Time("When its status last changed.");
  schema["required"].as_array().emplace_back("last_transition_time");
  return schema;
}

JsonObject AdapterMetadataSchema() {
  JsonObject attempt{
      {"type", "integer"}, {"format", "int32"}, {"description", "Which try it was."}};
  return ObjectOf("The job that the adapter ran.",
                  {{"job_name", Text("Its name.")},
                   {"job_namespace", Text("Where it ran.")},
                   {"attempt", std::move(attempt)},
                   {"started_time", Time("When it began.")},
                   {"completed_time", Time("When it ended.")},
                   {"duration", Text("How long it took.")}},
                  {});
}

JsonObject AdapterStatusSchema() {
  return ObjectOf(
      "The newest report of one adapter.",
      {{"adapter", Text("Who reported.")},
       {"observed_generation", GenerationSchema(1, "The generation that it is about.")},
       {"conditions", ListOf(Ref("schemas", "AdapterCondition"))},
       {"data", AnyObject("What else the adapter said.")},
       {"metadata", Ref("schemas", "AdapterMetadata")},
       {"created_time", Time("When it first reported.")},
       {"last_report_time", Time("When it last reported.")}},
      {"adapter", "observed_generation", "conditions", "data", "created_time", "last_report_time"});
}

JsonObject AdapterReportSchema() {
  JsonObject adapter = Text("Who reports.");
  adapter["minLength"] = 1;
  return ObjectOf(
      "What an adapter found. Further members are ignored.",
      {{"adapter", std::move(adapter)},
       {"observed_generation", GenerationSchema(1, "The generation that it is about.")},
       {"observed_time", Time("When it was found: at most 30 minutes ago, at most 5 minutes ahead. "
                              "Absent: now.")},
       {"conditions", ListOf(Ref("schemas", "ReportedCondition"))},
       {"data", AnyObject("What else there is to say.")},
       {"metadata", Ref("schemas", "AdapterMetadata")}},
      {"adapter", "observed_generation", "conditions"});
}

JsonObject ProblemSchema() {
  JsonArray codes;
  for (int i = 0; i <= static_cast<int>(ProblemCode::kTimeout); ++i) {
    codes.emplace_back(ProblemCodeName(static_cast<ProblemCode>(i)));
  }
  JsonObject type = Text("What kind of problem this is.");
  type["format"] = "uri";
  JsonObject code = Text("The same, more exactly.");
  code["enum"] = std::move(codes);
  return ObjectOf(
      "Why a request was refused (RFC 9457).",
      {{"type", std::move(type)},
       {"title", Text("The kind of problem, for people.")},
       {"status", Integer(400, "The status of the answer.")},
       {"detail", Text("What is wrong with this request.")},
       {"code", std::move(code)},
       {"timestamp", Time("When.")},
       {"instance", Text("The path of the request.")},
       {"trace_id",
        Text("The trace id of the request's `traceparent`, else the `X-Request-ID` of the "
             "answer; empty for an unknown path.")},
       {"errors", ListOf(Ref("schemas", "ValidationError"))},
       {"outcome", Choice({"none", "unknown"},
                          "Of a write that failed: nothing happened, or it may have been done.")}},
      {"type", "title", "status", "detail", "code", "timestamp", "instance", "trace_id"});
}

JsonObject ValidationErrorSchema() {
  return ObjectOf("What is wrong with one field.",
                  {{"field", Text("Which one.")},
                   {"message", Text("What is wrong, for people.")},
                   {"value", Text("What was sent.")},
                   {"constraint", Choice({"required", "min", "max", "min_length", "max_length",
                                          "pattern", "enum", "format", "unique"},
                                         "What it breaks.")}},
                  {"field", "message"});
}

JsonObject ForceDeleteSchema() {
  JsonObject reason = Text("For the audit. Not blank.");
  reason["minLength"] = 1;
  reason["maxLength"] = kMaxReasonCharacters;
  return ObjectOf("Why a resource is removed before everything it waits for is gone.",
                  {{"reason", std::move(reason)}}, {"reason"});
}

JsonObject MetadataSchema() {
  return ObjectOf("What this API is.",
                  {{"id", Choice({"hyperfleet"}, "Which API.")},
                   {"kind", Choice({"API"}, "What this is about.")},
                   {"href", Text("The path of this answer.")},
                   {"version", Text("Of the server.")},
                   {"build_time", Text("When the server was made.")}},
                  {"id", "kind", "href", "version", "build_time"});
}

JsonObject ReferenceSchema() {
  return ObjectOf("Another resource.",
                  {{"id", Text("Its id.")},
                   {"kind", Text("Its kind.")},
                   {"href", Text("Its path, where its kind is known.")}},
                  {"id", "kind"});
}

JsonObject TargetSchema() {
  return ObjectOf("A resource to refer to.",
                  {{"id", Text("Its id.")}, {"kind", Text("Its kind, as the type demands it.")}},
                  {"id", "kind"});
}

bool Takes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

std::string UniqueNames::Take(std::string_view wanted) {
  std::string base(wanted);
  for (char& c : base) {
    c = Takes(c) ? c : '_';
  }
  std::string name = base;
  for (int number = 2; !taken_.insert(name).second; ++number) {
    name = base + "_" + std::to_string(number);
  }
  return name;
}

SchemaNames::SchemaNames(const projections::Registry& registry) {
  UniqueNames names;
  for (const std::string_view shared : kShared) {
    names.Take(shared);
  }
  const auto add = [&](const projections::EntityDescriptor* kind, const std::string& name) {
    of_[kind] = {.resource = names.Take(name),
                 .shown = names.Take(name + "Shown"),
                 .list = names.Take(name + "List"),
                 .create = names.Take(name + "CreateRequest"),
                 .patch = names.Take(name + "PatchRequest"),
                 .spec = {}};
  };
  add(nullptr, "Resource");
  for (const projections::EntityDescriptor& kind : registry.entities()) {
    add(&kind, kind.kind);
  }
  // Kinds may share the schema of their specs.
  std::map<std::string, std::string> specs;
  for (const projections::EntityDescriptor& kind : registry.entities()) {
    const std::string& wanted = kind.spec_schema_name;
    if (!wanted.empty() && !specs.contains(wanted)) {
      specs[wanted] = names.Take(wanted);
    }
    of_[&kind].spec = wanted.empty() ? "" : specs[wanted];
  }
}

JsonObject Ref(std::string_view section, std::string_view name) {
  return {{"$ref", "#/components/" + std::string(section) + "/" + std::string(name)}};
}

JsonObject ComponentSchemas(const projections::Registry& registry, const SchemaNames& names) {
  JsonObject schemas{
      {"AdapterCondition", AdapterConditionSchema()},
      {"AdapterMetadata", AdapterMetadataSchema()},
      {"AdapterStatus", AdapterStatusSchema()},
      {"AdapterStatusList", ObjectOf("One page of a list.",
                                     {{"items", ListOf(Ref("schemas", "AdapterStatus"))},
                                      {"page", Integer(1, "Which page this is.")},
                                      {"size", Integer(0, "How many items it has.")},
                                      {"total", Integer(0, "How many the whole list has.")}},
                                     {"items", "page", "size", "total"})},
      {"AdapterStatusReport", AdapterReportSchema()},
      {"ReportedCondition", ReportedConditionSchema()},
      {"ApiMetadata", MetadataSchema()},
      {"ForceDeleteRequest", ForceDeleteSchema()},
      {"ObjectReference", ReferenceSchema()},
      {"OpenApiDocument", AnyObject("An OpenAPI 3.0 document.")},
      {"ProblemDetails", ProblemSchema()},
      {"ReferenceTarget", TargetSchema()},
      {"ResourceChange", ChangeSchema()},
      {"ResourceCondition", ConditionSchema()},
      {"ResourceHistory", HistorySchema()},
      {"ResourceSnapshot", SnapshotSchema(names.Of(nullptr))},
      {"ResourceStatus",
       ObjectOf("How far a resource has got.",
                {{"conditions", ListOf(Ref("schemas", "ResourceCondition"))}}, {"conditions"})},
      {"ValidationError", ValidationErrorSchema()}};
  JsonObject condition = ConditionSchema();
  condition.erase("required");
  schemas["ResourceConditionPart"] = std::move(condition);
  schemas["ResourceStatusPart"] =
      ObjectOf("Some members of conditions.",
               {{"conditions", ListOf(Ref("schemas", "ResourceConditionPart"))}}, {"conditions"});
  schemas["ResourcePart"] = PartSchema(names.Of(nullptr));
  const auto add = [&](const projections::EntityDescriptor* kind) {
    const KindSchemas& of = names.Of(kind);
    schemas[of.resource] = ResourceSchema(kind, of);
    schemas[of.shown] = ShownSchema(of);
    schemas[of.list] = ListSchema(of);
    schemas[of.create] = CreateSchema(kind, of);
    schemas[of.patch] = PatchSchema(kind, of);
    if (!of.spec.empty()) {
      schemas[of.spec] = AnyObject("What is wanted. Any object.");
    }
  };
  add(nullptr);
  for (const projections::EntityDescriptor& kind : registry.entities()) {
    add(&kind);
  }
  return schemas;
}

}  // namespace api
