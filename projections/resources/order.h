// The orders that a list of resources can be asked for.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "projections/resources/entry.h"

namespace projections {

enum class ResourceColumn {
  kId,
  kName,
  kKind,
  kHref,
  kGeneration,
  kCreatedTime,
  kUpdatedTime,
  kDeletedTime,
  kCreatedBy,
  kUpdatedBy,
  kDeletedBy,
  kOwnerId,
  kOwnerKind,
  kOwnerHref,
};

// `created_time`, ...; empty when there is no such column.
std::optional<ResourceColumn> FindColumn(std::string_view name);
std::string_view ColumnName(ResourceColumn column);
std::vector<std::string_view> ColumnNames();

// A number or a text, as the column has it; times are microseconds. Absent is the greatest.
struct ColumnValue {
  bool absent = false;
  std::int64_t number = 0;
  std::string_view text = {};  // In the entry.
  auto operator<=>(const ColumnValue&) const = default;
};
ColumnValue ValueOf(const ResourceEntry& entry, ResourceColumn column);

struct OrderTerm {
  ResourceColumn column = ResourceColumn::kCreatedTime;
  bool descending = false;
  friend bool operator==(const OrderTerm&, const OrderTerm&) = default;
};
using Order = std::vector<OrderTerm>;

// `created_time desc`, what lists are kept in.
Order DefaultOrder();

// Whether `a` comes before `b`; ties are broken by id, ascending, so that pages neither overlap
// nor leave anything out. Text is compared byte by byte. What is absent (deleted_time of an active
// resource, the owner of a root) is greater than everything else, as in Postgres.
bool ComesBefore(const ResourceEntry& a, const ResourceEntry& b, std::span<const OrderTerm> order);

// A place in a list, behind one of its resources: what the order looked at, and the id. It stays
// the same place when resources come, go or move.
struct PlaceValue {
  bool absent = false;
  std::int64_t number = 0;
  std::string text = {};
  friend bool operator==(const PlaceValue&, const PlaceValue&) = default;
};
struct ListPlace {
  std::vector<PlaceValue> values;  // One for each term of the order.
  std::string id;
  friend bool operator==(const ListPlace&, const ListPlace&) = default;
};
ListPlace PlaceOf(const ResourceEntry& entry, std::span<const OrderTerm> order);
// Whether the resource comes behind the place. REQUIRES: `place` is one of that order.
bool IsBehind(const ResourceEntry& entry, const ListPlace& place, std::span<const OrderTerm> order);

}  // namespace projections
