#include "projections/resources/order.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>

#include "engine/base/check.h"

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

ColumnValue Number(std::int64_t number) {
  return {.number = number};
}
ColumnValue TextValue(const flatbuffers::String* text) {
  return {.text = schemas::Text(text)};
}
ColumnValue Absent() {
  return {.absent = true};
}

ColumnValue OwnerValue(const ResourceEntry& entry, ResourceColumn column) {
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

ColumnValue DeletionValue(const ResourceEntry& entry, ResourceColumn column) {
  const schemas::Deletion* deletion = entry.table().deletion();
  if (deletion == nullptr) {
    return Absent();
  }
  return column == ResourceColumn::kDeletedTime ? Number(deletion->time())
                                                : TextValue(deletion->by());
}

}  // namespace

std::optional<ResourceColumn> FindColumn(std::string_view name) {
  const auto* found = std::ranges::find(kColumns, name, &NamedColumn::name);
  return found == kColumns.end() ? std::nullopt : std::optional(found->column);
}

std::string_view ColumnName(ResourceColumn column) {
  return std::ranges::find(kColumns, column, &NamedColumn::column)->name;
}

std::vector<std::string_view> ColumnNames() {
  std::vector<std::string_view> names;
  names.reserve(kColumns.size());
  for (const NamedColumn& column : kColumns) {
    names.push_back(column.name);
  }
  return names;
}

ColumnValue ValueOf(const ResourceEntry& entry, ResourceColumn column) {
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

ListPlace PlaceOf(const ResourceEntry& entry, std::span<const OrderTerm> order) {
  ListPlace place{.values = {}, .id = std::string(entry.id())};
  for (const OrderTerm& term : order) {
    const ColumnValue value = ValueOf(entry, term.column);
    place.values.push_back({value.absent, value.number, std::string(value.text)});
  }
  return place;
}

bool IsBehind(const ResourceEntry& entry, const ListPlace& place,
              std::span<const OrderTerm> order) {
  ENGINE_CHECK(place.values.size() == order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const PlaceValue& value = place.values[i];
    const auto compared =
        ValueOf(entry, order[i].column) <=> ColumnValue{value.absent, value.number, value.text};
    if (compared != 0) {
      return order[i].descending ? compared < 0 : compared > 0;
    }
  }
  return entry.id() > place.id;
}

}  // namespace projections
