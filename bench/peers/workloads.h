// What the comparisons ask for, in the words of both sides.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/peers/relational.h"
#include "projections/resources/image.h"

namespace bench {

// A list. `search` is ours, `where` and its parameters are what the seed makes of the same text.
struct Workload {
  std::string name;
  std::string kind;
  std::string owner_id = {};
  projections::Tenancy tenancy = {};  // Of the caller; empty: one who sees all.
  std::string search = {};
  std::string where = {};
  std::vector<std::string> parameters = {};

  // All of it in one predicate.
  RelationalList Relational() const;
};

// For a fleet of `size` resources.
std::vector<Workload> Workloads(std::size_t size);

// Ends the program unless both answers to a list have the same items in the same order and the same
// total. Says what the total is.
void CompareLists(const std::string& name, const std::string& ours, const std::string& theirs);

// As the seed's parameter of `tenancy @>`.
std::string TenancyJson(const projections::Tenancy& tenancy);

}  // namespace bench
