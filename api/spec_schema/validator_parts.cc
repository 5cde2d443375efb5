// What a schema demands of the elements of an array and the members of an object.

#include <string>

#include <absl/strings/str_format.h>

#include "api/spec_schema/scalar_check.h"
#include "api/spec_schema/validator_run.h"

namespace api {

bool SchemaRun::CheckArray(const Look& look, const ArrayRules& rules, Evaluated* evaluated) {
  const JsonArray& array = look.value.get_array();
  if (const auto wrong = CheckArrayCounts(rules, array)) {
    return Fail(look, wrong->what, wrong->constraint);
  }
  bool ok = true;
  for (std::size_t i = 0; i < array.size() && (ok || look.report); ++i) {
    const NodeId id = i < rules.prefix.size() ? rules.prefix[i] : rules.rest;
    if (id != kNoNode) {
      ok = LookAtPart(id, array[i], look, std::to_string(i)) && ok;
      Mark(evaluated, i);
    }
  }
  return ok && CheckContains(look, rules, evaluated);
}

bool SchemaRun::CheckContains(const Look& look, const ArrayRules& rules, Evaluated* evaluated) {
  if (rules.contains == kNoNode) {
    return true;
  }
  const JsonArray& array = look.value.get_array();
  std::size_t count = 0;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (LookAt(rules.contains, array[i], nullptr, false, nullptr)) {
      ++count;
      Mark(evaluated, i);
    }
  }
  if (count < rules.min_contains) {
    return Fail(look, "has too few elements of the kind that is demanded", "min");
  }
  if (rules.max_contains && count > *rules.max_contains) {
    return Fail(look, "has too many elements of the kind that is limited", "max");
  }
  return true;
}

bool SchemaRun::CheckObject(const Look& look, const ObjectRules& rules, Evaluated* evaluated) {
  const JsonObject& object = look.value.get_object();
  bool ok = CheckNames(look, rules, object);
  std::size_t index = 0;
  for (const auto& member : object) {
    if (!ok && !look.report) {
      return false;
    }
    ok = CheckMember(look, rules, member, index++, evaluated) && ok;
  }
  return ok;
}

bool SchemaRun::CheckMember(const Look& look, const ObjectRules& rules,
                            const JsonObject::value_type& member, std::size_t index,
                            Evaluated* evaluated) {
  const std::string_view key(member.key().data(), member.key().size());
  bool ok = true;
  bool is_known = false;
  if (const auto property = rules.properties.find(key); property != rules.properties.end()) {
    ok = LookAtPart(property->second, member.value(), look, key);
    is_known = true;
  }
  for (const auto& [pattern, id] : rules.patterns) {
    if (pattern.IsFoundIn(key)) {
      ok = LookAtPart(id, member.value(), look, key) && ok;
      is_known = true;
    }
  }
  if (!is_known && rules.additional != kNoNode) {
    ok = program_.nodes[rules.additional].never
             ? FailPart(look, key, "is not a property of the schema", "")
             : LookAtPart(rules.additional, member.value(), look, key);
    is_known = true;
  }
  if (is_known) {
    Mark(evaluated, index);
  }
  if (rules.names != kNoNode) {
    // Where it stays, so that what is remembered of it is not taken for another name's.
    names_.emplace_back(boost::json::string(key));
    ok = (LookAt(rules.names, names_.back(), nullptr, false, nullptr) ||
          FailPart(look, key, "has a name that is not allowed", "")) &&
         ok;
  }
  return ok;
}

bool SchemaRun::CheckNames(const Look& look, const ObjectRules& rules, const JsonObject& object) {
  bool ok = true;
  for (const std::string& name : rules.required) {
    if (!object.contains(name)) {
      ok = FailPart(look, name, "is required", "required");
    }
  }
  for (const auto& [member, names] : rules.dependent_required) {
    for (const std::string& name : names) {
      if (object.contains(member) && !object.contains(name)) {
        ok = FailPart(look, name, absl::StrFormat("is required beside %s", member), "required");
      }
    }
  }
  if (rules.min_properties && object.size() < *rules.min_properties) {
    ok = Fail(look, absl::StrFormat("must have at least %d members", *rules.min_properties), "min");
  }
  if (rules.max_properties && object.size() > *rules.max_properties) {
    ok = Fail(look, absl::StrFormat("must have at most %d members", *rules.max_properties), "max");
  }
  return ok;
}

bool SchemaRun::CheckUnevaluated(const Look& look, Evaluated& evaluated) {
  bool ok = true;
  std::size_t index = 0;
  if (look.node.object && look.node.object->unevaluated != kNoNode && look.value.is_object()) {
    for (const auto& member : look.value.get_object()) {
      const std::string_view key(member.key().data(), member.key().size());
      if (!evaluated[index]) {
        ok = LookAtPart(look.node.object->unevaluated, member.value(), look, key) && ok;
        Mark(&evaluated, index);
      }
      ++index;
    }
  }
  if (look.node.array && look.node.array->unevaluated != kNoNode && look.value.is_array()) {
    for (const JsonValue& element : look.value.get_array()) {
      if (!evaluated[index]) {
        ok = LookAtPart(look.node.array->unevaluated, element, look, std::to_string(index)) && ok;
        Mark(&evaluated, index);
      }
      ++index;
    }
  }
  return ok;
}

bool SchemaRun::LookAtPart(NodeId id, const JsonValue& part, const Look& look,
                           std::string_view step) {
  if (!look.report) {
    return LookAt(id, part, nullptr, false, nullptr);
  }
  const Trail trail{look.trail, std::string(step)};
  return LookAt(id, part, &trail, true, nullptr);
}

}  // namespace api
