#include "api/spec_schema/validator.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_format.h>

#include "api/spec_schema/scalar_check.h"
#include "api/spec_schema/values.h"
#include "engine/base/guard.h"

namespace api {
namespace {

// Looks that schemas may take at one value, on average.
constexpr std::size_t kLooksPerValue = 4096;
constexpr std::size_t kLooksAtLeast = 1'000'000;

// The way to a value: a list through the stack.
struct Trail {
  const Trail* before = nullptr;
  std::string step;
};

// Which members or elements of a value a schema has looked at.
using Evaluated = std::vector<bool>;

// One look at a value.
struct Look {
  const SchemaNode& node;
  const JsonValue& value;
  const Trail* trail = nullptr;
  bool report = false;   // Whether to tell what is wrong; else the first thing decides.
  Evaluated* evaluated;  // Null: nobody asks.
};

std::size_t CountValues(const JsonValue& value) {
  std::size_t count = 1;
  if (const JsonArray* array = value.if_array()) {
    for (const JsonValue& element : *array) {
      count += CountValues(element);
    }
  } else if (const JsonObject* object = value.if_object()) {
    for (const auto& member : *object) {
      count += CountValues(member.value());
    }
  }
  return count;
}

std::size_t SizeOf(const JsonValue& value) {
  return value.is_array()    ? value.get_array().size()
         : value.is_object() ? value.get_object().size()
                             : 0;
}

void AddTo(const Evaluated& from, Evaluated& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = to[i] || from[i];
  }
}

class Run {
 public:
  Run(const SchemaProgram& program, std::string_view name, std::size_t values)
      : program_(program), name_(name), budget_(std::max(kLooksAtLeast, kLooksPerValue * values)) {}

  std::vector<SchemaError> Check(const JsonValue& value) {
    const bool ok = LookAt(program_.root, value, nullptr, true, nullptr);
    if (exhausted_) {
      return {{name_, absl::StrFormat("%s is too large for its schema", name_), ""}};
    }
    if (!ok && errors_.empty()) {
      return {{name_, absl::StrFormat("%s does not match its schema", name_), ""}};
    }
    return ok ? std::vector<SchemaError>() : std::move(errors_);
  }

 private:
  struct Known {
    bool ok = false;
    bool reported = false;
    bool has_evaluated = false;
    Evaluated evaluated;
  };
  using Key = std::pair<NodeId, const JsonValue*>;

  bool LookAt(NodeId id, const JsonValue& value, const Trail* trail, bool report,
              Evaluated* evaluated) {
    const SchemaNode& node = program_.nodes[id];
    if (!node.is_shared) {
      return LookOnce({node, value, trail, report, evaluated});
    }
    const auto known = known_.find(Key(id, &value));
    if (known != known_.end() && !GUARD("schema.memo", false)) {
      const bool told = known->second.ok || known->second.reported || !report;
      if (told && (evaluated == nullptr || !known->second.ok || known->second.has_evaluated)) {
        if (evaluated != nullptr && known->second.ok) {
          AddTo(known->second.evaluated, *evaluated);
        }
        return known->second.ok;
      }
    }
    Known found;
    found.has_evaluated = evaluated != nullptr;
    found.evaluated.resize(evaluated == nullptr ? 0 : evaluated->size());
    found.ok =
        LookOnce({node, value, trail, report, evaluated == nullptr ? nullptr : &found.evaluated});
    found.reported = report;
    if (evaluated != nullptr && found.ok) {
      AddTo(found.evaluated, *evaluated);
    }
    known_.insert_or_assign(Key(id, &value), std::move(found));
    return known_.at(Key(id, &value)).ok;
  }

  bool LookOnce(const Look& look) {
    if (!GUARD("schema.budget", ++looks_ <= budget_)) {
      exhausted_ = true;
      return false;
    }
    if (look.node.nullable && look.value.is_null()) {
      return true;
    }
    if (const auto wrong = CheckScalar(look.node, look.value)) {
      return Fail(look, wrong->what, wrong->constraint);
    }
    const bool wants = (look.node.array && look.node.array->unevaluated != kNoNode) ||
                       (look.node.object && look.node.object->unevaluated != kNoNode);
    if (look.evaluated == nullptr && !wants) {
      return CheckParts(look, nullptr);
    }
    Evaluated mine(SizeOf(look.value));
    const bool ok = CheckParts(look, &mine) && CheckUnevaluated(look, mine);
    if (ok && look.evaluated != nullptr) {
      AddTo(mine, *look.evaluated);
    }
    return ok;
  }

  // All rules, or up to the first that is broken where nothing is told.
  bool CheckParts(const Look& look, Evaluated* evaluated) {
    bool ok = true;
    if (look.node.in_place) {
      ok = CheckInPlace(look, *look.node.in_place, evaluated);
    }
    if ((ok || look.report) && look.node.array && look.value.is_array()) {
      ok = CheckArray(look, *look.node.array, evaluated) && ok;
    }
    if ((ok || look.report) && look.node.object && look.value.is_object()) {
      ok = CheckObject(look, *look.node.object, evaluated) && ok;
    }
    return ok;
  }

  // ---- Arrays --------------------------------------------------------------------------------

  bool CheckArray(const Look& look, const ArrayRules& rules, Evaluated* evaluated) {
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

  bool CheckContains(const Look& look, const ArrayRules& rules, Evaluated* evaluated) {
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

  // ---- Objects -------------------------------------------------------------------------------

  bool CheckObject(const Look& look, const ObjectRules& rules, Evaluated* evaluated) {
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

  template <class Member>
  bool CheckMember(const Look& look, const ObjectRules& rules, const Member& member,
                   std::size_t index, Evaluated* evaluated) {
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

  bool CheckNames(const Look& look, const ObjectRules& rules, const JsonObject& object) {
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
      ok = Fail(look, absl::StrFormat("must have at least %d members", *rules.min_properties),
                "min");
    }
    if (rules.max_properties && object.size() > *rules.max_properties) {
      ok =
          Fail(look, absl::StrFormat("must have at most %d members", *rules.max_properties), "max");
    }
    return ok;
  }

  // What no schema for this value has looked at.
  bool CheckUnevaluated(const Look& look, Evaluated& evaluated) {
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

  // ---- Schemas for the same value --------------------------------------------------------------

  bool CheckInPlace(const Look& look, const InPlaceRules& rules, Evaluated* evaluated) {
    bool ok = rules.ref == kNoNode || Same(rules.ref, look, look.report, evaluated);
    for (const NodeId id : rules.all_of) {
      ok = (ok || look.report) && Same(id, look, look.report, evaluated) && ok;
    }
    if (look.value.is_object()) {
      for (const auto& [member, id] : rules.dependent) {
        if (look.value.get_object().contains(member)) {
          ok = (ok || look.report) && Same(id, look, look.report, evaluated) && ok;
        }
      }
    }
    if (!ok && !look.report) {
      return false;
    }
    return CheckAlternatives(look, rules, evaluated) && CheckCondition(look, rules, evaluated) &&
           ok;
  }

  bool CheckAlternatives(const Look& look, const InPlaceRules& rules, Evaluated* evaluated) {
    if (!rules.any_of.empty()) {
      bool any = false;
      for (const NodeId id : rules.any_of) {
        // Who asks what was looked at has to hear of all that match.
        any = ((!any || evaluated != nullptr) && Same(id, look, false, evaluated)) || any;
      }
      if (!any) {
        return Fail(look, "matches none of the alternatives (anyOf)", "");
      }
    }
    if (!rules.one_of.empty()) {
      const auto count = std::ranges::count_if(
          rules.one_of, [&](NodeId id) { return Same(id, look, false, evaluated); });
      if (count != 1) {
        return Fail(look,
                    count == 0 ? "matches none of the alternatives (oneOf)"
                               : "matches more than one of the alternatives (oneOf)",
                    "");
      }
    }
    if (rules.not_this != kNoNode && Same(rules.not_this, look, false, nullptr)) {
      return Fail(look, "is what it must not be (not)", "");
    }
    return true;
  }

  bool CheckCondition(const Look& look, const InPlaceRules& rules, Evaluated* evaluated) {
    if (rules.condition == kNoNode) {
      return true;
    }
    const bool holds = Same(rules.condition, look, false, evaluated);
    const NodeId then = holds ? rules.then : rules.otherwise;
    return then == kNoNode || Same(then, look, look.report, evaluated);
  }

  bool Same(NodeId id, const Look& look, bool report, Evaluated* evaluated) {
    return LookAt(id, look.value, look.trail, report, evaluated);
  }

  // ---- Telling -------------------------------------------------------------------------------

  bool LookAtPart(NodeId id, const JsonValue& part, const Look& look, std::string_view step) {
    if (!look.report) {
      return LookAt(id, part, nullptr, false, nullptr);
    }
    const Trail trail{look.trail, std::string(step)};
    return LookAt(id, part, &trail, true, nullptr);
  }

  static void Mark(Evaluated* evaluated, std::size_t index) {
    if (evaluated != nullptr) {
      (*evaluated)[index] = true;
    }
  }

  std::string PathOf(const Trail* trail) const {
    return trail == nullptr ? name_ : PathOf(trail->before) + "." + trail->step;
  }

  // Both are false, so that they can be returned.
  bool Fail(const Look& look, std::string_view what, std::string_view constraint) {
    if (look.report && errors_.size() < kMaxSchemaErrors) {
      const std::string path = PathOf(look.trail);
      errors_.push_back({path, absl::StrFormat("%s %s", path, what), std::string(constraint)});
    }
    return false;
  }

  bool FailPart(const Look& look, std::string_view step, std::string_view what,
                std::string_view constraint) {
    const Trail trail{look.trail, std::string(step)};
    return Fail({look.node, look.value, &trail, look.report, nullptr}, what, constraint);
  }

  const SchemaProgram& program_;
  const std::string name_;
  const std::size_t budget_;
  std::size_t looks_ = 0;
  bool exhausted_ = false;
  absl::flat_hash_map<Key, Known> known_;
  std::deque<JsonValue> names_;
  std::vector<SchemaError> errors_;
};

}  // namespace

std::vector<SchemaError> CheckAgainst(const SchemaProgram& program, const JsonValue& value,
                                      std::string_view name) {
  return Run(program, name, CountValues(value)).Check(value);
}

}  // namespace api
