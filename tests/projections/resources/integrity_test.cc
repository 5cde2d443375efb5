// Whatever is created, patched, deleted and force-deleted in whatever order: nothing is left
// without its owner, and nothing refers to what is not there.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "projections/resources/rules.h"
#include "tests/projections/resources/requests.h"
#include "tests/projections/resources/store.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

// Three levels, each policy, adapters on some, and references up, down, across and required ones.
Registry Tangled() {
  std::vector<EntityDescriptor> entities = ThreeLevels().entities();
  entities[0].references = {{"peer", "Top", 0, 0}, {"leaf", "Leaf", 0, 2}};
  entities[2].references = {{"link", "Middle", 0, 0}};
  entities[3].references = {{"home", "Top", 0, 1}};
  entities[4].references = {{"dep", "Leaf", 1, 2}};
  return *Registry::Create(std::move(entities));
}

class Tangle {
 public:
  explicit Tangle(engine::Random& random) : random_(random) {}

  void Mutate() {
    const std::uint64_t dice = random_.Below(100);
    if (dice < 50 || store_.image()->size() == 0) {
      Create();
    } else if (dice < 70) {
      Patch();
    } else if (dice < 92) {
      Count(store_.Delete(AnyId()));
    } else {
      Count(store_.ForceDelete(AnyId()));
    }
  }

  const TestStore& store() const { return store_; }
  int refused(RefusalReason reason) const { return refused_[static_cast<std::size_t>(reason)]; }

 private:
  void Count(const Judgement& judgement) {
    if (judgement.refusal.has_value()) {
      ++refused_[static_cast<std::size_t>(judgement.refusal->reason)];
    }
  }
  std::string AnyId() {
    const ListPage page = store_.image()->List({}, {.size = 60});
    return std::string(page.items[random_.Below(page.items.size())]->id());
  }
  std::string AnyOf(std::string_view kind) {
    const ListPage page = store_.image()->List({.kind = kind}, {.size = 8});
    return page.items.empty() ? store_.NextId()
                              : std::string(page.items[random_.Below(page.items.size())]->id());
  }
  // Mostly what the kind allows, whatever its targets are up to.
  RequestedReferences AnyReferences(const EntityDescriptor& kind) {
    RequestedReferences references;
    for (const ReferenceDescriptor& type : kind.references) {
      for (std::uint64_t i = random_.Below(3); i > 0; --i) {
        references[type.ref_type].push_back({AnyOf(type.target_kind), type.target_kind});
      }
    }
    return references;
  }
  void Create() {
    const std::vector<EntityDescriptor>& kinds = store_.registry().entities();
    const EntityDescriptor& kind = kinds[random_.Below(kinds.size())];
    CreateRequest request = Creation(store_, kind.kind, "n-" + std::to_string(random_.Below(1000)),
                                     kind.is_root() ? std::string() : AnyOf(kind.parent_kind));
    request.references = AnyReferences(kind);
    Count(store_.Do(request));
  }
  void Patch() {
    const std::string id = AnyId();
    const auto& kind = *store_.registry().FindKind(store_.Find(id)->kind());
    Count(store_.Do(PatchReferences(id, AnyReferences(kind))));
  }

  TestStore store_{Tangled()};
  engine::Random& random_;
  std::vector<int> refused_ = std::vector<int>(32);
};

// What has to hold of one resource among all.
void ExpectWhole(const ResourceEntry& entry, const ResourcesImage& image,
                 const Registry& registry) {
  const EntityDescriptor& kind = *registry.FindKind(entry.kind());
  if (!entry.is_root()) {
    const ResourceEntry* owner = image.Find(entry.owner_id());
    ASSERT_NE(owner, nullptr) << "an orphan: " << entry.name();
    EXPECT_TRUE(entry.is_deleting() || !owner->is_deleting());
  }
  if (entry.is_deleting()) {
    EXPECT_FALSE(kind.required_adapters.empty() && image.Children(entry.id()).empty());
    EXPECT_EQ(ReferenceCount(&entry), 0U);
    EXPECT_TRUE(image.Sources(entry.id()).empty());
    return;
  }
  std::map<std::string, int> counts;
  for (const ReferenceState& reference : ReferencesOf(entry.table())) {
    const ResourceEntry* target = image.Find(reference.target_id);
    ASSERT_NE(target, nullptr) << entry.name() << " refers to nothing";
    EXPECT_EQ(target->kind(), reference.target_kind);
    ++counts[reference.ref_type];
    const std::vector<const ResourceEntry*> sources = image.Sources(reference.target_id);
    EXPECT_NE(std::ranges::find(sources, &entry), sources.end());
  }
  for (const ReferenceDescriptor& type : kind.references) {
    EXPECT_GE(counts[type.ref_type], type.min);
    EXPECT_TRUE(type.max == 0 || counts[type.ref_type] <= type.max);
  }
}

// All of it; and that the index of targets has no more than there is.
void ExpectWhole(const ResourcesImage& image, const Registry& registry) {
  std::size_t references = 0;
  std::size_t indexed = 0;
  for (const ResourceEntry* entry : image) {
    ExpectWhole(*entry, image, registry);
    references += ReferenceCount(entry);
    indexed += image.Sources(entry->id()).size();
  }
  EXPECT_EQ(indexed, references);
}

TEST(IntegrityTest, NoOrderOfRequestsLeavesAnOrphanOrADanglingReference) {
  support::SeededRandom random;
  Tangle tangle(random);
  for (int i = 0; i < 4000 && !testing::Test::HasFailure(); ++i) {
    tangle.Mutate();
    if (i % 8 == 0) {
      SCOPED_TRACE(i);
      ExpectWhole(*tangle.store().image(), tangle.store().registry());
    }
  }
  // That each of the rules had something to refuse.
  for (const RefusalReason reason :
       {RefusalReason::kActiveChildren, RefusalReason::kReferenced,
        RefusalReason::kInvalidReference, RefusalReason::kMarkedForDeletion}) {
    EXPECT_GT(tangle.refused(reason), 0) << static_cast<int>(reason);
  }
  // The same from a replay, which builds its indexes at its end.
  ResourcesProjection fresh;
  for (const engine::Record& record : tangle.store().log()) {
    ASSERT_OK(fresh.Apply(record));
  }
  const auto replayed = ImageOf(fresh);
  EXPECT_EQ(replayed->StateDigest(), tangle.store().image()->StateDigest());
  ExpectWhole(*replayed, tangle.store().registry());
}

}  // namespace
}  // namespace projections
