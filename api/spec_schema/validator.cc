#include "api/spec_schema/validator.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/spec_schema/scalar_check.h"
#include "api/spec_schema/validator_run.h"
#include "engine/base/guard.h"

namespace api {
namespace {

// Looks that schemas may take at one value, on average.
constexpr std::size_t kLooksPerValue = 4096;
constexpr std::size_t kLooksAtLeast = 1'000'000;

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

}  // namespace

SchemaRun::SchemaRun(const SchemaProgram& program, std::string_view name, std::size_t values)
    : program_(program), name_(name), budget_(std::max(kLooksAtLeast, kLooksPerValue * values)) {}

std::vector<SchemaError> SchemaRun::Check(const JsonValue& value) {
  const bool ok = LookAt(program_.root, value, nullptr, true, nullptr);
  if (exhausted_) {
    return {{name_, absl::StrFormat("%s is too large for its schema", name_), ""}};
  }
  if (!ok && errors_.empty()) {
    return {{name_, absl::StrFormat("%s does not match its schema", name_), ""}};
  }
  return ok ? std::vector<SchemaError>() : std::move(errors_);
}

bool SchemaRun::LookAt(NodeId id, const JsonValue& value, const Trail* trail, bool report,
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
        Add(known->second.evaluated, *evaluated);
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
    Add(found.evaluated, *evaluated);
  }
  known_.insert_or_assign(Key(id, &value), std::move(found));
  return known_.at(Key(id, &value)).ok;
}

bool SchemaRun::LookOnce(const Look& look) {
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
    Add(mine, *look.evaluated);
  }
  return ok;
}

bool SchemaRun::CheckParts(const Look& look, Evaluated* evaluated) {
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

void SchemaRun::Add(const Evaluated& from, Evaluated& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = to[i] || from[i];
  }
}

bool SchemaRun::Fail(const Look& look, std::string_view what, std::string_view constraint) {
  if (look.report && errors_.size() < kMaxSchemaErrors) {
    const std::string path = PathOf(look.trail);
    errors_.push_back({path, absl::StrFormat("%s %s", path, what), std::string(constraint)});
  }
  return false;
}

bool SchemaRun::FailPart(const Look& look, std::string_view step, std::string_view what,
                         std::string_view constraint) {
  const Trail trail{look.trail, std::string(step)};
  return Fail({look.node, look.value, &trail, look.report, nullptr}, what, constraint);
}

std::vector<SchemaError> CheckAgainst(const SchemaProgram& program, const JsonValue& value,
                                      std::string_view name) {
  return SchemaRun(program, name, CountValues(value)).Check(value);
}

}  // namespace api
