// SchemaRun: one check of a value against a compiled schema. Included by validator.cc,
// validator_parts.cc and validator_in_place.cc only.

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "api/spec_schema/validator.h"

namespace api {

// One thread; never blocks.
class SchemaRun {
 public:
  // `values`: how many values there are in what is checked, which bounds the looks.
  SchemaRun(const SchemaProgram& program, std::string_view name, std::size_t values);

  std::vector<SchemaError> Check(const JsonValue& value);

 private:
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
  struct Known {
    bool ok = false;
    bool reported = false;
    bool has_evaluated = false;
    Evaluated evaluated;
  };
  using Key = std::pair<NodeId, const JsonValue*>;

  bool LookAt(NodeId id, const JsonValue& value, const Trail* trail, bool report,
              Evaluated* evaluated);
  bool LookOnce(const Look& look);
  // All rules, or up to the first that is broken where nothing is told.
  bool CheckParts(const Look& look, Evaluated* evaluated);

  // validator_parts.cc
  bool CheckArray(const Look& look, const ArrayRules& rules, Evaluated* evaluated);
  bool CheckContains(const Look& look, const ArrayRules& rules, Evaluated* evaluated);
  bool CheckObject(const Look& look, const ObjectRules& rules, Evaluated* evaluated);
  bool CheckMember(const Look& look, const ObjectRules& rules, const JsonObject::value_type& member,
                   std::size_t index, Evaluated* evaluated);
  bool CheckNames(const Look& look, const ObjectRules& rules, const JsonObject& object);
  // What no schema for this value has looked at.
  bool CheckUnevaluated(const Look& look, Evaluated& evaluated);
  bool LookAtPart(NodeId id, const JsonValue& part, const Look& look, std::string_view step);

  // validator_in_place.cc: schemas for the same value.
  bool CheckInPlace(const Look& look, const InPlaceRules& rules, Evaluated* evaluated);
  bool CheckAlternatives(const Look& look, const InPlaceRules& rules, Evaluated* evaluated);
  bool CheckCondition(const Look& look, const InPlaceRules& rules, Evaluated* evaluated);
  bool Same(NodeId id, const Look& look, bool report, Evaluated* evaluated) {
    return LookAt(id, look.value, look.trail, report, evaluated);
  }

  static void Add(const Evaluated& from, Evaluated& to);
  static void Mark(Evaluated* evaluated, std::size_t index) {
    if (evaluated != nullptr) {
      (*evaluated)[index] = true;
    }
  }
  std::string PathOf(const Trail* trail) const {
    return trail == nullptr ? name_ : PathOf(trail->before) + "." + trail->step;
  }
  // Both are false, so that they can be returned.
  bool Fail(const Look& look, std::string_view what, std::string_view constraint);
  bool FailPart(const Look& look, std::string_view step, std::string_view what,
                std::string_view constraint);

  const SchemaProgram& program_;
  const std::string name_;
  const std::size_t budget_;
  std::size_t looks_ = 0;
  bool exhausted_ = false;
  absl::flat_hash_map<Key, Known> known_;
  std::deque<JsonValue> names_;
  std::vector<SchemaError> errors_;
};

}  // namespace api
