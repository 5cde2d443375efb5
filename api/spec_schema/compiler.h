// CompileSchema: a JSON schema into a program that checks values in linear time.
//
// Everything that could go wrong is found here, once: a keyword with a value it cannot have, a
// reference that leads nowhere or out of the document, a pattern that is none, schemas that demand
// themselves of the same value without end, nesting or a number of schemas beyond the limits, and
// `$dynamicRef`, whose meaning depends on how it was reached. Keywords that are unknown to the
// dialect are remarks, as the specifications want it; so are `discriminator`, `readOnly` and
// `writeOnly`.
//
// Thread-safe; never blocks.

#pragma once

#include <cstddef>

#include <absl/status/statusor.h>

#include "api/spec_schema/program.h"
#include "api/spec_schema/schema_index.h"

namespace api {

// Schemas in one program.
inline constexpr std::size_t kMaxSchemaNodes = 50'000;
// How many schemas may stand for one value one inside the other, by `$ref`, `allOf` and so on.
inline constexpr std::size_t kMaxSchemaChain = 32;

struct SchemaOptions {
  SchemaDialect dialect = SchemaDialect::k202012;
  // Whether `format` is demanded where it is one of formats.h.
  bool formats = false;
};

// Fails with kInvalidArgument: where in the document, and what is wrong there.
absl::StatusOr<SchemaProgram> CompileSchema(const SchemaIndex& index, const SchemaPlace& root,
                                            const SchemaOptions& options);

}  // namespace api
