// Specs against the schemas of their kinds, in the words of the API.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/http/problem.h"
#include "api/spec_schema/spec_schemas.h"
#include "engine/base/mutex.h"
#include "projections/resources/rules.h"

namespace api {

// None: the spec is as the schema of its kind wants it, or the kind has none. Thread-safe; never
// blocks.
std::optional<projections::Refusal> RefuseSpec(const SpecSchemas& schemas, std::string_view kind,
                                               const JsonValue& spec);

// A spec whose kind only the store knows: that of a PATCH of `/resources/{id}`.
//
// Thread-safe; never blocks.
class LateSpecCheck {
 public:
  // `schemas` must outlive it.
  LateSpecCheck(const SpecSchemas& schemas, JsonValue spec)
      : schemas_(schemas), spec_(std::move(spec)) {}

  // As RefuseSpec. Remembers the last kind, so that it can be asked before the journal is locked
  // and again while it is.
  std::optional<projections::Refusal> For(std::string_view kind);

 private:
  const SpecSchemas& schemas_;
  const JsonValue spec_;
  engine::Mutex mutex_;
  std::optional<std::string> kind_ ABSL_GUARDED_BY(mutex_);
  std::optional<projections::Refusal> refusal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace api
