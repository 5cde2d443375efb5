#include "projections/resources/entry.h"

namespace projections {

std::shared_ptr<const ResourceEntry> ResourceEntry::Make(
    engine::Payload payload, const schemas::Resource& table, const std::string& kind,
    search::SpecPaths& paths, engine::Position position, std::uint64_t digest) {
  const search::OutlinedSpec spec = search::OutlineOf(schemas::Text(table.spec()), paths);
  const Behind behind{search::SpecOutline::SizeBehind(spec)};
  return std::shared_ptr<const ResourceEntry>(
      new (behind) ResourceEntry(std::move(payload), table, kind, spec, position, digest));
}

// There are few, so all are looked at.
std::optional<std::string_view> LabelOf(const ResourceEntry& entry, std::string_view key) {
  if (entry.table().labels() == nullptr) {
    return std::nullopt;
  }
  for (const schemas::KeyValue* label : *entry.table().labels()) {
    if (schemas::Text(label->key()) == key) {
      return schemas::Text(label->value());
    }
  }
  return std::nullopt;
}

}  // namespace projections
