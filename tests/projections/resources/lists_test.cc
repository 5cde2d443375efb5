// ListPlan against the definition of a list, over random resources and random wishes.

#include "projections/resources/lists.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "projections/search/evaluate.h"
#include "projections/search/parser.h"
#include "projections/statuses/projection.h"
#include "projections/statuses/state.h"
#include "tests/projections/resources/requests.h"
#include "tests/projections/search/trees.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using testing::ElementsAre;
using Ids = std::vector<std::string>;

Ids IdsOf(const std::vector<const ResourceEntry*>& entries) {
  Ids ids;
  for (const ResourceEntry* entry : entries) {
    ids.emplace_back(entry->id());
  }
  return ids;
}

std::shared_ptr<const search::Node> Search(std::string_view text) {
  const auto node = search::ParseSearch(text);
  EXPECT_TRUE(node.ok()) << node.status();
  return std::make_shared<const search::Node>(node.value_or(search::Node{}));
}

// The stock kinds; Channels refer to Clusters and to each other.
Registry Referring() {
  std::vector<EntityDescriptor> entities = Registry::Stock().entities();
  for (EntityDescriptor& entity : entities) {
    if (entity.kind == "Channel") {
      entity.references = {{"uses", "Cluster", 0, 0}, {"near", "Channel", 0, 0}};
    }
  }
  return *Registry::Create(std::move(entities));
}

// Resources of every stock kind with few names, labels, specs and tenants, and conditions of them.
class RandomRows {
 public:
  explicit RandomRows(support::SeededRandom& random) : random_(random), searches_(random) {
    Publish();
  }

  void Change() {
    const std::size_t dice = random_.Below(10);
    if (ids_.empty() || dice < 5) {
      Create();
    } else if (dice < 7) {
      store_.Do(Patch(AnyId(), Spec(), AnyLabels()));
    } else if (dice < 8) {
      store_.Delete(AnyId());
    } else {
      Report(AnyId());
    }
    Publish();
  }

  TestStore& store() { return store_; }
  const StatusesImage* statuses() const { return statuses_.get(); }
  search::RandomSearch& searches() { return searches_; }
  std::string AnyId() { return ids_[random_.Below(ids_.size())]; }
  Tenancy AnyTenancy() {
    Tenancy tenancy;
    for (const char* key : {"org", "project", "zone"}) {
      if (random_.Below(2) == 0) {
        tenancy[key] = random_.Below(2) == 0 ? "x" : "y";
      }
    }
    return tenancy;
  }

 private:
  void Create() {
    CreateRequest request = Creation(store_, "Cluster", searches_.Name());
    const std::size_t kind = random_.Below(3);
    if (kind > 0 && !clusters_.empty()) {
      request.kind = "NodePool";
      request.parent_id = clusters_[random_.Below(clusters_.size())];
    } else if (kind > 0) {
      request.kind = "Channel";
    }
    request.spec = Spec();
    request.labels = AnyLabels();
    request.tenancy = AnyTenancy();
    if (request.kind == "Channel" && !clusters_.empty() && random_.Below(2) == 0) {
      request.references = To("uses", "Cluster", {clusters_[random_.Below(clusters_.size())]});
      const std::string other = AnyId();
      if (store_.Find(other) != nullptr && store_.Find(other)->kind() == "Channel") {
        request.references["near"] = {{other, "Channel"}};
      }
    }
    store_.Pass(static_cast<std::int64_t>(random_.Below(3)));
    if (!store_.Do(request).refusal.has_value()) {
      ids_.push_back(request.id);
      if (request.kind == "Cluster") {
        clusters_.push_back(request.id);
      }
    }
  }

  std::string Spec() {
    const std::string number = searches_.Number().ToText();
    switch (random_.Below(4)) {
      case 0:
        return "{\"size\":" + number + "}";
      case 1:
        return "{\"size\":\"" + number + "\"}";
      case 2:
        return "{\"deepKey\":{\"my-key\":" + number + "},\"size\":\"a\"}";
      default:
        return "{\"deepKey\":{\"my-key\":null}}";
    }
  }

  Labels AnyLabels() {
    Labels labels;
    for (std::size_t i = random_.Below(3); i > 0; --i) {
      labels[searches_.Key()] = searches_.Text().substr(0, 1);
    }
    return labels;
  }

  // What adapters would bring about.
  void Report(const std::string& id) {
    ConditionStates conditions;
    for (const char* type : {"Reconciled", "LastKnownReconciled"}) {
      ConditionState& condition = conditions.emplace_back();
      condition.type = type;
      condition.status = random_.Below(2) == 0 ? schemas::ConditionStatus::kTrue
                                               : schemas::ConditionStatus::kFalse;
      condition.observed_generation = 1;
      condition.last_updated_time = searches_.Time();
    }
    engine::Record record;
    record.stream = StatusesImage::kStream;
    record.position = engine::Position{++reports_};
    record.key = id;
    record.payload = engine::Payload(EncodeStatus(id, conditions));
    EXPECT_OK(projection_.Apply(record));
  }
  void Publish() {
    statuses_ = std::static_pointer_cast<const StatusesImage>(projection_.Publish());
  }

  support::SeededRandom& random_;
  search::RandomSearch searches_;
  TestStore store_{Referring()};
  StatusesProjection projection_;
  std::shared_ptr<const StatusesImage> statuses_;
  std::uint64_t reports_ = 0;
  Ids ids_;
  Ids clusters_;
};

bool Refers(const ResourceEntry& entry, std::string_view type, std::string_view target) {
  for (const ReferenceState& reference : StateOf(entry.table()).references) {
    if (reference.ref_type == type && reference.target_id == target) {
      return true;
    }
  }
  return false;
}

// A list as it is defined: all that fits, in order.
std::vector<const ResourceEntry*> Defined(RandomRows& rows, const ListScope& scope,
                                          const ListOptions& options) {
  std::vector<const ResourceEntry*> all;
  for (const ResourceEntry* entry : *rows.store().image()) {
    if ((scope.kind.empty() || entry->kind() == scope.kind) &&
        (scope.owner_id.empty() || entry->owner_id() == scope.owner_id) &&
        scope.tenant.Sees(*entry) &&
        (scope.ref_target_id.empty() || Refers(*entry, scope.ref_type, scope.ref_target_id)) &&
        (options.search == nullptr || search::Matches(*options.search, *entry, rows.statuses()))) {
      all.push_back(entry);
    }
  }
  std::ranges::sort(all, [&options](const ResourceEntry* a, const ResourceEntry* b) {
    return ComesBefore(*a, *b, options.order);
  });
  return all;
}

class ListPlanTest : public testing::Test {
 protected:
  ListPlanTest() : rows_(random_) {}

  ListPage Run(const ListScope& scope, const ListOptions& options) {
    return ListPlan(*rows_.store().image(), rows_.statuses(), scope, options).Run();
  }

  // `kind_` and `owner_` hold the texts.
  ListScope AnyScope() {
    ListScope scope;
    const std::vector<std::string> kinds = {"", "Cluster", "NodePool", "Channel", "Version"};
    kind_ = kinds[random_.Below(kinds.size())];
    scope.kind = kind_;
    owner_ = rows_.AnyId();
    if (kind_ == "NodePool" && random_.Below(2) == 0) {
      scope.owner_id = owner_;
    }
    if (kind_ == "Channel" && random_.Below(2) == 0) {
      scope.ref_type = random_.Below(2) == 0 ? "uses" : "near";
      scope.ref_target_id = owner_;
    }
    if (random_.Below(2) == 0) {
      scope.tenant = TenantScope::Of(rows_.AnyTenancy());
    }
    return scope;
  }

  ListOptions AnyOptions() {
    ListOptions options{.page = random_.Below(3) + 1, .size = random_.Below(6) + 1};
    if (random_.Below(3) > 0) {
      options.search = std::make_shared<const search::Node>(
          rows_.searches().Tree(static_cast<int>(random_.Below(3))));
    }
    if (random_.Below(2) == 0) {
      options.order = {{ResourceColumn::kName, random_.Below(2) == 0},
                       {ResourceColumn::kDeletedTime, random_.Below(2) == 0}};
    }
    return options;
  }

  void Check(const ListScope& scope, const ListOptions& options) {
    const auto all = Defined(rows_, scope, options);
    const std::size_t first = std::min(all.size(), (options.page - 1) * options.size);
    const std::size_t last = std::min(all.size(), first + options.size);
    const auto at = [&all](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
    const ListPage page = Run(scope, options);
    ASSERT_EQ(IdsOf(page.items), IdsOf({at(first), at(last)})) << Describe(scope, options);
    ASSERT_EQ(page.total, all.size()) << Describe(scope, options);
    ASSERT_EQ(page.has_more, last < all.size()) << Describe(scope, options);
  }

  // Page after page by cursors gives the list.
  void CheckCursors(const ListScope& scope, ListOptions options) {
    const auto all = Defined(rows_, scope, options);
    std::vector<const ResourceEntry*> seen;
    for (bool has_more = true; has_more;) {
      const ListPage page = Run(scope, options);
      ASSERT_EQ(page.total, all.size()) << Describe(scope, options);
      seen.insert(seen.end(), page.items.begin(), page.items.end());
      has_more = page.has_more;
      ASSERT_LE(seen.size(), all.size());
      if (!page.items.empty()) {
        options.after = PlaceOf(*page.items.back(), options.order);
      }
    }
    ASSERT_EQ(IdsOf(seen), IdsOf(all)) << Describe(scope, options);
  }

  static std::string Describe(const ListScope& scope, const ListOptions& options) {
    return std::string(scope.kind) + " " +
           (options.search == nullptr ? "" : search::Print(*options.search));
  }

  support::SeededRandom random_;
  RandomRows rows_;
  std::string kind_;
  std::string owner_;
};

TEST_F(ListPlanTest, EveryIndexGivesWhatLookingAtEverythingWould) {
  for (int i = 0; i < 300; ++i) {
    rows_.Change();
    for (int wish = 0; wish < 10; ++wish) {
      const ListScope scope = AnyScope();
      ListOptions options = AnyOptions();
      Check(scope, options);
      options.page = 1;
      CheckCursors(scope, options);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

TEST_F(ListPlanTest, EndsWhenItIsToldTo) {
  for (int i = 0; i < 600; ++i) {
    rows_.store().Add("Channel", "c" + std::to_string(i));
  }
  const Order by_name = {{ResourceColumn::kName, false}};
  for (const Order& order : {DefaultOrder(), by_name}) {
    ListOptions options{.size = 5, .order = order};
    options.search = Search("spec.x = 1");
    const ListPlan plan(*rows_.store().image(), rows_.statuses(), {.kind = "Channel"}, options);
    int asked = 0;
    EXPECT_OK(plan.RunWhile([&asked] {
      ++asked;
      return absl::OkStatus();
    }));
    EXPECT_EQ(asked, 3);  // Of 600, before the first, the 257th and the 513th.
    asked = 0;
    const auto ended = plan.RunWhile(
        [&asked] { return ++asked == 2 ? absl::CancelledError("enough") : absl::OkStatus(); });
    EXPECT_TRUE(absl::IsCancelled(ended.status()));
    EXPECT_EQ(asked, 2);
  }
}

TEST_F(ListPlanTest, ATenantPaysForWhatItHas) {
  TestStore& store = rows_.store();
  for (int i = 0; i < 200; ++i) {
    CreateRequest request = Creation(store, "Channel", "c" + std::to_string(i));
    request.labels = {{"env", i % 2 == 0 ? "prod" : "dev"}, {"n", std::to_string(i % 50)}};
    request.tenancy = {{"org", i < 3 ? "small" : "large"}, {"project", "p"}};
    ASSERT_FALSE(store.Do(request).refusal.has_value());
  }
  const auto cost = [&](TenantScope tenant, std::string_view text, Order order) {
    ListOptions options{.size = 1, .order = std::move(order)};
    options.search = text.empty() ? nullptr : Search(text);
    return ListPlan(*store.image(), rows_.statuses(), {.kind = "Channel", .tenant = tenant},
                    options)
        .cost();
  };
  const TenantScope small = TenantScope::Of({{"org", "small"}});
  const Order by_name = {{ResourceColumn::kName, false}};
  EXPECT_EQ(cost(small, "", DefaultOrder()), 1u);
  EXPECT_EQ(cost(small, "", by_name), 3u);
  EXPECT_EQ(cost(small, "spec.x > 3", DefaultOrder()), 3u);
  EXPECT_EQ(cost(TenantScope::Of({{"org", "small"}, {"project", "p"}}), "", by_name), 3u);
  EXPECT_EQ(cost(TenantScope::Of({}), "", by_name), 0u);
  EXPECT_EQ(cost(TenantScope::All(), "labels.env = 'prod'", DefaultOrder()), 1u);
  EXPECT_EQ(cost(TenantScope::All(), "labels.env = 'prod'", by_name), 100u);
  EXPECT_EQ(cost(TenantScope::All(), "labels.env = 'prod' and labels.n in ['7', '9', '7']",
                 DefaultOrder()),
            8u);
  EXPECT_EQ(cost(TenantScope::All(), "name = 'c7' and spec.x = 1", DefaultOrder()), 1u);
  EXPECT_EQ(cost(TenantScope::All(), "spec.x = 1", DefaultOrder()), 200u);
  // Each side has a range: 4 and 1; a side without one spoils it.
  EXPECT_EQ(cost(TenantScope::All(), "(labels.n = '7' and spec.x = 1) or name in ['c7', 'zz']",
                 DefaultOrder()),
            5u);
  EXPECT_EQ(cost(TenantScope::All(), "labels.n = '7' or spec.x = 1", DefaultOrder()), 200u);
}

TEST_F(ListPlanTest, APlaceStaysWhereItIsWhenOthersMove) {
  TestStore& store = rows_.store();
  Ids ids;
  for (const char* name : {"a", "b", "c", "d"}) {
    ids.push_back(store.Add("Channel", name));
  }
  ListOptions options{.size = 2, .order = {{ResourceColumn::kName, false}}};
  const ListScope scope{.kind = "Channel"};
  const ListPage first = Run(scope, options);
  EXPECT_THAT(IdsOf(first.items), ElementsAre(ids[0], ids[1]));
  options.after = PlaceOf(*first.items.back(), options.order);
  store.Delete(ids[1]);
  store.Add("Channel", "a2");
  const ListPage second = Run(scope, options);
  EXPECT_THAT(IdsOf(second.items), ElementsAre(ids[2], ids[3]));
  EXPECT_FALSE(second.has_more);
  EXPECT_EQ(second.total, 4u);
}

TEST_F(ListPlanTest, NothingOfAnotherKindIsFound) {
  TestStore& store = rows_.store();
  const std::string cluster = store.Add("Cluster", "c");
  const std::string pool = store.Add("NodePool", "p", cluster);
  const std::string other = store.Add("Cluster", "d");
  store.Add("NodePool", "p", other);
  store.Add("NodePool", "q", other);
  CreateRequest using_it = Creation(store, "Channel", "n");
  using_it.references = To("uses", "Cluster", {cluster});
  store.Do(using_it);
  const std::string aside = store.Add("Channel", "m");
  const auto found = [&](ListScope scope, std::string_view text) {
    ListOptions options;
    options.search = Search(text);
    return IdsOf(Run(scope, options).items);
  };
  EXPECT_THAT(found({.kind = "Channel"}, "id = '" + cluster + "'"), ElementsAre());
  EXPECT_THAT(found({.kind = "Cluster"}, "id = '" + cluster + "'"), ElementsAre(cluster));
  const ListScope users = {.kind = "Channel", .ref_target_id = cluster, .ref_type = "uses"};
  EXPECT_THAT(found(users, "id in ['" + using_it.id + "', '" + aside + "']"),
              ElementsAre(using_it.id));
  EXPECT_THAT(found(users, "id = '" + aside + "'"), ElementsAre());
  EXPECT_THAT(found({}, "owner_id = '" + cluster + "'"), ElementsAre(pool));
  EXPECT_THAT(found({.kind = "NodePool", .owner_id = other}, "id = '" + pool + "'"), ElementsAre());
}

}  // namespace
}  // namespace projections
