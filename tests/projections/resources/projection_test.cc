#include "projections/resources/projection.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "projections/resources/document.h"
#include "tests/projections/resources/store.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using support::StatusIs;
using testing::HasSubstr;

engine::Record RecordOf(std::string key, std::string_view payload, std::uint16_t flags = 0) {
  engine::Record record;
  record.stream = ResourcesImage::kStream;
  record.position = engine::Position{1};
  record.key = std::move(key);
  record.flags = flags;
  record.payload = engine::Payload(payload);
  return record;
}

ResourceState StateNamed(std::string id) {
  ResourceState state;
  state.id = std::move(id);
  state.kind = "Channel";
  state.name = "n";
  state.href = "/h";
  state.spec = "{}";
  state.created_by = state.updated_by = "alice";
  return state;
}

TEST(ResourcesProjectionTest, RefusesWhatIsNotItsRecordAndStaysAsItWas) {
  ResourcesProjection projection;
  ASSERT_OK(projection.Apply(RecordOf("a", EncodeResource(StateNamed("a")))));
  const std::uint64_t digest = projection.Publish()->StateDigest();

  ResourceState no_generation = StateNamed("b");
  no_generation.generation = 0;
  const std::string tombstone =
      EncodeTombstone({"a", schemas::RemovalCause::kDeleted, "alice", {}});
  const std::vector<std::pair<engine::Record, std::string>> wrong = {
      {RecordOf("b", EncodeResource(StateNamed("a"))), "another resource than its key"},
      {RecordOf("b", EncodeResource(no_generation)), "generation is not positive"},
      {RecordOf("a", EncodeResource(StateNamed("a")), engine::kTombstone), "marked as a tombstone"},
      {RecordOf("a", tombstone), "not marked"},
      {RecordOf("b", tombstone, engine::kTombstone), "another resource than its key"},
      {RecordOf("a", EncodeTombstone({"a", {}, "alice", {}}), engine::kTombstone), "no cause"},
      {RecordOf("a", "rubbish"), ""},
      {RecordOf("a", schemas::EncodeBody(schemas::Tag{99}, "new", schemas::Skippable::kNo)), ""},
  };
  for (const auto& [record, why] : wrong) {
    EXPECT_THAT(projection.Apply(record), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(why)));
    EXPECT_EQ(projection.Publish()->StateDigest(), digest);
  }
}

TEST(ResourcesProjectionTest, SkipsWhatMayBeSkippedUnlessItTakesTheStatesPlace) {
  ResourcesProjection projection;
  ASSERT_OK(projection.Apply(RecordOf("a", EncodeResource(StateNamed("a")))));
  const std::uint64_t digest = projection.Publish()->StateDigest();
  const std::string unknown =
      schemas::EncodeBody(schemas::Tag{99}, "new", schemas::Skippable::kYes);
  EXPECT_OK(projection.Apply(RecordOf("a/note", unknown)));
  EXPECT_THAT(projection.Apply(RecordOf("a", unknown)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("unknown type takes its place")));
  EXPECT_EQ(projection.Publish()->StateDigest(), digest);
}

TEST(ResourcesProjectionTest, DigestIsTheSumThatTheHeaderNames) {
  TestStore store;
  EXPECT_EQ(store.image()->StateDigest(), 0U);
  store.Add("Channel", "a");
  store.Add("Channel", "b");
  std::uint64_t sum = 0;
  for (const engine::Record& record : store.log()) {
    std::string bytes;
    engine::AppendU32(static_cast<std::uint32_t>(record.key.size()), bytes);
    bytes += record.key;
    engine::AppendU64(record.payload.size(), bytes);
    engine::AppendU64(engine::Checksum64(record.payload.view()), bytes);
    sum += engine::Checksum64(bytes);
  }
  EXPECT_EQ(store.image()->StateDigest(), sum);
}

TEST(ResourcesProjectionTest, DigestForgetsWhatIsGone) {
  TestStore store;
  store.Add("Channel", "kept");
  const std::uint64_t before = store.image()->StateDigest();
  const std::string gone = store.Add("Channel", "gone");
  EXPECT_NE(store.image()->StateDigest(), before);
  store.Delete(gone);
  EXPECT_EQ(store.image()->StateDigest(), before);
}

TEST(ResourcesProjectionTest, AHeldImageDoesNotChange) {
  TestStore store;
  const std::string id = store.Add("Cluster", "prod");
  const auto before = store.image();
  store.PatchSpec(id, R"({"a":1})");
  store.Delete(id);
  EXPECT_EQ(before->Find(id)->table().generation(), 1);
  EXPECT_FALSE(before->Find(id)->is_deleting());
  EXPECT_EQ(store.Find(id)->table().generation(), 3);
}

TEST(ResourcesImageTest, ListsAreNewestFirstThenById) {
  TestStore store;
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) {
    ids.push_back(store.Add("Channel", "c" + std::to_string(i)));
    if (i % 2 == 0) {
      store.Pass(-1);  // The next one is of the same moment.
    }
  }
  store.Add("Cluster", "other");
  std::vector<std::string> listed;
  for (std::size_t page = 1; page <= 3; ++page) {
    const ListPage result = store.image()->List({.kind = "Channel"}, {.page = page, .size = 3});
    EXPECT_EQ(result.total, 7U);
    for (const ResourceEntry* entry : result.items) {
      listed.emplace_back(entry->id());
    }
  }
  EXPECT_EQ(listed,
            (std::vector<std::string>{ids[6], ids[4], ids[5], ids[2], ids[3], ids[0], ids[1]}));
  const ListPage behind = store.image()->List({.kind = "Channel"}, {.page = 100'000, .size = 100});
  EXPECT_EQ(behind.total, 7U);
  EXPECT_TRUE(behind.items.empty());
}

TEST(ResourcesImageTest, APageFarBehindTheEndIsEmpty) {
  TestStore store;
  store.Add("Channel", "a");
  const ListPage page = store.image()->List(
      {.kind = "Channel"}, {.page = std::numeric_limits<std::size_t>::max(), .size = 2});
  EXPECT_TRUE(page.items.empty());
  EXPECT_EQ(page.total, 1U);
}

std::vector<std::string> NamesIn(const ListPage& page) {
  std::vector<std::string> names;
  for (const ResourceEntry* entry : page.items) {
    names.emplace_back(entry->name());
  }
  return names;
}

TEST(ResourcesImageTest, OtherOrdersSortByTheirColumnsThenById) {
  TestStore store;
  store.Add("Channel", "b");
  store.Add("Channel", "c");
  const std::string cluster = store.Add("Cluster", "abc");
  store.Add("Channel", "a");
  store.Delete(cluster);
  const auto list = [&store](Order order) {
    return NamesIn(store.image()->List({}, {.order = std::move(order)}));
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(list({{ResourceColumn::kName, false}}), (Names{"a", "abc", "b", "c"}));
  EXPECT_EQ(list({{ResourceColumn::kName, true}}), (Names{"c", "b", "abc", "a"}));
  EXPECT_EQ(list({{ResourceColumn::kKind, false}, {ResourceColumn::kName, true}}),
            (Names{"c", "b", "a", "abc"}));
  // Absent values are the greatest; ties are broken by id.
  EXPECT_EQ(list({{ResourceColumn::kDeletedTime, false}}), (Names{"abc", "b", "c", "a"}));
  EXPECT_EQ(list({{ResourceColumn::kDeletedTime, true}}), (Names{"b", "c", "a", "abc"}));
  EXPECT_EQ(list({{ResourceColumn::kGeneration, true}}), (Names{"abc", "b", "c", "a"}));
}

TEST(ResourcesImageTest, EveryColumnHasAName) {
  for (const char* name :
       {"id", "name", "kind", "href", "generation", "created_time", "updated_time", "deleted_time",
        "created_by", "updated_by", "deleted_by", "owner_id", "owner_kind", "owner_href"}) {
    EXPECT_TRUE(FindColumn(name).has_value()) << name;
  }
  EXPECT_FALSE(FindColumn("spec").has_value());
}

// What every image can be checked against: all entries, looked at one by one.
class Oracle {
 public:
  explicit Oracle(const ResourcesImage& image) : image_(image) {
    for (const ResourceEntry* entry : image) {
      all_.push_back(entry);
    }
  }

  void Check(const ListScope& scope, const ListOptions& options) const {
    std::vector<const ResourceEntry*> expected;
    std::ranges::copy_if(all_, std::back_inserter(expected), [&scope](const ResourceEntry* e) {
      return (scope.kind.empty() || e->kind() == scope.kind) &&
             (scope.owner_id.empty() || e->owner_id() == scope.owner_id);
    });
    std::ranges::sort(expected, [&options](const ResourceEntry* a, const ResourceEntry* b) {
      return ComesBefore(*a, *b, options.order);
    });
    const ListPage page = image_.List(scope, options);
    ASSERT_EQ(page.total, expected.size());
    ASSERT_EQ(image_.Count(scope), expected.size());
    const std::size_t first = std::min(expected.size(), (options.page - 1) * options.size);
    const std::size_t last = std::min(expected.size(), first + options.size);
    ASSERT_EQ(page.items, std::vector(expected.begin() + static_cast<std::ptrdiff_t>(first),
                                      expected.begin() + static_cast<std::ptrdiff_t>(last)));
  }

  // Look-ups by id and by name, and that no two active ones share a name.
  void CheckLookUps() const {
    ASSERT_EQ(all_.size(), image_.size());
    for (const ResourceEntry* entry : all_) {
      ASSERT_EQ(image_.Find(entry->id()), entry);
      const NameProbe name{entry->kind(), entry->owner_id(), entry->name(), {}};
      const ResourceEntry* named = image_.FindNamed(name);
      ASSERT_TRUE(named == entry || entry->is_deleting());
      ASSERT_TRUE(named == nullptr || !named->is_deleting());
    }
  }

  const std::vector<const ResourceEntry*>& all() const { return all_; }

 private:
  const ResourcesImage& image_;
  std::vector<const ResourceEntry*> all_;
};

std::map<std::string, std::string> DocumentsOf(const ResourcesImage& image,
                                               const Registry& registry) {
  std::map<std::string, std::string> documents;
  for (const ResourceEntry* entry : image) {
    AppendResourceDocument(entry->table(), nullptr, registry, documents[std::string(entry->id())]);
  }
  return documents;
}

// A fleet that lives: every request is one that clients could send.
class Fleet {
 public:
  explicit Fleet(std::uint64_t seed) : random_(seed) {}

  void Mutate() {
    store_.Pass(static_cast<std::int64_t>(random_.Below(3)));
    const std::uint64_t dice = random_.Below(100);
    if (dice < 45 || store_.image()->size() == 0) {
      Create();
    } else if (dice < 70) {
      store_.Do(PatchRequest{{AnyId(), {}, {}},
                             {},
                             R"({"v":)" + std::to_string(random_.Below(4)) + "}",
                             Labels{{"l", std::to_string(random_.Below(3))}},
                             "bob"});
    } else if (dice < 90) {
      store_.Delete(AnyId());
    } else {
      store_.ForceDelete(AnyId());
    }
  }
  const TestStore& store() const { return store_; }
  std::uint64_t Below(std::uint64_t bound) { return random_.Below(bound); }
  std::string AnyId() {
    const auto& image = *store_.image();
    auto entry = image.begin();
    for (std::uint64_t skip = random_.Below(std::min<std::uint64_t>(image.size(), 100)); skip > 0;
         --skip) {
      ++entry;
    }
    return std::string((*entry)->id());
  }

 private:
  void Create() {
    const std::vector<EntityDescriptor>& kinds = store_.registry().entities();
    const EntityDescriptor& kind = kinds[random_.Below(kinds.size())];
    std::string parent;
    if (!kind.is_root()) {
      const ListPage parents = store_.image()->List({.kind = kind.parent_kind}, {.size = 10});
      if (parents.items.empty()) {
        return;
      }
      parent = parents.items[random_.Below(parents.items.size())]->id();
    }
    store_.Do(CreateRequest{.id = store_.NextId(),
                            .kind = kind.kind,
                            .name = "name-" + std::to_string(random_.Below(200)),
                            .parent_id = parent,
                            .spec = "{}",
                            .labels = {},
                            .tenancy = {},
                            .actor = "alice"});
  }

  TestStore store_;
  support::SeededRandom random_;
};

TEST(ResourcesProjectionTest, AReplicaIsAFreshReplayAfterTenThousandMutations) {
  support::SeededRandom seed;
  Fleet fleet(seed.seed());
  ResourcesProjection follower;  // Publishes at other moments than the store does.
  std::size_t followed = 0;
  while (fleet.store().log().size() < 10'000) {
    fleet.Mutate();
    if (fleet.Below(20) == 0) {
      for (; followed < fleet.store().log().size(); ++followed) {
        ASSERT_OK(follower.Apply(fleet.store().log()[followed]));
      }
      ASSERT_EQ(follower.Publish()->StateDigest(), fleet.store().image()->StateDigest());
    }
  }
  ResourcesProjection fresh;
  for (const engine::Record& record : fleet.store().log()) {
    ASSERT_OK(fresh.Apply(record));
  }
  const ResourcesImage& live = *fleet.store().image();
  const auto replayed = ImageOf(fresh);
  EXPECT_GT(live.size(), 100U);
  EXPECT_EQ(replayed->StateDigest(), live.StateDigest());
  EXPECT_EQ(DocumentsOf(*replayed, fleet.store().registry()),
            DocumentsOf(live, fleet.store().registry()));
  // It published once, so its indexes were built at the end; the live ones grew.
  const Oracle oracle(*replayed);
  oracle.CheckLookUps();
  oracle.Check({}, {.page = 2});
  oracle.Check({.kind = "NodePool"}, {.page = 3});
  oracle.Check({.kind = "Version", .owner_id = live.Find(fleet.AnyId())->id()}, {});
}

TEST(ResourcesProjectionTest, CompactionLeavesTheSameState) {
  support::SeededRandom seed;
  Fleet fleet(seed.seed());
  while (fleet.store().log().size() < 2'000) {
    fleet.Mutate();
  }
  std::map<std::string, engine::Position> newest;
  for (const engine::Record& record : fleet.store().log()) {
    newest[record.key] = record.position;
  }
  ResourcesProjection compacted;
  for (const engine::Record& record : fleet.store().log()) {
    if (newest[record.key] == record.position) {
      ASSERT_OK(compacted.Apply(record));
    }
  }
  const auto image = ImageOf(compacted);
  EXPECT_EQ(image->StateDigest(), fleet.store().image()->StateDigest());
  Oracle(*image).CheckLookUps();
}

TEST(ResourcesImageTest, IndexesAgreeWithALookAtEverything) {
  support::SeededRandom seed;
  Fleet fleet(seed.seed());
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 50; ++i) {
      fleet.Mutate();
    }
    if (fleet.store().image()->size() == 0) {
      continue;
    }
    const Oracle oracle(*fleet.store().image());
    oracle.CheckLookUps();
    ListOptions options{.page = fleet.Below(5) + 1, .size = fleet.Below(30) + 1};
    oracle.Check({}, options);
    const ResourceEntry& owner = *fleet.store().Find(fleet.AnyId());
    oracle.Check({.kind = owner.kind()}, options);
    oracle.Check({.kind = "NodePool", .owner_id = owner.id()}, options);
    options.order = {{ResourceColumn::kOwnerId, fleet.Below(2) == 0},
                     {ResourceColumn::kName, true}};
    oracle.Check({}, options);
    oracle.Check({.kind = "NodePool"}, options);
  }
}

}  // namespace
}  // namespace projections
