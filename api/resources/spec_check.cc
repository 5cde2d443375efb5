#include "api/resources/spec_check.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"

namespace api {

std::optional<projections::Refusal> RefuseSpec(const SpecSchemas& schemas, std::string_view kind,
                                               const JsonValue& spec) {
  const std::string* const name = schemas.NameFor(kind);
  if (name == nullptr) {
    return std::nullopt;
  }
  const std::vector<SchemaError> errors = schemas.Check(kind, spec);
  if (GUARD("spec.schema", errors.empty())) {
    return std::nullopt;
  }
  projections::Refusal refusal;
  refusal.reason = projections::RefusalReason::kInvalidSpec;
  for (const SchemaError& error : errors) {
    refusal.detail += (refusal.detail.empty() ? "" : "; ") + error.message;
    refusal.errors.push_back({error.path, error.message, error.constraint});
  }
  refusal.detail =
      absl::StrFormat("the spec does not match the schema %s: %s", *name, refusal.detail);
  return refusal;
}

std::optional<projections::Refusal> LateSpecCheck::For(std::string_view kind) {
  engine::MutexLock lock(mutex_);
  if (!kind_ || *kind_ != kind) {
    refusal_ = RefuseSpec(schemas_, kind, spec_);
    kind_ = kind;
  }
  return refusal_;
}

}  // namespace api
