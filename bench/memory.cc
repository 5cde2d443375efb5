// What a resource takes in memory, index by index, as malloc counts it. HALO_BENCH_RESOURCES says
// of how many (bench/support/fleet.h).
//
// Two figures for each index: `filled` in its own order, as a start does it, and `grown` by one
// resource after another, as a server that has run since the first one has it.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <malloc.h>

#include "bench/support/fleet.h"
#include "bench/support/or_die.h"
#include "projections/persistent_tree.h"
#include "projections/resources/projection.h"
#include "projections/statuses/projection.h"

namespace bench {
namespace {

using projections::EntryPtr;
using projections::ResourcesImage;
using Entries = std::vector<EntryPtr>;

double Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages >> pages;
  return static_cast<double>(pages) * 4096;
}

void Print(const char* what, double filled, double grown = -1) {
  const auto size = static_cast<double>(FleetSize());
  if (grown < 0) {
    std::printf("%-44s %8.0f\n", what, filled / size);
  } else {
    std::printf("%-44s %8.0f %8.0f\n", what, filled / size, grown / size);
  }
}

template <typename Key, typename Less>
double SizeOfTree(const std::vector<Key>& keys) {
  const double before = Allocated();
  projections::PersistentTree<Key, Less> tree;
  for (const Key& key : keys) {
    tree.Insert(key);
  }
  return Allocated() - before;
}

// `add` appends the keys of an entry.
template <typename Key, typename Less, typename Add>
std::pair<double, double> PrintTree(const char* name, const Entries& entries, const Add& add) {
  std::vector<Key> keys;
  for (const EntryPtr entry : entries) {
    add(entry, keys);
  }
  const double grown = SizeOfTree<Key, Less>(keys);
  std::sort(keys.begin(), keys.end(), Less{});
  const double filled = SizeOfTree<Key, Less>(keys);
  Print(name, filled, grown);
  return {filled, grown};
}

std::pair<double, double> PrintTrees(const Entries& entries) {
  std::pair<double, double> all;
  const auto count = [&all](const std::pair<double, double>& sizes) {
    all.first += sizes.first;
    all.second += sizes.second;
  };
  count(PrintTree<projections::AgeKey, projections::ByAge>(
      "  by age", entries, [](EntryPtr e, auto& keys) { keys.emplace_back(e); }));
  count(PrintTree<projections::KindKey, projections::ByKind>(
      "  by kind", entries, [](EntryPtr e, auto& keys) { keys.emplace_back(e); }));
  count(PrintTree<projections::OwnerKey, projections::ByOwner>("  by owner (half of them have one)",
                                                               entries, [](EntryPtr e, auto& keys) {
                                                                 if (!e->is_root()) {
                                                                   keys.emplace_back(e);
                                                                 }
                                                               }));
  count(PrintTree<projections::NameKey, projections::ByName>(
      "  by name", entries, [](EntryPtr e, auto& keys) { keys.emplace_back(e); }));
  count(PrintTree<projections::MarkKey, projections::ByMark>(
      "  by mark (labels, name, tenant)", entries, [](EntryPtr e, auto& keys) {
        for (const std::uint64_t mark : projections::MarksOf(*e)) {
          keys.emplace_back(mark, e);
        }
      }));
  return all;
}

void Apply(std::size_t i, const std::string& payload, engine::Projection& projection) {
  engine::Record record;
  record.stream = projection.stream();
  record.position = engine::Position{i + 1};
  record.key = FleetId(i);
  record.payload = engine::Payload(payload);
  OrDie(projection.Apply(record));
}

void PrintAll() {
  const double resident = ResidentBytes();
  std::printf("%zu resources, bytes each\n%-44s %8s %8s\n", FleetSize(), "", "filled", "grown");
  const double start = Allocated();
  projections::ResourcesProjection resources;
  double payloads = 0;
  for (std::size_t i = 0; i < FleetSize(); ++i) {
    const std::string payload = projections::EncodeResource(FleetResource(i));
    payloads += static_cast<double>(payload.size());
    Apply(i, payload, resources);
  }
  const double records = Allocated() - start;
  Print("record, as it is in the journal", payloads);
  Print("record and entry, with the tree by id", records);
  const auto image = std::static_pointer_cast<const ResourcesImage>(resources.Publish());
  Entries entries;
  for (const EntryPtr entry : *image) {
    entries.push_back(entry);
  }
  std::ranges::reverse(entries);
  const auto [filled, grown] = PrintTrees(entries);
  Print("resources, all", records + filled, records + grown);

  const double before = Allocated();
  projections::StatusesProjection statuses;
  for (std::size_t i = 0; i < FleetSize(); ++i) {
    Apply(i, projections::EncodeStatus(FleetId(i), FleetConditions(i)), statuses);
  }
  const auto kept = statuses.Publish();
  Print("two conditions, with their indexes", Allocated() - before);
  Print("resident, all of it", ResidentBytes() - resident);
}

}  // namespace
}  // namespace bench

int main() {
  bench::PrintAll();
  return 0;
}
