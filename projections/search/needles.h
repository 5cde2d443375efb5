// Needles: a quick look at whether a spec can be what a search looks for, before the search itself
// is held against the resource. Most resources are none of it, and looking for a few bytes in a
// spec takes a fraction of the time that walking its members does.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "projections/resources/entry.h"
#include "projections/search/spec_signature.h"
#include "projections/search/tree.h"

namespace projections::search {

// A member, somewhere in a spec, with a text.
struct Needle {
  std::string key;    // As it stands before its value: `"region":`.
  std::string value;  // Has no character that JSON escapes.
  // Of the two. Empty: the value can be that of an object or an array.
  std::optional<SpecSignature::Bits> bits;
};

// All that a spec must have for the search to be true: of the tests for equality with a text that
// stand alone or between the outermost `and`s.
std::vector<Needle> NeedlesOf(const Node& node);

// False: no member of the spec, at any depth, has that key and value. True says nothing.
// REQUIRES: `spec` is canonical JSON.
bool MayHave(std::string_view spec, const Needle& needle);
// The same of the resource's spec, by its signature first.
bool MayHave(const ResourceEntry& entry, const Needle& needle);

// Whether any test is of a spec.
bool ReadsSpecs(const Node& node);

}  // namespace projections::search
