// Whether a resource is what a search looks for.
//
// As in SQL, a comparison with what a resource does not have is neither true nor false, and stays
// so under `not`: `not (deleted_by = 'x')` finds no active resource.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <algorithm>

#include "projections/resources/entry.h"
#include "projections/search/json_scan.h"
#include "projections/search/tree.h"
#include "projections/statuses/image.h"

namespace projections::search {

// In this order `and` is the least of its parts, `or` the greatest.
enum class Truth { kFalse, kUnknown, kTrue };

inline Truth TruthOf(bool is_true) {
  return is_true ? Truth::kTrue : Truth::kFalse;
}

// What a node says, and all below it. `judge` says it of one that is a test; any type will do that
// has `kind` and `children`.
template <typename AnyNode, typename Judge>
Truth TruthOfTree(const AnyNode& node, const Judge& judge) {
  switch (node.kind) {
    case NodeKind::kTest:
      return judge(node);
    case NodeKind::kNot: {
      const Truth truth = TruthOfTree(node.children.front(), judge);
      return truth == Truth::kUnknown ? truth : TruthOf(truth == Truth::kFalse);
    }
    case NodeKind::kAnd:
    case NodeKind::kOr:
      break;
  }
  const bool is_and = node.kind == NodeKind::kAnd;
  const Truth decides = TruthOf(!is_and);
  Truth all = TruthOf(is_and);
  for (const AnyNode& child : node.children) {
    const Truth truth = TruthOfTree(child, judge);
    if (truth == decides) {
      return truth;
    }
    all = is_and ? std::min(all, truth) : std::max(all, truth);
  }
  return all;
}

// Whether the test compares numbers of a spec. Else it compares texts.
bool IsOfNumbers(const Test& test);

// `statuses` has the conditions; null: there are none.
Truth TruthOfTest(const Test& test, const ResourceEntry& entry, const StatusesImage* statuses);
// The same of a member of a spec. REQUIRES: the test is of one.
Truth TruthOfMember(const Test& test, const JsonSlice& member);

// The definition of what a search finds. What lists use is projections/search/matcher.h, which is
// faster and says the same.
bool Matches(const Node& node, const ResourceEntry& entry, const StatusesImage* statuses);

}  // namespace projections::search
