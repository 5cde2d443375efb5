// The order in which the projection keeps references, so that all sources of a target are found
// in one piece. Included by image.h only.
//
// An entry has one key here for each of its references: by target, then the source's kind, the
// type of the reference, newest first, and id. So what one list shows (sources of one kind, by one
// type of reference) is one range, and so is everything that refers to a target.

#pragma once

#include <cstdint>
#include <string_view>

#include "projections/resources/indexes.h"

namespace projections {

struct TargetKey {
  TargetKey() = default;
  // REQUIRES: the entry has more than `p` references.
  TargetKey(EntryPtr e, std::uint32_t p) : place(p), kind(e) { hint = IdProbe::HintOf(id()); }

  EntryPtr source() const { return kind.age.entry; }
  const schemas::Reference& reference() const {
    return *source()->table().references()->Get(place);
  }
  // Of the target.
  std::string_view id() const { return schemas::Text(reference().target_id()); }
  std::string_view ref_type() const { return schemas::Text(reference().ref_type()); }

  std::uint64_t hint = 0;   // Of the target's id.
  std::uint32_t place = 0;  // Which of the source's references.
  KindKey kind;
};

// Sources of one kind, by one type of reference.
struct SourceProbe {
  SourceProbe(std::string_view target_id, std::string_view kind_text, std::string_view type)
      : target(target_id), kind{kind_text}, ref_type(type) {}
  IdProbe target;
  KindProbe kind;
  std::string_view ref_type;
};

inline std::strong_ordering CompareSources(const TargetKey& a, const SourceProbe& b) {
  if (const std::strong_ordering targets = CompareIds(a, b.target); targets != 0) {
    return targets;
  }
  const std::strong_ordering kinds = std::string_view(*a.kind.kind) <=> b.kind.kind;
  return kinds != 0 ? kinds : a.ref_type() <=> b.ref_type;
}

inline std::strong_ordering CompareTargets(const TargetKey& a, const TargetKey& b) {
  if (const std::strong_ordering targets = CompareIds(a, b); targets != 0) {
    return targets;
  }
  if (const std::strong_ordering kinds = CompareKinds(a.kind, b.kind); kinds != 0) {
    return kinds;
  }
  const std::strong_ordering types = a.ref_type() <=> b.ref_type();
  return types != 0 ? types : CompareAges(a.kind.age, b.kind.age);
}

struct ByTarget {
  bool operator()(const TargetKey& a, const TargetKey& b) const { return CompareTargets(a, b) < 0; }
  bool operator()(const TargetKey& a, const IdProbe& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const IdProbe& a, const TargetKey& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const TargetKey& a, const SourceProbe& b) const {
    return CompareSources(a, b) < 0;
  }
  bool operator()(const SourceProbe& a, const TargetKey& b) const {
    return CompareSources(b, a) > 0;
  }
};

// How many keys an entry has in this order.
inline std::uint32_t ReferenceCount(EntryPtr entry) {
  const auto* references = entry->table().references();
  return references == nullptr ? 0 : references->size();
}

}  // namespace projections
