#include "api/spec_schema/compiler.h"

#include <algorithm>
#include <utility>

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_format.h>

#include "api/spec_schema/keywords.h"
#include "api/spec_schema/uri.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

class Compiler {
 public:
  Compiler(const SchemaIndex& index, const SchemaOptions& options)
      : index_(index), options_(options) {}

  absl::StatusOr<SchemaProgram> Run(const SchemaPlace& root) {
    SchemaProgram program;
    program.root = NodeOf(root);
    ++users_[program.root];
    // Reading a schema finds further ones.
    for (std::size_t next = 0; next < places_.size(); ++next) {
      if (!GUARD("schema.nodes", next < kMaxSchemaNodes)) {
        return absl::InvalidArgumentError(
            absl::StrFormat("more than %d schemas are in use", kMaxSchemaNodes));
      }
      const SchemaPlace place = places_[next];
      SchemaNode node;
      RETURN_IF_ERROR(Read(place, node));
      program.nodes.push_back(std::move(node));
    }
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      program.nodes[id].is_shared = users_[id] > 1;
    }
    RETURN_IF_ERROR(CheckChains(program));
    return program;
  }

 private:
  NodeId NodeOf(const SchemaPlace& place) {
    const auto [known, is_new] = ids_.emplace(place.schema, static_cast<NodeId>(places_.size()));
    if (is_new) {
      places_.push_back(place);
      users_.push_back(0);
    }
    return known->second;
  }

  // A schema that stands in `at` under `step`.
  NodeId Use(const JsonValue& schema, const SchemaPlace& at, const std::string& step) {
    const NodeId id = NodeOf({&schema, index_.BaseOf(at), at.pointer + step});
    ++users_[id];
    return id;
  }

  absl::Status Read(const SchemaPlace& place, SchemaNode& node) {
    if (const bool* is_anything = place.schema->if_bool()) {
      node.never = !*is_anything;
      return absl::OkStatus();
    }
    const JsonObject* schema = place.schema->if_object();
    if (schema == nullptr) {
      return Wrong(place, "a schema must be an object");
    }
    if (const JsonValue* ref = schema->if_contains("$ref");
        ref != nullptr && options_.dialect != SchemaDialect::k202012) {
      return ReadRef(*ref, place, node.in_place.emplace());
    }
    RETURN_IF_ERROR(ReadScalars(*schema, place, options_, node));
    RETURN_IF_ERROR(ReadArray(*schema, place, node));
    RETURN_IF_ERROR(ReadObject(*schema, place, node));
    return ReadInPlace(*schema, place, node);
  }

  absl::Status ReadRef(const JsonValue& ref, const SchemaPlace& place, InPlaceRules& rules) {
    if (!ref.is_string()) {
      return Wrong(place, "$ref must be a text");
    }
    const auto& text = ref.get_string();
    auto target = index_.Find(index_.BaseOf(place), {text.data(), text.size()});
    if (!target.ok()) {
      return Wrong(place, std::string_view(target.status().message().data(),
                                           target.status().message().size()));
    }
    rules.ref = NodeOf(*target);
    ++users_[rules.ref];
    return absl::OkStatus();
  }

  // One schema under a keyword.
  absl::Status ReadOne(const JsonObject& schema, const SchemaPlace& place, std::string_view key,
                       NodeId& out) {
    if (const JsonValue* value = schema.if_contains(key)) {
      if (!value->is_object() && !value->is_bool()) {
        return Wrong(place, absl::StrFormat("%s must be a schema", key));
      }
      out = Use(*value, place, PointerStep(key));
    }
    return absl::OkStatus();
  }

  // A list of them.
  absl::Status ReadMany(const JsonObject& schema, const SchemaPlace& place, std::string_view key,
                        std::vector<NodeId>& out) {
    const JsonValue* value = schema.if_contains(key);
    if (value == nullptr) {
      return absl::OkStatus();
    }
    if (!value->is_array() || value->get_array().empty()) {
      return Wrong(place, absl::StrFormat("%s must be a list of schemas", key));
    }
    for (const JsonValue& element : value->get_array()) {
      out.push_back(Use(element, place, absl::StrFormat("/%s/%d", key, out.size())));
    }
    return absl::OkStatus();
  }

  // Calls `visit` with the name and number of each schema in an object of them.
  template <class Visit>
  absl::Status ReadMap(const JsonObject& schema, const SchemaPlace& place, std::string_view key,
                       const Visit& visit) {
    ASSIGN_OR_RETURN(const JsonObject* map, ObjectMember(schema, place, key));
    if (map != nullptr) {
      for (const auto& member : *map) {
        const std::string step = PointerStep(key) + PointerStep(member.key());
        RETURN_IF_ERROR(visit(std::string(member.key()), Use(member.value(), place, step)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadArray(const JsonObject& schema, const SchemaPlace& place, SchemaNode& node) {
    ArrayRules rules;
    ASSIGN_OR_RETURN(const bool has_counts, ReadArrayCounts(schema, place, options_, rules));
    const JsonValue* items = schema.if_contains("items");
    if (options_.dialect == SchemaDialect::k202012) {
      RETURN_IF_ERROR(ReadMany(schema, place, "prefixItems", rules.prefix));
      RETURN_IF_ERROR(ReadOne(schema, place, "items", rules.rest));
      RETURN_IF_ERROR(ReadOne(schema, place, "contains", rules.contains));
      RETURN_IF_ERROR(ReadOne(schema, place, "unevaluatedItems", rules.unevaluated));
    } else if (items != nullptr && items->is_array() &&
               options_.dialect == SchemaDialect::kDraft4) {
      for (const JsonValue& element : items->get_array()) {
        rules.prefix.push_back(
            Use(element, place, absl::StrFormat("/items/%d", rules.prefix.size())));
      }
      RETURN_IF_ERROR(ReadOne(schema, place, "additionalItems", rules.rest));
    } else {
      RETURN_IF_ERROR(ReadOne(schema, place, "items", rules.rest));
    }
    if (has_counts || !rules.prefix.empty() || rules.rest != kNoNode || rules.contains != kNoNode ||
        rules.unevaluated != kNoNode) {
      node.array = std::move(rules);
    }
    return absl::OkStatus();
  }

  absl::Status ReadObject(const JsonObject& schema, const SchemaPlace& place, SchemaNode& node) {
    ObjectRules rules;
    ASSIGN_OR_RETURN(const bool has_counts, ReadObjectCounts(schema, place, options_, rules));
    RETURN_IF_ERROR(ReadMap(schema, place, "properties", [&rules](std::string name, NodeId id) {
      rules.properties.emplace(std::move(name), id);
      return absl::OkStatus();
    }));
    RETURN_IF_ERROR(ReadOne(schema, place, "additionalProperties", rules.additional));
    if (options_.dialect != SchemaDialect::kOpenApi30) {
      RETURN_IF_ERROR(ReadMap(schema, place, "patternProperties",
                              [&](const std::string& name, NodeId id) -> absl::Status {
                                ASSIGN_OR_RETURN(Pattern pattern, ReadPattern(place, name));
                                rules.patterns.emplace_back(std::move(pattern), id);
                                return absl::OkStatus();
                              }));
    }
    if (options_.dialect == SchemaDialect::k202012) {
      RETURN_IF_ERROR(ReadOne(schema, place, "propertyNames", rules.names));
      RETURN_IF_ERROR(ReadOne(schema, place, "unevaluatedProperties", rules.unevaluated));
    }
    if (has_counts || !rules.properties.empty() || !rules.patterns.empty() ||
        rules.additional != kNoNode || rules.names != kNoNode || rules.unevaluated != kNoNode) {
      node.object = std::move(rules);
    }
    return absl::OkStatus();
  }

  absl::Status ReadInPlace(const JsonObject& schema, const SchemaPlace& place, SchemaNode& node) {
    InPlaceRules rules;
    RETURN_IF_ERROR(ReadMany(schema, place, "allOf", rules.all_of));
    RETURN_IF_ERROR(ReadMany(schema, place, "anyOf", rules.any_of));
    RETURN_IF_ERROR(ReadMany(schema, place, "oneOf", rules.one_of));
    RETURN_IF_ERROR(ReadOne(schema, place, "not", rules.not_this));
    if (options_.dialect == SchemaDialect::k202012) {
      if (schema.contains("$dynamicRef")) {
        return Wrong(place, "$dynamicRef cannot be used: name the schema with $ref");
      }
      if (const JsonValue* ref = schema.if_contains("$ref")) {
        RETURN_IF_ERROR(ReadRef(*ref, place, rules));
      }
      RETURN_IF_ERROR(ReadOne(schema, place, "if", rules.condition));
      RETURN_IF_ERROR(ReadOne(schema, place, "then", rules.then));
      RETURN_IF_ERROR(ReadOne(schema, place, "else", rules.otherwise));
    }
    if (options_.dialect != SchemaDialect::kOpenApi30) {
      RETURN_IF_ERROR(ReadDependent(schema, place, rules));
    }
    bool any = false;
    rules.ForEach([&any](NodeId) { any = true; });
    if (any) {
      node.in_place = std::move(rules);
    }
    return absl::OkStatus();
  }

  absl::Status ReadDependent(const JsonObject& schema, const SchemaPlace& place,
                             InPlaceRules& rules) {
    const bool is_draft4 = options_.dialect == SchemaDialect::kDraft4;
    const std::string_view key = is_draft4 ? "dependencies" : "dependentSchemas";
    ASSIGN_OR_RETURN(const JsonObject* map, ObjectMember(schema, place, key));
    if (map == nullptr) {
      return absl::OkStatus();
    }
    for (const auto& member : *map) {
      // Lists of names are among the counts.
      if (!is_draft4 || !member.value().is_array()) {
        rules.dependent.emplace_back(
            member.key(), Use(member.value(), place, PointerStep(key) + PointerStep(member.key())));
      }
    }
    return absl::OkStatus();
  }

  // Takes away, again and again, what no remaining schema demands of its own value. What is left
  // in the end demands itself.
  absl::Status CheckChains(const SchemaProgram& program) const {
    std::vector<std::size_t> demands(program.nodes.size());
    const auto for_each = [&program](NodeId id, const auto& visit) {
      if (program.nodes[id].in_place) {
        program.nodes[id].in_place->ForEach(visit);
      }
    };
    for (NodeId id = 0; id < program.nodes.size(); ++id) {
      for_each(id, [&demands](NodeId other) { ++demands[other]; });
    }
    std::vector<NodeId> free;
    for (NodeId id = 0; id < program.nodes.size(); ++id) {
      if (demands[id] == 0) {
        free.push_back(id);
      }
    }
    std::vector<std::size_t> depth(program.nodes.size(), 1);
    for (std::size_t next = 0; next < free.size(); ++next) {
      const NodeId id = free[next];
      if (!GUARD("schema.chain", depth[id] <= kMaxSchemaChain)) {
        return Wrong(places_[id], "too many schemas stand for one value, one inside the other");
      }
      for_each(id, [&](NodeId other) {
        depth[other] = std::max(depth[other], depth[id] + 1);
        if (--demands[other] == 0) {
          free.push_back(other);
        }
      });
    }
    const auto left = std::ranges::find_if(demands, [](std::size_t count) { return count > 0; });
    if (!GUARD("schema.cycle", left == demands.end())) {
      return Wrong(places_[static_cast<std::size_t>(left - demands.begin())],
                   "the schema demands itself of the same value, without end");
    }
    return absl::OkStatus();
  }

  const SchemaIndex& index_;
  const SchemaOptions options_;
  std::vector<SchemaPlace> places_;  // By node.
  std::vector<std::size_t> users_;   // By node.
  absl::flat_hash_map<const JsonValue*, NodeId> ids_;
};

}  // namespace

absl::StatusOr<SchemaProgram> CompileSchema(const SchemaIndex& index, const SchemaPlace& root,
                                            const SchemaOptions& options) {
  return Compiler(index, options).Run(root);
}

}  // namespace api
