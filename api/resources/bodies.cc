#include "api/resources/bodies.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "api/json/canonical.h"
#include "api/json/parser.h"
#include "api/resources/problems.h"
#include "api/resources/spec_check.h"
#include "projections/resources/rules.h"

namespace api {
namespace {

std::string_view Text(const boost::json::string& text) {
  return {text.data(), text.size()};
}

std::optional<Problem> ParseObject(std::string_view body, JsonObject& object) {
  JsonParse parsed = ParseJson(body);
  Problem problem;
  if (!parsed.ok()) {
    problem.code = parsed.error.kind == JsonErrorKind::kNul ? ProblemCode::kValidation
                                                            : ProblemCode::kMalformed;
    problem.detail = "the body cannot be read as JSON: " + parsed.error.message;
    return problem;
  }
  JsonObject* found = parsed.value->if_object();
  if (found == nullptr) {
    problem.code = ProblemCode::kMalformed;
    problem.detail = "the body must be a JSON object";
    return problem;
  }
  object = std::move(*found);
  return std::nullopt;
}

// A member that is there and not null.
const JsonValue* Present(const JsonObject& object, std::string_view key) {
  const JsonValue* value = object.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Problem NotAnObject() {
  return FieldProblem("spec", "spec must be an object", "format");
}

// Reads a string member; an absent one is empty.
std::optional<Problem> ReadText(const JsonObject& object, std::string_view key, std::string& text) {
  const JsonValue* value = Present(object, key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    return FieldProblem(key, absl::StrFormat("%s must be a string", key), "format");
  }
  text = Text(value->get_string());
  return std::nullopt;
}

std::optional<Problem> CheckRoom(std::string_view spec, const projections::Labels& labels,
                                 const projections::RequestedReferences& references) {
  if (const auto refusal = projections::CheckSize(spec, labels, references)) {
    return ProblemOf(*refusal);
  }
  return std::nullopt;
}

// What a spec may look like before anything else is judged: if it is there at all, an object that
// the schema of its kind allows.
std::optional<Problem> CheckSpec(const JsonObject& object,
                                 const projections::EntityDescriptor& kind,
                                 const SpecSchemas& schemas) {
  const JsonValue* spec = object.if_contains("spec");
  if (spec == nullptr) {
    return std::nullopt;
  }
  if (!spec->is_object()) {
    return NotAnObject();
  }
  if (schemas.NameFor(kind.kind) == nullptr) {
    return std::nullopt;
  }
  // First: what a schema looks at, and remembers, is many times as large as the spec.
  if (auto problem = CheckRoom(CanonicalJson(*spec), {}, {})) {
    return problem;
  }
  const auto refusal = RefuseSpec(schemas, kind.kind, *spec);
  return refusal ? std::optional(ProblemOf(*refusal)) : std::nullopt;
}

std::optional<Problem> ReadSpec(const JsonObject& object, std::string& spec) {
  const JsonValue* value = object.if_contains("spec");
  if (value == nullptr) {
    return FieldProblem("spec", "spec is required", "required");
  }
  if (!value->is_object()) {
    return NotAnObject();
  }
  spec = CanonicalJson(*value);
  return std::nullopt;
}

std::optional<Problem> ReadLabels(const JsonObject& object, projections::Labels& labels) {
  const JsonValue* value = Present(object, "labels");
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_object()) {
    return FieldProblem("labels", "labels must be an object of strings", "format");
  }
  std::vector<projections::FieldError> errors;
  for (const auto& [key, label] : value->get_object()) {
    if (errors.size() >= projections::kLabelErrorsTold) {
      return FieldProblem(errors);
    }
    if (!label.is_string()) {
      errors.push_back({absl::StrFormat("labels[%s]", std::string_view(key)),
                        "the value of a label must be a string", "format"});
      continue;
    }
    labels.emplace(std::string(key), std::string(Text(label.get_string())));
  }
  for (projections::FieldError& error : projections::CheckLabels(labels)) {
    errors.push_back(std::move(error));
  }
  if (!errors.empty()) {
    return FieldProblem(errors);
  }
  return std::nullopt;
}

// One target: an object with id and kind. Absent ones are empty, which is judged with the rest.
std::optional<Problem> ReadTarget(const JsonValue& value, const std::string& field,
                                  projections::RequestedTarget& target) {
  if (!value.is_object()) {
    return FieldProblem(field, field + ": a target must be an object with id and kind", "format");
  }
  const std::pair<std::string_view, std::string*> texts[] = {{"id", &target.id},
                                                             {"kind", &target.kind}};
  for (const auto& [key, text] : texts) {
    const JsonValue* found = Present(value.get_object(), key);
    if (found != nullptr && !found->is_string()) {
      return FieldProblem(field, absl::StrFormat("%s: %s must be a string", field, key), "format");
    }
    *text = found == nullptr ? "" : Text(found->get_string());
  }
  return std::nullopt;
}

std::optional<Problem> ReadReferences(const JsonObject& object,
                                      projections::RequestedReferences& references) {
  const JsonValue* value = Present(object, "references");
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_object()) {
    return FieldProblem("references", "references must be an object", "format");
  }
  for (const auto& [key, targets] : value->get_object()) {
    const std::string type(key);
    const std::string field = "references." + type;
    if (!targets.is_array()) {
      return FieldProblem(field, field + " must be a list of targets", "format");
    }
    auto& requested = references[type];
    for (const JsonValue& target : targets.get_array()) {
      if (auto problem = ReadTarget(target, field, requested.emplace_back())) {
        return problem;
      }
    }
  }
  return std::nullopt;
}

std::optional<Problem> JudgeReferences(const projections::RequestedReferences& references,
                                       const projections::EntityDescriptor& kind) {
  if (const auto errors = projections::CheckReferences(references, kind); !errors.empty()) {
    return FieldProblem(errors);
  }
  return std::nullopt;
}

std::optional<Problem> ReadName(const JsonObject& object, CreateBody& create) {
  if (auto problem = ReadText(object, "name", create.name)) {
    return problem;
  }
  if (const auto errors = projections::CheckName(create.name, *create.kind); !errors.empty()) {
    return FieldProblem(errors);
  }
  return std::nullopt;
}

std::optional<Problem> ReadTypedCreate(const JsonObject& object, const SpecSchemas& schemas,
                                       CreateBody& create) {
  if (auto problem = CheckSpec(object, *create.kind, schemas)) {
    return problem;
  }
  std::string kind;
  if (auto problem = ReadText(object, "kind", kind)) {
    return problem;
  }
  if (kind.empty()) {
    return FieldProblem("kind", "kind is required", "required");
  }
  if (kind != create.kind->kind) {
    return FieldProblem("kind", absl::StrFormat("kind must be %s", create.kind->kind), "enum");
  }
  if (auto problem = ReadName(object, create)) {
    return problem;
  }
  if (auto problem = ReadSpec(object, create.spec)) {
    return problem;
  }
  return ReadLabels(object, create.labels);
}

std::optional<Problem> ReadRootCreate(const JsonObject& object,
                                      const projections::Registry& registry,
                                      const SpecSchemas& schemas, CreateBody& create) {
  if (auto problem = ReadSpec(object, create.spec)) {
    return problem;
  }
  if (auto problem = ReadLabels(object, create.labels)) {
    return problem;
  }
  std::string kind;
  if (auto problem = ReadText(object, "kind", kind)) {
    return problem;
  }
  create.kind = registry.FindKind(kind);
  if (kind.empty()) {
    return FieldProblem("kind", "kind is required", "required");
  }
  if (create.kind == nullptr) {
    return FieldProblem("kind", absl::StrFormat("unknown kind '%s'", kind), "enum");
  }
  if (!create.kind->is_root()) {
    return ChildNeedsParent(*create.kind, registry);
  }
  if (auto problem = CheckSpec(object, *create.kind, schemas)) {
    return problem;
  }
  return ReadName(object, create);
}

template <class Read>
std::variant<Problem, CreateBody> ParseCreate(std::string_view body, CreateBody create,
                                              const Read& read) {
  JsonObject object;
  if (auto problem = ParseObject(body, object)) {
    return *std::move(problem);
  }
  if (auto problem = read(object, create)) {
    return *std::move(problem);
  }
  if (auto problem = ReadReferences(object, create.references)) {
    return *std::move(problem);
  }
  if (auto problem = CheckRoom(create.spec, create.labels, create.references)) {
    return *std::move(problem);
  }
  if (auto problem = JudgeReferences(create.references, *create.kind)) {
    return *std::move(problem);
  }
  return create;
}

std::optional<Problem> CheckPatchKeys(const JsonObject& object) {
  Problem problem;
  bool any = false;
  for (const auto& [key, value] : object) {
    if (key != "spec" && key != "labels" && key != "references") {
      problem.code = ProblemCode::kMalformed;
      problem.detail = absl::StrFormat("'%s' cannot be patched", std::string_view(key));
      return problem;
    }
    any = any || !value.is_null();
  }
  if (!any) {
    problem.code = ProblemCode::kBadRequest;
    problem.detail = "a patch needs at least one of spec, labels and references";
    return problem;
  }
  return std::nullopt;
}

std::optional<Problem> ReadPatch(const JsonObject& object,
                                 const projections::EntityDescriptor* kind,
                                 const SpecSchemas& schemas, PatchBody& patch) {
  if (auto problem = CheckPatchKeys(object)) {
    return problem;
  }
  if (object.contains("spec")) {
    if (auto problem = ReadSpec(object, patch.spec.emplace())) {
      return problem;
    }
    if (kind == nullptr) {
      patch.unchecked_spec = object.at("spec");
    } else if (auto problem = CheckSpec(object, *kind, schemas)) {
      return problem;
    }
  }
  if (Present(object, "labels") != nullptr) {
    if (auto problem = ReadLabels(object, patch.labels.emplace())) {
      return problem;
    }
  }
  if (Present(object, "references") != nullptr) {
    if (auto problem = ReadReferences(object, patch.references.emplace())) {
      return problem;
    }
  }
  if (auto problem =
          CheckRoom(patch.spec.value_or(""), patch.labels.value_or(projections::Labels()),
                    patch.references.value_or(projections::RequestedReferences()))) {
    return problem;
  }
  return kind == nullptr || !patch.references ? std::nullopt
                                              : JudgeReferences(*patch.references, *kind);
}

std::size_t CountCharacters(std::string_view utf8) {
  std::size_t count = 0;
  for (const char c : utf8) {
    count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  }
  return count;
}

}  // namespace

std::variant<Problem, CreateBody> ParseTypedCreate(std::string_view body,
                                                   const projections::EntityDescriptor& kind,
                                                   const SpecSchemas& schemas) {
  CreateBody create;
  create.kind = &kind;
  return ParseCreate(body, std::move(create),
                     [&schemas](const JsonObject& object, CreateBody& found) {
                       return ReadTypedCreate(object, schemas, found);
                     });
}

std::variant<Problem, CreateBody> ParseRootCreate(std::string_view body,
                                                  const projections::Registry& registry,
                                                  const SpecSchemas& schemas) {
  return ParseCreate(body, {}, [&](const JsonObject& object, CreateBody& create) {
    return ReadRootCreate(object, registry, schemas, create);
  });
}

std::variant<Problem, PatchBody> ParsePatch(std::string_view body,
                                            const projections::EntityDescriptor* kind,
                                            const SpecSchemas& schemas) {
  JsonObject object;
  if (auto problem = ParseObject(body, object)) {
    return *std::move(problem);
  }
  PatchBody patch;
  if (auto problem = ReadPatch(object, kind, schemas, patch)) {
    return *std::move(problem);
  }
  return patch;
}

std::variant<Problem, std::string> ParseForceDelete(std::string_view body) {
  JsonObject object;
  if (auto problem = ParseObject(body, object)) {
    return *std::move(problem);
  }
  std::string reason;
  if (auto problem = ReadText(object, "reason", reason)) {
    return *std::move(problem);
  }
  if (reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    return FieldProblem("reason", "reason is required", "required");
  }
  if (CountCharacters(reason) > kMaxReasonCharacters) {
    return FieldProblem("reason", "reason is over 1024 characters", "max_length");
  }
  return reason;
}

Problem ChildNeedsParent(const projections::EntityDescriptor& kind,
                         const projections::Registry& registry) {
  const projections::EntityDescriptor* parent = registry.FindKind(kind.parent_kind);
  Problem problem;
  problem.code = ProblemCode::kValidation;
  problem.status = 422;
  problem.detail = absl::StrFormat("a %s is created under its parent: POST /%s/{id}/%s", kind.kind,
                                   parent->plural, kind.plural);
  return problem;
}

}  // namespace api
