// TenantScope: whose resources a caller may know of.
//
//   TenantScope::Of({{"org", "acme"}}).Sees(entry)   // the entry's tenancy has org=acme
//
// A resource carries the dimensions of who created it, and never loses one. A caller sees what
// contains all of the caller's own: {org: acme} sees {org: acme} and {org: acme, project: p}, and
// {org: acme, project: p} does not see {org: acme}. So whoever sees a child sees its owner: only
// who saw the owner could create the child.
//
// A scope restricts what a request is about and what a list shows. What keeps the state whole (a
// name is taken, a child is there, somebody refers to it) is judged over all resources, whoever
// asks. docs/tenancy.md says where scopes come from.

#pragma once

#include "projections/resources/entry.h"
#include "projections/resources/state.h"

namespace projections {

// A value: copies are independent. Thread-compatible; never blocks.
class TenantScope {
 public:
  // Sees everything: tenants are not told apart, or the caller is the system itself.
  static TenantScope All();
  // Sees what contains all of `dims`. Without any it sees nothing: a caller who belongs nowhere is
  // not one who belongs everywhere.
  static TenantScope Of(Tenancy dims);

  bool is_all() const { return is_all_; }
  // Empty of All.
  const Tenancy& dims() const { return dims_; }

  bool Sees(const ResourceEntry& entry) const { return Sees(entry.table()); }
  // The same for a state that is not in an image (any more).
  bool Sees(const schemas::Resource& resource) const;

  friend bool operator==(const TenantScope&, const TenantScope&) = default;

 private:
  TenantScope(bool is_all, Tenancy dims) : is_all_(is_all), dims_(std::move(dims)) {}

  bool is_all_;
  Tenancy dims_;
};

}  // namespace projections
