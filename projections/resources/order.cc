#include "projections/resources/order.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>

namespace projections {
namespace {

struct NamedColumn {
  std::string_view name;
  ResourceColumn column;
};
constexpr std::array kColumns = {
    NamedColumn{"id", ResourceColumn::kId},
    NamedColumn{"name", ResourceColumn::kName},
    NamedColumn{"kind", ResourceColumn::kKind},
    NamedColumn{"href", ResourceColumn::kHref},
    NamedColumn{"generation", ResourceColumn::kGeneration},
    NamedColumn{"created_time", ResourceColumn::kCreatedTime},
    NamedColumn{"updated_time", ResourceColumn::kUpdatedTime},
    NamedColumn{"deleted_time", ResourceColumn::kDeletedTime},
    NamedColumn{"created_by", ResourceColumn::kCreatedBy},
    NamedColumn{"updated_by", ResourceColumn::kUpdatedBy},
    NamedColumn{"deleted_by", ResourceColumn::kDeletedBy},
    NamedColumn{"owner_id", ResourceColumn::kOwnerId},
    NamedColumn{"owner_kind", ResourceColumn::kOwnerKind},
    NamedColumn{"owner_href", ResourceColumn::kOwnerHref},
};

// A number or a text; absent is the greatest.
struct Value {
  bool absent = false;
  std::int64_t number = 0;
  std::string_view text;
  auto operator<=>(const Value&) const = default;
};

Value Number(std::int64_t number) {
  return {.number = number, .text = {}};
}
Value TextValue(const flatbuffers::String* text) {
  return {.text = schemas::Text(text)};
}
Value Absent() {
  return {.absent = true, .text = {}};
}

Value OwnerValue(const ResourceEntry& entry, ResourceColumn column) {
  const schemas::Owner* owner = entry.table().owner();
  if (owner == nullptr) {
    return Absent();
  }
  switch (column) {
    case ResourceColumn::kOwnerKind:
      return TextValue(owner->kind());
    case ResourceColumn::kOwnerHref:
      return TextValue(owner->href());
    default:
      return TextValue(owner->id());
  }
}

Value DeletionValue(const ResourceEntry& entry, ResourceColumn column) {
  const schemas::Deletion* deletion = entry.table().deletion();
  if (deletion == nullptr) {
    return Absent();
  }
  return column == ResourceColumn::kDeletedTime ? Number(deletion->time())
                                                : TextValue(deletion->by());
}

Value ValueOf(const ResourceEntry& entry, ResourceColumn column) {
  const schemas::Resource& table = entry.table();
  switch (column) {
    case ResourceColumn::kId:
      return TextValue(table.id());
    case ResourceColumn::kName:
      return TextValue(table.name());
    case ResourceColumn::kKind:
      return TextValue(table.kind());
    case ResourceColumn::kHref:
      return TextValue(table.href());
    case ResourceColumn::kGeneration:
      return Number(table.generation());
    case ResourceColumn::kCreatedTime:
      return Number(table.created_time());
    case ResourceColumn::kUpdatedTime:
      return Number(table.updated_time());
    case ResourceColumn::kCreatedBy:
      return TextValue(table.created_by());
    case ResourceColumn::kUpdatedBy:
      return TextValue(table.updated_by());
    case ResourceColumn::kDeletedTime:
    case ResourceColumn::kDeletedBy:
      return DeletionValue(entry, column);
    case ResourceColumn::kOwnerId:
    case ResourceColumn::kOwnerKind:
    case ResourceColumn::kOwnerHref:
      return OwnerValue(entry, column);
  }
  return Absent();
}

}  // namespace

std::optional<ResourceColumn> FindColumn(std::string_view name) {
  const auto* found = std::ranges::find(kColumns, name, &NamedColumn::name);
  return found == kColumns.end() ? std::nullopt : std::optional(found->column);
}

std::vector<std::string_view> ColumnNames() {
  std::vector<std::string_view> names;
  names.reserve(kColumns.size());
  for (const NamedColumn& column : kColumns) {
    names.push_back(column.name);
  }
  return names;
}

Order DefaultOrder() {
  return {{ResourceColumn::kCreatedTime, true}};
}

bool ComesBefore(const ResourceEntry& a, const ResourceEntry& b, std::span<const OrderTerm> order) {
  for (const OrderTerm& term : order) {
    const auto compared = ValueOf(a, term.column) <=> ValueOf(b, term.column);
    if (compared != 0) {
      return term.descending ? compared > 0 : compared < 0;
    }
  }
  return a.id() < b.id();
}

}  // namespace projections
