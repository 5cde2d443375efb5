#include "projections/resources/tenant_scope.h"

#include <utility>

#include "engine/base/guard.h"

namespace projections {
namespace {

using PairList = flatbuffers::Vector<flatbuffers::Offset<schemas::KeyValue>>;

// Both are sorted by key.
bool Contains(const PairList* pairs, const Tenancy& dims) {
  auto wanted = dims.begin();
  const flatbuffers::uoffset_t size = pairs == nullptr ? 0 : pairs->size();
  for (flatbuffers::uoffset_t i = 0; i < size && wanted != dims.end(); ++i) {
    const schemas::KeyValue* pair = pairs->Get(i);
    if (schemas::Text(pair->key()) == wanted->first) {
      if (schemas::Text(pair->value()) != wanted->second) {
        return false;
      }
      ++wanted;
    }
  }
  return wanted == dims.end();
}

}  // namespace

TenantScope TenantScope::All() {
  return {true, {}};
}

TenantScope TenantScope::Of(Tenancy dims) {
  return {false, std::move(dims)};
}

bool TenantScope::Sees(const schemas::Resource& resource) const {
  if (is_all_) {
    return true;
  }
  if (!GUARD("tenant.no-dimensions", !dims_.empty())) {
    return false;
  }
  return GUARD("tenant.contains", Contains(resource.tenancy(), dims_));
}

}  // namespace projections
