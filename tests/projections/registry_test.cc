#include "projections/registry.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using support::StatusIs;
using testing::HasSubstr;

EntityDescriptor Root(std::string kind, std::string plural) {
  EntityDescriptor entity;
  entity.kind = std::move(kind);
  entity.plural = std::move(plural);
  return entity;
}
EntityDescriptor Child(std::string kind, std::string plural, std::string parent) {
  EntityDescriptor entity = Root(std::move(kind), std::move(plural));
  entity.parent_kind = std::move(parent);
  entity.on_parent_delete = OnParentDelete::kCascade;
  return entity;
}

void ExpectRefused(std::vector<EntityDescriptor> entities, const std::string& why) {
  EXPECT_THAT(Registry::Create(std::move(entities)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
}

TEST(RegistryTest, StockSetIsThere) {
  const Registry stock = Registry::Stock();
  EXPECT_EQ(stock.entities().size(), 5U);
  const EntityDescriptor* nodepool = stock.FindPlural("nodepools");
  ASSERT_NE(nodepool, nullptr);
  EXPECT_EQ(nodepool, stock.FindKind("NodePool"));
  EXPECT_EQ(nodepool->parent_kind, "Cluster");
  EXPECT_EQ(nodepool->on_parent_delete, OnParentDelete::kCascade);
  EXPECT_EQ(nodepool->name_max_len, 15);
  EXPECT_EQ(stock.FindKind("Cluster")->required_adapters.size(), 4U);
  EXPECT_EQ(stock.FindKind("Version")->on_parent_delete, OnParentDelete::kRestrict);
  EXPECT_EQ(stock.FindKind("cluster"), nullptr);
  EXPECT_EQ(stock.FindPlural("resources"), nullptr);
}

TEST(RegistryTest, KindsAndPluralsAreGivenAndUnique) {
  ExpectRefused({Root("", "as")}, "no kind");
  ExpectRefused({Root("A", "")}, "A: plural is missing");
  ExpectRefused({Root("A", "as"), Root("A", "bs")}, "A: kind is registered twice");
  ExpectRefused({Root("A", "as"), Root("B", "as")}, "B: plural \"as\" is registered twice");
  ExpectRefused({Root(std::string(101, 'k'), "as")}, "longer than 100");
}

TEST(RegistryTest, PluralsOfOtherRoutesAreReserved) {
  ExpectRefused({Root("A", "resources")}, "A: plural \"resources\" is reserved");
  ExpectRefused({Root("A", "openapi")}, "reserved");
  ExpectRefused({Root("A", "a/b")}, "no lower-case URL segment");
  for (const char* plural : {"statuses", "history", "force-delete"}) {
    ExpectRefused({Root("A", "as"), Child("B", plural, "A")}, "reserved below other resources");
    EXPECT_TRUE(Registry::Create({Root("B", plural)}).ok());
  }
}

TEST(RegistryTest, AdaptersHaveConditionsOfTheirOwn) {
  EntityDescriptor entity = Root("A", "as");
  entity.required_adapters = {"a-b", "aB"};
  ExpectRefused({entity}, "makes the condition ABSuccessful too");
}

TEST(RegistryTest, ParentsAreKnownAndFormNoCycle) {
  ExpectRefused({Child("A", "as", "Nothing")}, "A: parent_kind \"Nothing\" is not registered");
  ExpectRefused({Child("A", "as", "A")}, "form a cycle");
  ExpectRefused({Child("A", "as", "B"), Child("B", "bs", "A")}, "form a cycle");
  ExpectRefused({Child("C", "cs", "A"), Child("A", "as", "B"), Child("B", "bs", "A")},
                "form a cycle");
  EXPECT_TRUE(
      Registry::Create({Root("A", "as"), Child("B", "bs", "A"), Child("C", "cs", "B")}).ok());
}

TEST(RegistryTest, ChildrenSayWhatBecomesOfThem) {
  EntityDescriptor child = Child("B", "bs", "A");
  child.on_parent_delete = OnParentDelete::kUnset;
  ExpectRefused({Root("A", "as"), child}, "B: on_parent_delete must be restrict or cascade");
  EntityDescriptor root = Root("A", "as");
  root.on_parent_delete = OnParentDelete::kRestrict;
  ExpectRefused({root}, "A: on_parent_delete needs a parent_kind");
}

TEST(RegistryTest, BoundsOfNamesDoNotContradict) {
  EntityDescriptor entity = Root("A", "as");
  entity.name_min_len = 5;
  entity.name_max_len = 4;
  ExpectRefused({entity}, "name_max_len 4 is less than name_min_len 5");
  entity.name_max_len = 0;
  EXPECT_TRUE(Registry::Create({entity}).ok());
  entity.name_min_len = 101;
  ExpectRefused({entity}, "name_min_len 101 needs a name_max_len");
  entity.name_max_len = 101;
  EXPECT_TRUE(Registry::Create({entity}).ok());
  entity.name_min_len = -1;
  ExpectRefused({entity}, "cannot be negative");
}

TEST(RegistryTest, AdaptersAndSchemasMakeSense) {
  EntityDescriptor entity = Root("A", "as");
  entity.required_adapters = {"dns", "dns"};
  ExpectRefused({entity}, "\"dns\" is empty or named twice");
  entity.required_adapters = {""};
  ExpectRefused({entity}, "is empty or named twice");
  entity.required_adapters = {std::string(256, 'a')};
  ExpectRefused({entity}, "over 255 bytes");
  entity.required_adapters = {std::string(255, 'a')};
  EXPECT_TRUE(Registry::Create({entity}).ok());
  entity.required_adapters = {};
  entity.require_spec_schema = true;
  ExpectRefused({entity}, "needs a spec_schema_name");
}

TEST(RegistryTest, AsManyAdaptersAndConditionsAsFitIntoARecord) {
  EntityDescriptor entity = Root("A", "as");
  for (int i = 0; i < 64; ++i) {
    entity.required_adapters.push_back("adapter" + std::to_string(i));
    entity.conditions.push_back({"Type" + std::to_string(i), "true", "\"True\"", "", ""});
  }
  EXPECT_TRUE(Registry::Create({entity}).ok());
  EntityDescriptor more = entity;
  more.required_adapters.push_back("last");
  ExpectRefused({more}, "over 64 required adapters");
  more = entity;
  more.conditions.push_back({"Last", "true", "\"True\"", "", ""});
  ExpectRefused({more}, "over 64 conditions");
}

TEST(RegistryTest, ReferencesHaveTargetsAndBounds) {
  EntityDescriptor source = Root("A", "as");
  source.references = {{"dep", "B"}};
  ExpectRefused({source}, "target_kind \"B\" is not registered");
  const EntityDescriptor target = Root("B", "bs");
  source.references = {{"dep", "B", 1, 1}, {"dep", "B"}};
  ExpectRefused({source, target}, "\"dep\" is empty or named twice");
  source.references = {{"dep", "B", 2, 1}};
  ExpectRefused({source, target}, "max 1 and min 2 contradict");
  source.references = {{"dep", "B", 2, 0}};
  EXPECT_TRUE(Registry::Create({source, target}).ok());
}

TEST(RegistryTest, ConditionsHaveTypesOfTheirOwn) {
  EntityDescriptor entity = Root("A", "as");
  EntityDescriptor other = Root("B", "bs");
  other.required_adapters = {"quota-check"};
  const auto expect_refused = [&](const std::string& type, const std::string& why) {
    entity.conditions = {{type, "true", "\"True\"", "", ""}};
    ExpectRefused({entity, other}, why);
  };
  for (const std::string type : {"", "quota", "Quota-Valid", "2nd"}) {
    expect_refused(type, "an upper-case letter first");
  }
  expect_refused(std::string(101, 'A'), "up to 100 letters");
  for (const std::string type : {"Reconciled", "LastKnownReconciled", "QuotaCheckSuccessful"}) {
    expect_refused(type, "A: condition type \"" + type + "\" is reserved");
  }
  entity.conditions = {{"Valid", "true", "\"True\"", "", ""}, {"Valid", "true", "true", "", ""}};
  ExpectRefused({entity, other}, "\"Valid\" is named twice");
  entity.conditions = {{"Valid", "", "\"True\"", "", ""}};
  ExpectRefused({entity, other}, "needs expressions");
  entity.conditions = {{std::string(100, 'A'), "true", "\"True\"", "", ""}};
  EXPECT_TRUE(Registry::Create({entity, other}).ok());
}

TEST(RegistryTest, RequiredReferencesFormNoCycle) {
  EntityDescriptor a = Root("A", "as");
  EntityDescriptor b = Root("B", "bs");
  a.references = {{"needs", "B", 1, 0}};
  b.references = {{"needs", "A", 1, 0}};
  ExpectRefused({a, b}, "required references form a cycle");
  b.references = {{"likes", "A", 0, 0}};
  EXPECT_TRUE(Registry::Create({a, b}).ok());
}

}  // namespace
}  // namespace projections
