// Who sees what: the scope by itself, and in the rules and lists.

#include "projections/resources/tenant_scope.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/projections/resources/requests.h"
#include "tests/projections/resources/store.h"
#include "tests/support/seeded_random.h"

namespace projections {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

const Tenancy kAcme = {{"org", "acme"}};
const Tenancy kAcmeP1 = {{"org", "acme"}, {"project", "p1"}};
const Tenancy kAcmeP2 = {{"org", "acme"}, {"project", "p2"}};
const Tenancy kOther = {{"org", "other"}};

std::string AddOf(TestStore& store, const Tenancy& tenancy, const std::string& name,
                  const std::string& kind = "Cluster", const std::string& parent = {}) {
  CreateRequest request = Creation(store, kind, name, parent);
  request.tenancy = tenancy;
  EXPECT_FALSE(store.Do(request).refusal.has_value()) << name;
  return request.id;
}

std::vector<std::string> NamesIn(const ListPage& page) {
  std::vector<std::string> names;
  for (const ResourceEntry* entry : page.items) {
    names.emplace_back(entry->name());
  }
  return names;
}

// One cluster of each tenancy, called as below.
class TenantScopeTest : public testing::Test {
 protected:
  TenantScopeTest() {
    for (const auto& [name, tenancy] : std::map<std::string, Tenancy>{
             {"acme", kAcme}, {"p1", kAcmeP1}, {"p2", kAcmeP2}, {"other", kOther}, {"none", {}}}) {
      ids_[name] = AddOf(store_, tenancy, name);
    }
  }

  std::vector<std::string> SeenBy(const TenantScope& tenant) {
    std::vector<std::string> names;
    for (const auto& [name, id] : ids_) {
      if (tenant.Sees(*store_.Find(id))) {
        names.push_back(name);
      }
    }
    return names;
  }

  TestStore store_;
  std::map<std::string, std::string> ids_;
};

TEST_F(TenantScopeTest, SeesWhatContainsAllOfItsDimensions) {
  EXPECT_THAT(SeenBy(TenantScope::Of(kAcme)), UnorderedElementsAre("acme", "p1", "p2"));
  EXPECT_THAT(SeenBy(TenantScope::Of(kAcmeP1)), UnorderedElementsAre("p1"));
  EXPECT_THAT(SeenBy(TenantScope::Of({{"project", "p2"}})), UnorderedElementsAre("p2"));
  EXPECT_THAT(SeenBy(TenantScope::Of({{"org", "acm"}})), IsEmpty());
  EXPECT_THAT(SeenBy(TenantScope::All()),
              UnorderedElementsAre("acme", "p1", "p2", "other", "none"));
}

TEST_F(TenantScopeTest, WhatIsNobodysIsCounted) {
  EXPECT_EQ(store_.image()->without_tenancy(), 1U);
  const std::string second = AddOf(store_, {}, "second");
  EXPECT_EQ(store_.image()->without_tenancy(), 2U);
  store_.PatchSpec(second, "{\"b\":1}");
  store_.PatchSpec(ids_["acme"], "{\"b\":1}");
  EXPECT_EQ(store_.image()->without_tenancy(), 2U);
  store_.Delete(second);
  store_.ForceDelete(second);
  EXPECT_EQ(store_.image()->without_tenancy(), 1U);
}

TEST_F(TenantScopeTest, WithoutDimensionsSeesNothing) {
  EXPECT_THAT(SeenBy(TenantScope::Of({})), IsEmpty());
  EXPECT_EQ(store_.image()->Count({.tenant = TenantScope::Of({})}), 0U);
}

TEST_F(TenantScopeTest, AListShowsAndCountsWhatItsTenantSees) {
  const ListScope scope{.kind = "Cluster", .tenant = TenantScope::Of(kAcme)};
  EXPECT_EQ(store_.image()->Count(scope), 3U);
  for (const bool by_name : {false, true}) {
    ListOptions options{.page = 1, .size = 2};
    if (by_name) {
      options.order = {{ResourceColumn::kName, false}};
    }
    std::vector<std::string> names;
    for (; options.page <= 3; ++options.page) {
      const ListPage page = store_.image()->List(scope, options);
      EXPECT_EQ(page.total, 3U);
      for (const std::string& name : NamesIn(page)) {
        names.push_back(name);
      }
    }
    EXPECT_THAT(names, UnorderedElementsAre("acme", "p1", "p2"));
  }
}

TEST_F(TenantScopeTest, WhatATenantDoesNotSeeIsNotFound) {
  const std::string pool = AddOf(store_, kOther, "np-1", "NodePool", ids_["other"]);
  const Target cluster{ids_["other"], "Cluster", {}, TenantScope::Of(kAcme)};
  const Target child{pool, "NodePool", ids_["other"], TenantScope::Of(kAcme)};
  for (const Target& target : {cluster, child}) {
    EXPECT_EQ(ReasonOf(store_.Judge(PatchRequest{target, {}, "{}", {}, "bob"})),
              target.parent_id.empty() ? RefusalReason::kNotFound : RefusalReason::kParentNotFound);
    EXPECT_TRUE(store_.Judge(DeleteRequest{target, {}, "bob"}).refusal.has_value());
    EXPECT_TRUE(store_.Judge(ForceDeleteRequest{target, {}, "bob", "why"}).refusal.has_value());
    EXPECT_TRUE(
        FindTarget(target, store_.registry(), *store_.image(), nullptr).refusal.has_value());
  }
  CreateRequest below = Creation(store_, "NodePool", "np-2", ids_["other"]);
  below.tenancy = kAcme;
  below.tenant = TenantScope::Of(kAcme);
  const Judgement judgement = store_.Judge(below);
  ASSERT_EQ(ReasonOf(judgement), RefusalReason::kParentNotFound);
  // The same words as for one that is nowhere.
  EXPECT_EQ(judgement.refusal->detail, "Cluster with id='" + ids_["other"] + "' not found");
}

TEST_F(TenantScopeTest, IntegrityIsJudgedOverAllTenants) {
  // A version that the channel's own tenant does not see still restricts its deletion.
  const std::string channel = AddOf(store_, kAcmeP1, "stable", "Channel");
  AddOf(store_, kAcme, "v1", "Version", channel);
  const Target target{channel, "Channel", {}, TenantScope::Of(kAcmeP1)};
  EXPECT_EQ(ReasonOf(store_.Judge(DeleteRequest{target, {}, "bob"})),
            RefusalReason::kActiveChildren);
}

// P14: random scopes and rows against three lines of model.
TEST(TenantScopePropertyTest, ImageAndModelAgree) {
  support::SeededRandom random;
  const auto draw = [&random] {
    Tenancy dims;
    for (const char* key : {"org", "project", "zone"}) {
      if (const auto value = random.NextU64() % 4; value != 0) {
        dims[key] = std::to_string(value);
      }
    }
    return dims;
  };
  const auto sees = [](const Tenancy& dims, const Tenancy& row) {
    return !dims.empty() && std::ranges::all_of(dims, [&row](const auto& dim) {
      return row.contains(dim.first) && row.at(dim.first) == dim.second;
    });
  };
  TestStore store;
  std::map<std::string, Tenancy> rows;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "c" + std::to_string(1000 + i);
    rows[name] = draw();
    AddOf(store, rows[name], name);
  }
  for (int i = 0; i < 100; ++i) {
    const Tenancy dims = draw();
    std::vector<std::string> expected;
    for (const auto& [name, tenancy] : rows) {
      if (sees(dims, tenancy)) {
        expected.push_back(name);
      }
    }
    const ListPage page = store.image()->List({.kind = "Cluster", .tenant = TenantScope::Of(dims)},
                                              {.page = 1, .size = 1000});
    EXPECT_EQ(page.total, expected.size());
    EXPECT_THAT(NamesIn(page), testing::UnorderedElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace projections
