// SchemaProgram: a JSON schema, read once and ready to run.
//
// A flat list of nodes, one for each (sub)schema that can be reached from the root; they name each
// other by number, so recursion costs nothing. compiler.h makes it, validator.h runs it.
// Immutable once made, so thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/parser.h"
#include "api/spec_schema/formats.h"
#include "api/spec_schema/pattern.h"

namespace api {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};

// Types that a value may have. A whole number has two.
enum TypeBit : std::uint8_t {
  kNullType = 1,
  kBooleanType = 2,
  kObjectType = 4,
  kArrayType = 8,
  kStringType = 16,
  kNumberType = 32,
  kIntegerType = 64,
};
inline constexpr std::uint8_t kAnyType = 0x7F;

struct Bound {
  JsonValue limit;
  bool exclusive = false;
};

// Of numbers and texts.
struct ScalarRules {
  std::vector<Bound> minimums;
  std::vector<Bound> maximums;
  std::optional<JsonValue> multiple_of;
  std::optional<std::size_t> min_length;  // Unicode code points.
  std::optional<std::size_t> max_length;
  std::optional<Pattern> pattern;
  Format format = Format::kAny;
};

struct ArrayRules {
  std::vector<NodeId> prefix;
  NodeId rest = kNoNode;  // Of the elements behind the prefix.
  NodeId contains = kNoNode;
  std::size_t min_contains = 1;
  std::optional<std::size_t> max_contains;
  std::optional<std::size_t> min_items;
  std::optional<std::size_t> max_items;
  bool unique = false;
  NodeId unevaluated = kNoNode;
};

struct ObjectRules {
  std::map<std::string, NodeId, std::less<>> properties;
  std::vector<std::pair<Pattern, NodeId>> patterns;
  NodeId additional = kNoNode;
  NodeId names = kNoNode;
  std::vector<std::string> required;
  std::optional<std::size_t> min_properties;
  std::optional<std::size_t> max_properties;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  NodeId unevaluated = kNoNode;
};

// Rules that other schemas make for the same value.
struct InPlaceRules {
  NodeId ref = kNoNode;
  std::vector<NodeId> all_of;
  std::vector<NodeId> any_of;
  std::vector<NodeId> one_of;
  NodeId not_this = kNoNode;
  NodeId condition = kNoNode;
  NodeId then = kNoNode;
  NodeId otherwise = kNoNode;
  std::vector<std::pair<std::string, NodeId>> dependent;  // Of objects that have the member.

  // Calls `visit` with each.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const NodeId one : {ref, not_this, condition, then, otherwise}) {
      if (one != kNoNode) {
        visit(one);
      }
    }
    for (const std::vector<NodeId>* list : {&all_of, &any_of, &one_of}) {
      for (const NodeId one : *list) {
        visit(one);
      }
    }
    for (const auto& [member, one] : dependent) {
      visit(one);
    }
  }
};

struct SchemaNode {
  bool never = false;  // The schema `false`.
  std::uint8_t types = kAnyType;
  bool nullable = false;  // Null passes, whatever else is demanded.
  std::optional<std::vector<JsonValue>> allowed;
  std::optional<JsonValue> constant;
  ScalarRules scalar;
  // None where the schema says nothing of arrays or objects.
  std::optional<ArrayRules> array;
  std::optional<ObjectRules> object;
  std::optional<InPlaceRules> in_place;
  // More than one schema leads here: what was found out about a value is remembered.
  bool is_shared = false;
};

struct SchemaProgram {
  std::vector<SchemaNode> nodes;
  NodeId root = 0;
};

}  // namespace api
