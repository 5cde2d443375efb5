// The orders that a list of resources can be asked for.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <optional>
#include <span>
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
std::vector<std::string_view> ColumnNames();

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

}  // namespace projections
