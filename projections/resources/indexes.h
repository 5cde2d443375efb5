// The orders in which the projection keeps its resources. Included by image.h only.
//
// Each order ends with the id, so that it is total and an entry is found by itself, whatever the
// records say. A probe is a prefix of the key.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/checksum.h"
#include "projections/persistent_tree.h"
#include "projections/resources/entry.h"
#include "projections/resources/state.h"

namespace projections {

// Owns the entry. The hint spares most comparisons a look into the entry.
struct OwnedEntry {
  std::uint64_t hint = 0;
  std::shared_ptr<const ResourceEntry> entry;
};
struct IdProbe {
  explicit IdProbe(std::string_view text) : hint(HintOf(text)), id(text) {}
  // The first 16 hexadecimal digits of a UUID: they rise with the time it was made, so that new
  // resources are neighbours. Of any other text some number.
  static std::uint64_t HintOf(std::string_view text);

  std::uint64_t hint;
  std::string_view id;
};

struct ById {
  bool operator()(const OwnedEntry& a, const OwnedEntry& b) const {
    return Before(a.hint, a.entry->id(), b.hint, b.entry->id());
  }
  bool operator()(const OwnedEntry& a, const IdProbe& b) const {
    return Before(a.hint, a.entry->id(), b.hint, b.id);
  }
  bool operator()(const IdProbe& a, const OwnedEntry& b) const {
    return Before(a.hint, a.id, b.hint, b.entry->id());
  }

 private:
  static bool Before(std::uint64_t hint_a, std::string_view id_a, std::uint64_t hint_b,
                     std::string_view id_b) {
    return hint_a != hint_b ? hint_a < hint_b : id_a < id_b;
  }
};

// The other trees hold plain pointers to what the tree by id owns.
using EntryPtr = const ResourceEntry*;

// Newest first, then by id: the default order of lists.
inline std::strong_ordering CompareNewestFirst(EntryPtr a, EntryPtr b) {
  if (a->created_micros() != b->created_micros()) {
    return b->created_micros() <=> a->created_micros();
  }
  return a->id() <=> b->id();
}
inline std::strong_ordering CompareKinds(std::string_view a, std::string_view b) {
  // Entries of one kind share its text.
  return a.data() == b.data() && a.size() == b.size() ? std::strong_ordering::equal : a <=> b;
}

struct ByAge {
  bool operator()(EntryPtr a, EntryPtr b) const { return CompareNewestFirst(a, b) < 0; }
};

struct KindProbe {
  std::string_view kind;
};
struct ByKind {
  bool operator()(EntryPtr a, EntryPtr b) const {
    const std::strong_ordering kinds = CompareKinds(a->kind(), b->kind());
    return (kinds != 0 ? kinds : CompareNewestFirst(a, b)) < 0;
  }
  bool operator()(EntryPtr a, const KindProbe& b) const {
    return CompareKinds(a->kind(), b.kind) < 0;
  }
  bool operator()(const KindProbe& a, EntryPtr b) const {
    return CompareKinds(a.kind, b->kind()) < 0;
  }
};

// Children only.
struct OwnerProbe {
  std::string_view owner_id;
};
struct OwnerKindProbe {
  std::string_view owner_id;
  std::string_view kind;
};
struct ByOwner {
  bool operator()(EntryPtr a, EntryPtr b) const {
    const std::strong_ordering owners = a->owner_id() <=> b->owner_id();
    return owners != 0 ? owners < 0 : ByKind{}(a, b);
  }
  bool operator()(EntryPtr a, const OwnerProbe& b) const { return a->owner_id() < b.owner_id; }
  bool operator()(const OwnerProbe& a, EntryPtr b) const { return a.owner_id < b->owner_id(); }
  bool operator()(EntryPtr a, const OwnerKindProbe& b) const {
    const std::strong_ordering owners = a->owner_id() <=> b.owner_id;
    return (owners != 0 ? owners : CompareKinds(a->kind(), b.kind)) < 0;
  }
  bool operator()(const OwnerKindProbe& a, EntryPtr b) const {
    const std::strong_ordering owners = a.owner_id <=> b->owner_id();
    return (owners != 0 ? owners : CompareKinds(a.kind, b->kind())) < 0;
  }
};

// What an active resource has to itself: its name among the roots of its kind and tenancy, or
// among the children of its kind under one owner.
struct NameProbe {
  std::string_view kind;
  std::string_view owner_id;  // Empty: a root.
  std::string_view name;
  const Tenancy& tenancy;  // Of a root; not looked at otherwise.
};
// Active resources only.
struct ByName {
  bool operator()(EntryPtr a, EntryPtr b) const;
  bool operator()(EntryPtr a, const NameProbe& b) const;
  bool operator()(const NameProbe& a, EntryPtr b) const;
};

}  // namespace projections
