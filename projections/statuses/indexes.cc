#include "projections/statuses/indexes.h"

#include <compare>

namespace projections {
namespace {

std::strong_ordering CompareProbe(const ConditionKey& a, const ConditionProbe& b) {
  const std::strong_ordering types = std::string_view(*a.type) <=> b.type;
  return types != 0 ? types : a.status <=> b.status;
}

std::strong_ordering CompareProbe(const ConditionKey& a, const ConditionTimeProbe& b) {
  const std::strong_ordering conditions = CompareProbe(a, b.condition);
  return conditions != 0 ? conditions : a.updated_micros <=> b.updated_micros;
}

}  // namespace

bool ByCondition::operator()(const ConditionKey& a, const ConditionKey& b) const {
  if (a.type != b.type) {
    return *a.type < *b.type;
  }
  if (a.status != b.status) {
    return a.status < b.status;
  }
  if (a.updated_micros != b.updated_micros) {
    return a.updated_micros < b.updated_micros;
  }
  return a.entry->resource_id() < b.entry->resource_id();
}
bool ByCondition::operator()(const ConditionKey& a, const ConditionProbe& b) const {
  return CompareProbe(a, b) < 0;
}
bool ByCondition::operator()(const ConditionProbe& a, const ConditionKey& b) const {
  return CompareProbe(b, a) > 0;
}
bool ByCondition::operator()(const ConditionKey& a, const ConditionTimeProbe& b) const {
  return CompareProbe(a, b) < 0;
}
bool ByCondition::operator()(const ConditionTimeProbe& a, const ConditionKey& b) const {
  return CompareProbe(b, a) > 0;
}

}  // namespace projections
