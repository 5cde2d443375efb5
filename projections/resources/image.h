// ResourcesImage: every resource at one position of the stream `resources`, ready to be asked.
//
//   const auto image = view.Get<ResourcesImage>();
//   const ResourceEntry* cluster = (*image)->Find(id);
//   ListPage page = ListPlan(**image, statuses, {.kind = "Cluster"}, {.page = 3}).Run();
//
// How it is kept: docs/resources.md.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/view.h"
#include "projections/resources/indexes.h"
#include "projections/resources/marks.h"
#include "projections/resources/order.h"
#include "projections/resources/target_index.h"
#include "projections/resources/tenant_scope.h"
#include "projections/search/spec_paths.h"
#include "projections/tree_snapshot.h"
#include "schemas/streams.h"

namespace projections {

namespace search {
struct Node;
}  // namespace search

// Which resources a list is over. Empty members do not restrict it.
struct ListScope {
  std::string_view kind = {};
  // Children of that resource only. REQUIRES: then `kind` is given too.
  std::string_view owner_id = {};
  // Only what refers to that resource by a reference of that type. Both or neither.
  // REQUIRES: then `kind` is given too.
  std::string_view ref_target_id = {};
  std::string_view ref_type = {};
  // Only what it sees is in the list, and counted.
  TenantScope tenant = TenantScope::All();
};

struct ListOptions {
  std::size_t page = 1;   // From 1 on.
  std::size_t size = 20;  // Items a page.
  Order order = DefaultOrder();
  // Only what it looks for. Null: everything.
  std::shared_ptr<const search::Node> search = nullptr;
  // The page begins behind that place, wherever it is now; `page` is not looked at then.
  // REQUIRES: it is one of `order`.
  std::optional<ListPlace> after = std::nullopt;
};

struct ListPage {
  std::vector<const ResourceEntry*> items;
  std::size_t total = 0;  // Of the whole list.
  bool has_more = false;  // There is something behind the page.
};

// What the image and the projection that builds it hold.
template <template <typename Entry, typename Less> class Tree>
struct ResourceTrees {
  Tree<OwnedEntry, ById> by_id;
  Tree<AgeKey, ByAge> by_age;
  Tree<KindKey, ByKind> by_kind;
  Tree<OwnerKey, ByOwner> by_owner;
  Tree<NameKey, ByName> by_name;
  Tree<TargetKey, ByTarget> by_target;
  Tree<MarkKey, ByMark> by_mark;
};
template <typename Entry, typename Less>
using ImageTree = TreeSnapshot<Entry, Less>;

// Texts of kinds, shared by their entries. Grows only; texts stay where they are.
using KindNames = std::set<std::string, std::less<>>;

// Immutable, so thread-safe; never blocks. Entries live as long as the image.
class ResourcesImage final : public engine::ProjectionImage {
 public:
  static constexpr engine::StreamId kStream = schemas::kResourcesStream;
  static constexpr engine::Freshness kNeeds = engine::Freshness::kLatest;

  ResourcesImage() = default;
  ResourcesImage(ResourceTrees<ImageTree> trees, std::shared_ptr<const KindNames> kinds,
                 std::shared_ptr<const search::SpecPaths> spec_paths, std::uint64_t digest,
                 std::size_t without_tenancy)
      : trees_(std::move(trees)),
        kinds_(std::move(kinds)),
        spec_paths_(std::move(spec_paths)),
        digest_(digest),
        without_tenancy_(without_tenancy) {}

  // The sum, modulo 2^64, over all resources, active and finalizing, of
  //   XXH3(key length u32, key, payload length u64, XXH3(payload) u64)
  // with little-endian integers. Positions, transactions and times of rows are no part of it, so
  // it is the same after compaction and for a copy of the journal.
  std::uint64_t StateDigest() const override { return digest_; }

  absl::Status Save(const engine::StatePartSink& sink) const override;

  // Active and finalizing ones together.
  std::size_t size() const { return trees_.by_id.size(); }

  // How many of them are no tenant's, so that only the system sees them where tenants are told
  // apart.
  std::size_t without_tenancy() const { return without_tenancy_; }

  // Null when there is no such resource (any more).
  const ResourceEntry* Find(std::string_view id) const;

  // The active resource that has the name, or null.
  const ResourceEntry* FindNamed(const NameProbe& name) const;

  // What ListPlan makes of it (projections/resources/lists.h) where there are no conditions.
  ListPage List(const ListScope& scope, const ListOptions& options) const;
  std::size_t Count(const ListScope& scope) const;

  // All children of an owner, active and finalizing, by kind, newest first.
  std::vector<const ResourceEntry*> Children(std::string_view owner_id) const;

  // What refers to a resource, whatever its kind and the types of its references, each once for
  // each of them.
  std::vector<const ResourceEntry*> Sources(std::string_view target_id) const;

  // The paths of the members that its specs have.
  const search::SpecPaths& spec_paths() const { return *spec_paths_; }

  // The indexes, for what makes lists of them (projections/resources/lists.h).
  const ResourceTrees<ImageTree>& trees() const { return trees_; }

  // Every resource, newest first: `for (const ResourceEntry* entry : image)`.
  class Iterator {
   public:
    explicit Iterator(TreeSnapshot<AgeKey, ByAge>::Iterator at) : at_(at) {}
    const ResourceEntry* operator*() const { return at_->entry; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    TreeSnapshot<AgeKey, ByAge>::Iterator at_;
  };
  Iterator begin() const { return Iterator(trees_.by_age.begin()); }
  Iterator end() const { return Iterator(trees_.by_age.end()); }

 private:
  ResourceTrees<ImageTree> trees_;
  std::shared_ptr<const KindNames> kinds_;
  std::shared_ptr<const search::SpecPaths> spec_paths_ =
      std::make_shared<const search::SpecPaths>();
  std::uint64_t digest_ = 0;
  std::size_t without_tenancy_ = 0;
};

}  // namespace projections
