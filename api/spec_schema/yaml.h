// JsonOfYaml: a YAML document as the JSON it stands for.
//
// Plain scalars are read by YAML 1.2's core schema: null, true, false and numbers; quoted ones and
// everything else are texts. Refused: a key that is there twice or is no scalar, merge keys (`<<`),
// a second document, nesting beyond 64, and more than 200,000 values once aliases stand for what
// they name, so a small text cannot become a huge document.
//
// Thread-safe; never blocks.

#pragma once

#include <cstddef>
#include <string>

#include <absl/status/statusor.h>

#include "api/json/parser.h"

namespace api {

inline constexpr std::size_t kMaxYamlValues = 200'000;

// Fails with kInvalidArgument, naming the line.
absl::StatusOr<JsonValue> JsonOfYaml(const std::string& text);

}  // namespace api
