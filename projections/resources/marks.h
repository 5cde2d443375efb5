// Marks: what resources are looked for by, beside kind, owner and age: each label, the name, and
// the tenancy. Included by image.h and what builds it.
//
// A mark is a hash of the kind and what it says. The index keeps one small key for each mark of a
// resource, by mark and then newest first: so the resources of a kind with a label are one range,
// in the order in which lists show them, and their number is known without looking at any.
//
// A hash can be shared by two marks. So what a range gives is looked at again before it is shown.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "projections/resources/indexes.h"

namespace projections {

std::uint64_t LabelMark(std::string_view kind, std::string_view key, std::string_view value);
std::uint64_t NameMark(std::string_view kind, std::string_view name);
// Of the resources whose tenancy contains `dims`. REQUIRES: one or two dimensions.
std::uint64_t TenancyMark(std::string_view kind, const Tenancy& dims);

// All marks of a resource, sorted: of its labels, its name, and every one and every two of its
// tenant dimensions.
std::vector<std::uint64_t> MarksOf(const ResourceEntry& entry);

struct MarkKey {
  MarkKey() = default;
  MarkKey(std::uint64_t m, EntryPtr e) : mark(m), age(e) {}

  std::uint64_t mark = 0;
  AgeKey age;
};
struct MarkProbe {
  std::uint64_t mark;
};
struct ByMark {
  bool operator()(const MarkKey& a, const MarkKey& b) const {
    return a.mark != b.mark ? a.mark < b.mark : CompareAges(a.age, b.age) < 0;
  }
  bool operator()(const MarkKey& a, const MarkProbe& b) const { return a.mark < b.mark; }
  bool operator()(const MarkProbe& a, const MarkKey& b) const { return a.mark < b.mark; }
};

}  // namespace projections
