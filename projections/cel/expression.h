// Expression: a parsed expression of CEL. parser.h makes it, evaluator.h runs it.
//
// A flat list of nodes that name each other by number; a node stands behind those it uses.
// Immutable once made, so thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "projections/cel/value.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace projections::cel {

using NodeId = std::uint32_t;

enum class NodeKind {
  kLiteral,
  kVariable,   // `slot`
  kSelect,     // parts[0].text
  kHas,        // has(parts[0].text)
  kIndex,      // parts[0][parts[1]]
  kCall,       // function(parts...); a receiver is the first of them
  kList,       // parts; those in `marked` are optionals
  kMap,        // parts: key, value, key, value, ...
  kAnd,        // parts[0] && parts[1]
  kOr,         //
  kCondition,  // parts[0] ? parts[1] : parts[2]
  kFold,       // A macro: parts[0] is walked, `slot` is the element, parts[1] and [2] its bodies.
};

enum class Function {
  kNone,
  kNot,
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kDiffer,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kSize,
  kStartsWith,
  kEndsWith,
  kContains,
  kMatches,
  kToInt,
  kToUint,
  kToDouble,
  kToText,
  kToBool,
  kDynamic,
  kToJson,
  kDig,
  kOptionalNone,
  kOptionalOf,
  kOptionalOfNonZero,
  kHasValue,
  kValue,
  kOr,
  kOrValue,
};

enum class Fold { kAll, kExists, kExistsOne, kFilter, kMap };

struct Node {
  NodeKind kind = NodeKind::kLiteral;
  Value literal = {};
  std::string text = {};  // The member of a selection.
  Function function = Function::kNone;
  std::shared_ptr<const re2::RE2> pattern = nullptr;  // Of kMatches with a literal.
  Fold fold = Fold::kAll;
  bool optional = false;   // `.?` and `[?`
  std::uint32_t slot = 0;  // Of variables.
  std::vector<NodeId> parts = {};
  std::vector<bool> marked = {};  // Elements and entries with `?`.
  std::size_t offset = 0;         // In the source, for messages.
  std::size_t depth = 1;
};

struct Expression {
  std::vector<Node> nodes;
  NodeId root = 0;
  std::uint32_t slots = 0;  // Of the variables given and those of macros.
};

}  // namespace projections::cel
