// Matcher: a search, made ready to be held against many resources. Says what Matches
// (projections/search/evaluate.h) says, and reads of most specs nothing but their outline.
//
// Immutable, so thread-safe; never blocks.

#pragma once

#include <optional>
#include <vector>

#include "projections/resources/entry.h"
#include "projections/search/evaluate.h"
#include "projections/search/spec_outline.h"
#include "projections/search/spec_paths.h"
#include "projections/search/tree.h"
#include "projections/statuses/image.h"

namespace projections::search {

class Matcher {
 public:
  // What it needs of a resource, in the order in which it is cheap to come by.
  enum class Reads { kOutline, kRecord, kSpec, kStatus };

  // `search` outlives it. `paths` are those of the outlines of the entries it is asked about.
  Matcher(const Node& search, const SpecPaths& paths);

  // `statuses` has the conditions; null: there are none.
  bool Matches(const ResourceEntry& entry, const StatusesImage* statuses) const;

  // What it looks at first; what it looks at at last.
  Reads first() const { return root_.first; }
  Reads last() const { return root_.last; }

 private:
  struct Part {
    NodeKind kind = NodeKind::kTest;
    Reads first = Reads::kRecord;
    Reads last = Reads::kRecord;
    const Test* test = nullptr;
    // Of a test of a spec: the number of its path, and what its values are in outlines.
    std::optional<SpecPaths::Id> path = {};
    std::vector<std::optional<NumberCode>> numbers = {};
    std::vector<std::uint32_t> texts = {};
    std::vector<Part> children = {};  // What is cheap to look at first.
  };

  static Part PartOf(const Node& node, const SpecPaths& paths);
  static Part TestPart(const Test& test, const SpecPaths& paths);
  static Truth TruthOfSpec(const Part& part, const ResourceEntry& entry);
  // What the outline says; empty: it does not say.
  static std::optional<Truth> TruthOfOutlined(const Part& part, const OutlinedMember& member);

  const Part root_;
};

}  // namespace projections::search
