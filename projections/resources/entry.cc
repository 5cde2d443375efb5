#include "projections/resources/entry.h"

namespace projections {

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
