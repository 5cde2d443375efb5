// What a search may ask of which field: the table of docs/resources.md, Search.
//
// Pure functions; thread-safe, never block. All refuse with WrongAt (projections/search/lexer.h).

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/search/lexer.h"
#include "projections/search/tree.h"

namespace projections::search {

// A value as it is written, before the field says what it is compared as.
enum class LiteralKind { kText, kNumber, kTime, kBool, kNull };
struct Literal {
  LiteralKind kind = LiteralKind::kText;
  std::string text = {};  // Of kNumber: as it was written.
  Decimal number = {};
  std::size_t offset = 0;
};

// The field of that name.
absl::StatusOr<Field> BindField(std::string_view name, std::size_t offset);

// A test of the field, which is at `offset`. `= null` is `is null`, `!= null` its negation; no
// other operator takes null but `in`, where it matches nothing.
absl::StatusOr<Node> BindTest(Field field, Operator op, std::vector<Literal> literals,
                              std::size_t offset);

// Neither labels nor conditions stand under a `not`, as clients of this language know it.
bool MayBeNegated(const Node& node);

}  // namespace projections::search
