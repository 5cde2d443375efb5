// The orders in which the projection keeps its resources. Included by images only.
//
// Each order ends with the id, so that it is total and an entry is found by itself, whatever the
// records say. A probe is a prefix of the key.

#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "projections/resources/entry.h"
#include "projections/resources/state.h"

namespace projections {

// Ids are compared by hints first, which spares most comparisons a look into the entry.
template <typename A, typename B>
std::strong_ordering CompareIds(const A& a, const B& b) {
  return a.hint != b.hint ? a.hint <=> b.hint : a.id() <=> b.id();
}

class IdProbe {
 public:
  explicit IdProbe(std::string_view text) : hint(HintOf(text)), id_(text) {}
  // The first 16 hexadecimal digits of a UUID: they rise with the time it was made, so that new
  // resources are neighbours. Of any other text some number.
  static std::uint64_t HintOf(std::string_view text);
  std::string_view id() const { return id_; }

  const std::uint64_t hint;

 private:
  std::string_view id_;
};

// Any id that has the hint.
struct HintProbe {
  std::uint64_t hint;
};

// Owns the entry.
struct OwnedEntry {
  std::string_view id() const { return entry->id(); }

  std::uint64_t hint = 0;
  std::shared_ptr<const ResourceEntry> entry;
};
struct ById {
  bool operator()(const OwnedEntry& a, const OwnedEntry& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const OwnedEntry& a, const IdProbe& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const IdProbe& a, const OwnedEntry& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const OwnedEntry& a, const HintProbe& b) const { return a.hint < b.hint; }
  bool operator()(const HintProbe& a, const OwnedEntry& b) const { return a.hint < b.hint; }
};

// The other trees hold plain pointers to what the tree by id owns, beside the part of the key that
// decides most comparisons: a descent that had to look into entries would miss the cache at each.
using EntryPtr = const ResourceEntry*;

// Newest first, then by id: the default order of lists.
struct AgeKey {
  AgeKey() = default;
  explicit AgeKey(EntryPtr e) : created_micros(e->created_micros()), entry(e) {}

  std::int64_t created_micros = 0;
  EntryPtr entry = nullptr;
};
inline std::strong_ordering CompareAges(const AgeKey& a, const AgeKey& b) {
  if (a.created_micros != b.created_micros) {
    return b.created_micros <=> a.created_micros;
  }
  return a.entry->id() <=> b.entry->id();
}
struct ByAge {
  bool operator()(const AgeKey& a, const AgeKey& b) const { return CompareAges(a, b) < 0; }
};

struct KindKey {
  KindKey() = default;
  explicit KindKey(EntryPtr e) : kind(&e->kind_text()), age(e) {}

  const std::string* kind = nullptr;  // Entries of one kind share its text.
  AgeKey age;
};
struct KindProbe {
  std::string_view kind;
};
inline std::strong_ordering CompareKinds(const KindKey& a, const KindKey& b) {
  return a.kind == b.kind ? std::strong_ordering::equal : *a.kind <=> *b.kind;
}
struct ByKind {
  bool operator()(const KindKey& a, const KindKey& b) const {
    const std::strong_ordering kinds = CompareKinds(a, b);
    return (kinds != 0 ? kinds : CompareAges(a.age, b.age)) < 0;
  }
  bool operator()(const KindKey& a, const KindProbe& b) const { return *a.kind < b.kind; }
  bool operator()(const KindProbe& a, const KindKey& b) const { return a.kind < *b.kind; }
};

// Children only.
struct OwnerKey {
  OwnerKey() = default;
  explicit OwnerKey(EntryPtr e) : hint(IdProbe::HintOf(e->owner_id())), kind(e) {}
  std::string_view id() const { return kind.age.entry->owner_id(); }

  std::uint64_t hint = 0;  // Of the owner's id.
  KindKey kind;
};
struct OwnerKindProbe {
  OwnerKindProbe(std::string_view owner_id, std::string_view kind_text)
      : owner(owner_id), kind{kind_text} {}
  IdProbe owner;
  KindProbe kind;
};
struct ByOwner {
  bool operator()(const OwnerKey& a, const OwnerKey& b) const {
    const std::strong_ordering owners = CompareIds(a, b);
    return owners != 0 ? owners < 0 : ByKind{}(a.kind, b.kind);
  }
  bool operator()(const OwnerKey& a, const IdProbe& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const IdProbe& a, const OwnerKey& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const OwnerKey& a, const OwnerKindProbe& b) const {
    const std::strong_ordering owners = CompareIds(a, b.owner);
    return owners != 0 ? owners < 0 : ByKind{}(a.kind, b.kind);
  }
  bool operator()(const OwnerKindProbe& a, const OwnerKey& b) const {
    const std::strong_ordering owners = CompareIds(a.owner, b);
    return owners != 0 ? owners < 0 : ByKind{}(a.kind, b.kind);
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
bool HasName(const ResourceEntry& entry, const NameProbe& name);

// Active resources only, in an order that means nothing: by a hash of all that NameProbe has.
struct NameKey {
  NameKey() = default;
  explicit NameKey(EntryPtr e);

  std::uint64_t hash = 0;
  EntryPtr entry = nullptr;
};
struct HashedName {
  explicit HashedName(const NameProbe& n);

  std::uint64_t hash;
  const NameProbe& name;
};
struct ByName {
  bool operator()(const NameKey& a, const NameKey& b) const;
  bool operator()(const NameKey& a, const HashedName& b) const;
  bool operator()(const HashedName& a, const NameKey& b) const;
};

}  // namespace projections
