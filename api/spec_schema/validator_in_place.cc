// Schemas that a schema has for the same value: references, alternatives, conditions.

#include <algorithm>

#include "api/spec_schema/validator_run.h"

namespace api {

bool SchemaRun::CheckInPlace(const Look& look, const InPlaceRules& rules, Evaluated* evaluated) {
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
  return CheckAlternatives(look, rules, evaluated) && CheckCondition(look, rules, evaluated) && ok;
}

bool SchemaRun::CheckAlternatives(const Look& look, const InPlaceRules& rules,
                                  Evaluated* evaluated) {
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

bool SchemaRun::CheckCondition(const Look& look, const InPlaceRules& rules, Evaluated* evaluated) {
  if (rules.condition == kNoNode) {
    return true;
  }
  const bool holds = Same(rules.condition, look, false, evaluated);
  const NodeId then = holds ? rules.then : rules.otherwise;
  return then == kNoNode || Same(then, look, look.report, evaluated);
}

}  // namespace api
