#include "api/resources/bodies.h"

#include <gmock/gmock.h>

#include "api/resources/list_params.h"
#include "api/resources/problems.h"
#include "api/resources/spec_check.h"
#include "tests/api/dispatch/hooked_engine.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using projections::Registry;
using testing::ElementsAre;
using testing::HasSubstr;

const Registry& Stock() {
  static const Registry registry = Registry::Stock();
  return registry;
}

// The code of the problem, `VAL-000 name` with the first field; `ok` when there is none.
template <class Body>
std::string Verdict(const std::variant<Problem, Body>& parsed) {
  const auto* problem = std::get_if<Problem>(&parsed);
  if (problem == nullptr) {
    return "ok";
  }
  const std::string code(ProblemCodeName(problem->code).substr(11));
  return problem->errors.empty() ? code : code + " " + problem->errors.front().field;
}

std::string Typed(const std::string& body) {
  return Verdict(ParseTypedCreate(body, *Stock().FindKind("Cluster"), SpecSchemas()));
}

std::string Root(const std::string& body) {
  return Verdict(ParseRootCreate(body, Stock(), SpecSchemas()));
}

// Both what is no text and what is no label.
TEST(BodiesTest, OfVeryManyBadLabelsOnlySomeAreNamed) {
  for (const std::string value : {"1", "\"!\""}) {
    std::string body = R"({"kind":"Cluster","name":"abc","spec":{},"labels":{"ok":"ok")";
    for (int i = 0; i < 1000; ++i) {
      body += ",\"k" + std::to_string(i) + "\":" + value;
    }
    const auto parsed = ParseTypedCreate(body + "}}", *Stock().FindKind("Cluster"), SpecSchemas());
    EXPECT_EQ(std::get<Problem>(parsed).errors.size(), projections::kLabelErrorsTold);
  }
}

TEST(BodiesTest, TypedCreatesAreCheckedInOrder) {
  EXPECT_EQ(Typed(""), "VAL-006");
  EXPECT_EQ(Typed("[]"), "VAL-006");
  EXPECT_EQ(Typed(R"({"spec":1})"), "VAL-000 spec");
  EXPECT_EQ(Typed(R"({"name":"UPPER","labels":1})"), "VAL-000 kind");
  EXPECT_EQ(Typed(R"({"kind":1})"), "VAL-000 kind");
  EXPECT_EQ(Typed(R"({"kind":"Channel","name":"abc","spec":{}})"), "VAL-000 kind");
  EXPECT_EQ(Typed(R"({"kind":"Cluster","name":"UPPER"})"), "VAL-000 name");
  EXPECT_EQ(Typed(R"({"kind":"Cluster","name":7})"), "VAL-000 name");
  EXPECT_EQ(Typed(R"({"kind":"Cluster","name":"abc","labels":1})"), "VAL-000 spec");
  EXPECT_EQ(Typed(R"({"kind":"Cluster","name":"abc","spec":{},"labels":1})"), "VAL-000 labels");
  EXPECT_EQ(Typed(R"({"kind":"Cluster","name":"abc","spec":{},"labels":{"a":1}})"),
            "VAL-000 labels[a]");
  const auto labels = ParseTypedCreate(
      R"({"kind":"Cluster","name":"abc","spec":{},"labels":{"a":1,"b":"- -","c":2}})",
      *Stock().FindKind("Cluster"), SpecSchemas());
  EXPECT_EQ(std::get<Problem>(labels).errors.size(), 3u);
  EXPECT_EQ(Typed(R"({"kind":"Cluster","name":"abc","spec":{},"references":{"x":[]}})"),
            "VAL-000 references");
  EXPECT_EQ(Typed(R"({"kind":"Cluster","name":"abc","spec":{},"references":{},"labels":null,)"
                  R"("id":1,"tenancy":2,"anything":[]})"),
            "ok");
}

TEST(BodiesTest, RootCreatesAreCheckedInTheirOrder) {
  EXPECT_EQ(Root(R"({"kind":"Nothing"})"), "VAL-000 spec");
  EXPECT_EQ(Root(R"({"kind":"Nothing","spec":{},"labels":[]})"), "VAL-000 labels");
  EXPECT_EQ(Root(R"({"kind":"Nothing","spec":{},"name":"UPPER"})"), "VAL-000 kind");
  EXPECT_EQ(Root(R"({"spec":{}})"), "VAL-000 kind");
  EXPECT_EQ(Root(R"({"kind":"Channel","spec":{},"name":"UPPER"})"), "VAL-000 name");
  EXPECT_EQ(Root(R"({"kind":"Channel","spec":{},"name":"abc"})"), "ok");
  const auto child =
      ParseRootCreate(R"({"kind":"Version","spec":{},"name":"UPPER"})", Stock(), SpecSchemas());
  EXPECT_EQ(std::get<Problem>(child).status, 422);
  EXPECT_THAT(std::get<Problem>(child).detail, HasSubstr("channels"));
}

TEST(BodiesTest, SpecsBecomeCanonical) {
  const auto parsed = ParseTypedCreate(
      R"({"kind":"Cluster","name":"abc","spec":{ "b" : 1.0, "a" : 18446744073709551615 }})",
      *Stock().FindKind("Cluster"), SpecSchemas());
  EXPECT_EQ(std::get<CreateBody>(parsed).spec, R"({"a":18446744073709551615,"b":1})");
}

TEST(BodiesTest, RecordsHaveALimit) {
  EXPECT_EQ(
      Typed(R"({"kind":"Cluster","name":"abc","spec":{"a":")" + std::string(1 << 20, 'x') + "\"}}"),
      "VAL-008");
}

TEST(BodiesTest, Patches) {
  const auto verdict = [](const std::string& body) {
    return Verdict(ParsePatch(body, Stock().FindKind("Cluster"), SpecSchemas()));
  };
  EXPECT_EQ(verdict("{}"), "VAL-005");
  EXPECT_EQ(verdict(R"({"spec":null})"), "VAL-005");
  EXPECT_EQ(verdict(R"({"spec":null,"labels":{}})"), "VAL-000 spec");
  EXPECT_EQ(verdict(R"({"name":"x"})"), "VAL-006");
  EXPECT_EQ(verdict(R"({"spec":"x"})"), "VAL-000 spec");
  EXPECT_EQ(verdict(R"({"labels":{"-":"x"}})"), "VAL-000 labels");
  EXPECT_EQ(verdict(R"({"references":{"a":[]}})"), "VAL-000 references");
  EXPECT_EQ(verdict(R"({"references":{}})"), "ok");
  const auto patch =
      std::get<PatchBody>(ParsePatch(R"({"labels":{"a":"b"}})", nullptr, SpecSchemas()));
  EXPECT_FALSE(patch.spec.has_value());
  EXPECT_EQ(patch.labels, (projections::Labels{{"a", "b"}}));
}

TEST(BodiesTest, ReferencesHaveAShape) {
  projections::EntityDescriptor kind;
  kind.kind = "Pool";
  kind.references = {{.ref_type = "net", .target_kind = "Net", .min = 1}};
  const auto verdict = [&kind](const std::string& references) {
    return Verdict(ParsePatch("{\"references\":" + references + "}", &kind, SpecSchemas()));
  };
  EXPECT_EQ(verdict("[]"), "VAL-000 references");
  EXPECT_EQ(verdict(R"({"net":{}})"), "VAL-000 references.net");
  EXPECT_EQ(verdict(R"({"net":null})"), "VAL-000 references.net");
  EXPECT_EQ(verdict(R"({"net":["x"]})"), "VAL-000 references.net");
  EXPECT_EQ(verdict(R"({"net":[{"id":1}]})"), "VAL-000 references.net");
  EXPECT_EQ(verdict(R"({"net":[{"id":"x","kind":[]}]})"), "VAL-000 references.net");
  EXPECT_EQ(verdict(R"({"net":[{"kind":"Net"}]})"), "VAL-000 references.net");
  EXPECT_EQ(verdict(R"({"net":[{"id":"x"}]})"), "VAL-000 references.net");
  EXPECT_EQ(verdict("{}"), "VAL-000 references.net");
  EXPECT_EQ(verdict(R"({"net":[{"id":"x","kind":"Net","href":"ignored"}]})"), "ok");
  EXPECT_EQ(verdict("null"), "VAL-005");
  std::string many;
  for (int i = 0; i < 20'000; ++i) {
    many += (many.empty() ? "" : ",") + std::string(R"({"id":"x","kind":"Net"})");
  }
  EXPECT_EQ(verdict(R"({"net":[)" + many + "]}"), "VAL-008");
  // Where the kind is not known, the rule judges what belongs to it.
  const auto parsed =
      ParsePatch(R"({"references":{"x":[{"id":"a","kind":"B"}]}})", nullptr, SpecSchemas());
  EXPECT_EQ(std::get<PatchBody>(parsed).references,
            (projections::RequestedReferences{{"x", {{"a", "B"}}}}));
}

// The stock kinds, of which clusters must have a region.
const SpecSchemas& Regions() {
  static const SpecSchemas schemas = *SpecSchemas::Create(
      "openapi: 3.0.3\n"
      "info: {title: T, version: '1'}\n"
      "paths: {}\n"
      "components:\n"
      "  schemas:\n"
      "    ClusterSpec: {type: object, required: [region]}\n"
      "    NodePoolSpec: {}\n"
      "    ChannelSpec: {properties: {size: {type: integer}}}\n",
      Stock());
  return schemas;
}

TEST(SpecCheckTest, SchemasAreBeforeKindsAndNames) {
  const auto typed = [](const std::string& body) {
    return Verdict(ParseTypedCreate(body, *Stock().FindKind("Cluster"), Regions()));
  };
  EXPECT_EQ(typed(R"({"kind":"Channel","spec":{}})"), "VAL-000 spec.region");
  EXPECT_EQ(typed(R"({"kind":"Channel"})"), "VAL-000 kind");
  EXPECT_EQ(typed(R"({"kind":"Cluster","name":"abc","spec":{"region":1}})"), "ok");
  const auto root = [](const std::string& body) {
    return Verdict(ParseRootCreate(body, Stock(), Regions()));
  };
  EXPECT_EQ(root(R"({"kind":"Channel","name":"UPPER","spec":{"size":"x"}})"), "VAL-000 spec.size");
  EXPECT_EQ(root(R"({"kind":"Nothing","spec":{"size":"x"}})"), "VAL-000 kind");
}

// What schemas remember of a value is many times its size.
TEST(SpecCheckTest, WhatIsTooLargeIsNotCheckedAtAll) {
  const auto* const cluster = Stock().FindKind("Cluster");
  const std::string spec = R"("spec":{"a":")" + std::string(engine::kMaxRecordBytes, 'x') + "\"}";
  EXPECT_EQ(Verdict(ParseTypedCreate(R"({"kind":"Cluster","name":"abc",)" + spec + "}", *cluster,
                                     Regions())),
            "VAL-008");
  EXPECT_EQ(Verdict(ParsePatch("{" + spec + "}", cluster, Regions())), "VAL-008");
}

TEST(SpecCheckTest, APatchIsCheckedWhereItsKindIsKnown) {
  const auto* const cluster = Stock().FindKind("Cluster");
  EXPECT_EQ(Verdict(ParsePatch(R"({"spec":{}})", cluster, Regions())), "VAL-000 spec.region");
  EXPECT_EQ(Verdict(ParsePatch(R"({"labels":{}})", cluster, Regions())), "ok");
  auto late = ParsePatch(R"({"spec":{}})", nullptr, Regions());
  auto& body = std::get<PatchBody>(late);
  ASSERT_TRUE(body.unchecked_spec.has_value());
  LateSpecCheck check(Regions(), *std::move(body.unchecked_spec));
  EXPECT_EQ(check.For("Cluster")->errors.at(0).field, "spec.region");
  EXPECT_EQ(check.For("Cluster")->errors.at(0).field, "spec.region");
  EXPECT_FALSE(check.For("Channel").has_value());
}

TEST(ListParamsTest, AColumnCountsOnce) {
  std::string target = "/?order=kind";
  for (int i = 0; i < 1000; ++i) {
    target += ",kind%20desc,name";
  }
  const auto parsed = ParseListParams(*MakeRequest("GET", target), nullptr);
  const projections::Order order = std::get<ListParams>(parsed).options.order;
  EXPECT_EQ(order, (projections::Order{{projections::ResourceColumn::kKind, false},
                                       {projections::ResourceColumn::kName, false}}));
}

TEST(BodiesTest, ForceDeletes) {
  const auto verdict = [](const std::string& body) { return Verdict(ParseForceDelete(body)); };
  EXPECT_EQ(verdict(""), "VAL-006");
  EXPECT_EQ(verdict("{}"), "VAL-000 reason");
  EXPECT_EQ(verdict(R"({"reason":5})"), "VAL-000 reason");
  EXPECT_EQ(verdict(R"({"reason":" "})"), "VAL-000 reason");
  std::string umlauts;
  for (int i = 0; i < 1024; ++i) {
    umlauts += "\xC3\xA4";
  }
  EXPECT_EQ(verdict("{\"reason\":\"" + umlauts + "\"}"), "ok");
  EXPECT_EQ(verdict("{\"reason\":\"" + umlauts + "x\"}"), "VAL-000 reason");
}

TEST(ListParamsTest, DefaultsAndBounds) {
  const auto parse = [](const std::string& query) {
    return ParseListParams(*MakeRequest("GET", "/x?" + query), nullptr);
  };
  const auto options = std::get<ListParams>(parse("page=%20&order=&pageSize=3")).options;
  EXPECT_EQ(options.page, 1u);
  EXPECT_EQ(options.size, 20u);
  EXPECT_EQ(options.order, projections::DefaultOrder());
  EXPECT_EQ(std::get<ListParams>(parse("page=100000&size=100")).options.page, 100000u);
  EXPECT_EQ(Verdict(parse("page=100001")), "VAL-000 page");
  EXPECT_EQ(std::get<Problem>(parse("page=x&size=0")).errors.size(), 2u);
  EXPECT_EQ(Verdict(parse("order=nope")), "VAL-005");
  EXPECT_EQ(Verdict(parse("search=x")), "VAL-005");
  EXPECT_EQ(Verdict(parse("fields=x")), "VAL-000 fields");
  EXPECT_EQ(Verdict(parse("cursor=x")), "VAL-000 cursor");
  EXPECT_EQ(Verdict(parse("cursor=&page=2")), "VAL-000 page");
  EXPECT_TRUE(std::get<ListParams>(parse("cursor=")).wants_cursor);
  EXPECT_FALSE(std::get<ListParams>(parse("")).wants_cursor);
  EXPECT_EQ(Verdict(parse("ref_type=x")), "VAL-000 reftargetid");
  EXPECT_EQ(Verdict(parse("ref_target_id=x")), "VAL-000 reftype");
}

TEST(ListParamsTest, AReferenceFilterIsWholeAndOfTheKind) {
  projections::EntityDescriptor kind;
  kind.kind = "Pool";
  kind.references = {{.ref_type = "net", .target_kind = "Net"}};
  const auto parse = [&kind](const std::string& query, bool typed) {
    return ParseListParams(*MakeRequest("GET", "/x?" + query), typed ? &kind : nullptr);
  };
  const auto detail = [&parse](const std::string& query) {
    return std::get<Problem>(parse(query, true)).detail;
  };
  EXPECT_EQ(Verdict(parse("ref_type=x", false)), "VAL-000 reftargetid");
  EXPECT_EQ(Verdict(parse("ref_type=x&ref_target_id=y", false)), "ok");
  EXPECT_EQ(Verdict(parse("ref_type=x&ref_target_id=y", true)), "VAL-000 reftype");
  EXPECT_EQ(detail("ref_type=x&ref_target_id=y"), "Pool has no reference type 'x'");
  const auto request = MakeRequest("GET", "/x?ref_type=net&ref_target_id=y");
  const auto params = std::get<ListParams>(ParseListParams(*request, &kind));
  EXPECT_EQ(params.ref_type, "net");
  EXPECT_EQ(params.ref_target_id, "y");
}

TEST(ListParamsTest, OrdersHaveSeveralTerms) {
  const auto parsed =
      ParseListParams(*MakeRequest("GET", "/x?order=kind,name%20%20desc&order=id%20asc"), nullptr);
  using projections::OrderTerm;
  using projections::ResourceColumn;
  EXPECT_THAT(
      std::get<ListParams>(parsed).options.order,
      ElementsAre(OrderTerm{ResourceColumn::kKind, false}, OrderTerm{ResourceColumn::kName, true},
                  OrderTerm{ResourceColumn::kId, false}));
}

TEST(ProblemsTest, RefusalsHaveTheirCodes) {
  using projections::RefusalReason;
  const auto code = [](RefusalReason reason) {
    return ProblemCodeName(ProblemOf({reason, "why", {}}).code).substr(11);
  };
  EXPECT_EQ(code(RefusalReason::kNotFound), "NTF-001");
  EXPECT_EQ(code(RefusalReason::kParentNotFound), "NTF-001");
  EXPECT_EQ(code(RefusalReason::kVersionMismatch), "CNF-002");
  EXPECT_EQ(code(RefusalReason::kInvalidReference), "VAL-000");
  EXPECT_EQ(code(RefusalReason::kReferenced), "CNF-003");
  EXPECT_EQ(code(RefusalReason::kNeedsReference), "CNF-003");
  EXPECT_EQ(code(RefusalReason::kNameTaken), "CNF-001");
  EXPECT_EQ(code(RefusalReason::kMarkedForDeletion), "CNF-003");
  EXPECT_EQ(code(RefusalReason::kActiveChildren), "CNF-003");
  EXPECT_EQ(code(RefusalReason::kNotDeleting), "CNF-003");
  EXPECT_EQ(code(RefusalReason::kTooLarge), "VAL-008");
}

TEST(ProblemsTest, EntityTagsComeBackAsVersions) {
  const auto match = [](const std::string& header) {
    return IfMatch(*MakeRequest("PATCH", "/x", {{"If-Match", header}}));
  };
  EXPECT_EQ(EntityTag(engine::Position{17}), "\"17-0\"");
  EXPECT_THAT(match("\"17-0\""), ElementsAre(engine::Position{17}));
  EXPECT_THAT(match("\"17-3\", \"18-0\""), ElementsAre(engine::Position{17}, engine::Position{18}));
  EXPECT_TRUE(match("*").empty());
  EXPECT_TRUE(IfMatch(*MakeRequest("PATCH", "/x")).empty());
  for (const std::string odd : {"17-0", "W/\"17-0\"", "\"x\"", "\"17\"", "\"\"", ""}) {
    EXPECT_THAT(match(odd), ElementsAre(engine::Position::kBeforeFirst)) << odd;
  }
}

}  // namespace
}  // namespace api
