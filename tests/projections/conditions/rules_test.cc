#include "projections/conditions/rules.h"

#include <gmock/gmock.h>

#include "projections/statuses/state.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using schemas::ConditionStatus;
using testing::HasSubstr;

ConditionRule QuotaRule() {
  return {.type = "QuotaValid",
          .when_expression =
              "statuses.exists(s, s.adapter == 'validation' && "
              "s.conditions.exists(c, c.type == 'QuotaSufficient'))",
          .status_expression =
              "statuses.filter(s, s.adapter == 'validation')[0].conditions"
              ".filter(c, c.type == 'QuotaSufficient')[0].status",
          .reason_expression =
              "statuses.filter(s, s.adapter == 'validation')[0].conditions"
              ".filter(c, c.type == 'QuotaSufficient')[0].reason",
          .message_expression = "'quota: ' + dig(statuses, '0.conditions.1.message')"};
}

ConditionRules Compiled(const std::vector<ConditionRule>& rules) {
  auto compiled = ConditionRules::Compile(rules);
  EXPECT_OK(compiled);
  return *std::move(compiled);
}

// A rule that applies, whose parts are these.
ConditionRule Always(std::string status, std::string reason = "", std::string message = "") {
  return {.type = "Always",
          .when_expression = "true",
          .status_expression = std::move(status),
          .reason_expression = std::move(reason),
          .message_expression = std::move(message)};
}

// A report of `validation`, with what was found out about the quota.
std::string Report(ConditionStatus quota, std::string data = "{}",
                   std::string adapter = "validation") {
  ReportState state;
  state.resource_id = "id";
  state.adapter = std::move(adapter);
  state.observed_generation = 3;
  state.conditions = {{.type = "Available",
                       .status = ConditionStatus::kTrue,
                       .reason = "",
                       .message = "",
                       .last_transition_time = {}},
                      {.type = "QuotaSufficient",
                       .status = quota,
                       .reason = "Enough",
                       .message = "10 of 20",
                       .last_transition_time = {}}};
  state.data = std::move(data);
  return EncodeReport(state);
}

using Conditions = absl::StatusOr<std::vector<MappedCondition>>;

Conditions RunRules(const ConditionRules& rules, const std::vector<std::string>& reports,
                    std::string_view resource = "{}") {
  std::vector<const schemas::AdapterReport*> tables;
  for (const std::string& report : reports) {
    tables.push_back(&ReportIn(report));
  }
  return rules.Run(resource, tables);
}

TEST(ConditionRulesTest, AReportBecomesACondition) {
  const ConditionRules rules = Compiled({QuotaRule()});
  ASSERT_OK_AND_ASSIGN(const auto mapped, RunRules(rules, {Report(ConditionStatus::kTrue)}));
  ASSERT_EQ(mapped.size(), 1u);
  EXPECT_EQ(mapped[0].type, "QuotaValid");
  EXPECT_EQ(mapped[0].status, ConditionStatus::kTrue);
  EXPECT_EQ(mapped[0].reason, "Enough");
  EXPECT_EQ(mapped[0].message, "quota: 10 of 20");
  ASSERT_OK_AND_ASSIGN(const auto none, RunRules(rules, {}));
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(ConditionRules().empty());
}

TEST(ConditionRulesTest, AReportWithSomethingUnknownIsNotSeen) {
  const ConditionRules rules = Compiled({Always("string(size(statuses) == 1)")});
  ASSERT_OK_AND_ASSIGN(const auto mapped, RunRules(rules, {Report(ConditionStatus::kUnknown),
                                                           Report(ConditionStatus::kFalse)}));
  EXPECT_EQ(mapped.at(0).status, ConditionStatus::kTrue);
}

TEST(ConditionRulesTest, SecretsAreHidden) {
  const ConditionRules rules = Compiled(
      {Always("true", "", "statuses[0].data.dbPassword + resource.spec.auth_key + resource.name")});
  ASSERT_OK_AND_ASSIGN(
      const auto mapped,
      RunRules(rules, {Report(ConditionStatus::kTrue, R"({"dbPassword":"hunter2"})")},
               R"({"name":"n","spec":{"auth_key":"k"}})"));
  EXPECT_EQ(mapped.at(0).message, "***REDACTED******REDACTED***n");
}

TEST(ConditionRulesTest, WhatAnExpressionSees) {
  const ConditionRules rules = Compiled(
      {Always("statuses[0].observed_generation == 3.0 && resource.generation == 3 && "
              "statuses[0].conditions[0].reason == '' && statuses[0].data.n / 2.0 == 3.5")});
  ASSERT_OK_AND_ASSIGN(
      const auto mapped,
      RunRules(rules, {Report(ConditionStatus::kTrue, R"({"n":7})")}, R"({"generation":3})"));
  EXPECT_EQ(mapped.at(0).status, ConditionStatus::kTrue);
}

TEST(ConditionRulesTest, ResultsHaveTheirForm) {
  const auto one = [](const ConditionRule& rule) { return RunRules(Compiled({rule}), {}); };
  EXPECT_EQ(one(Always("'TRUE'"))->at(0).status, ConditionStatus::kTrue);
  EXPECT_EQ(one(Always("false"))->at(0).status, ConditionStatus::kFalse);
  EXPECT_THAT(one(Always("'Unknown'")).status().message(), HasSubstr("must be True or False"));
  EXPECT_THAT(one(Always("1")).status().message(), HasSubstr("condition Always: status"));
  EXPECT_THAT(one(Always("true", "1")).status().message(), HasSubstr("must be a string"));
  ConditionRule when = Always("true");
  when.when_expression = "'yes'";
  EXPECT_THAT(one(when).status().message(), HasSubstr("must be a bool"));
  EXPECT_THAT(one(Always("resource.x")).status().message(), HasSubstr("no member x"));
}

TEST(ConditionRulesTest, LongTexts) {
  const auto resource = [](std::size_t size) {
    return "{\"t\":\"" + std::string(size, 'x') + "\"}";
  };
  const ConditionRules reason = Compiled({Always("true", "resource.t")});
  EXPECT_EQ(RunRules(reason, {}, resource(256))->size(), 1u);
  EXPECT_EQ(RunRules(reason, {}, resource(257))->size(), 0u);
  const ConditionRules message = Compiled({Always("true", "", "resource.t")});
  EXPECT_EQ(RunRules(message, {}, resource(3000))->at(0).message.size(), 2048u);
  // 2047 bytes and a character of two: it does not fit.
  const ConditionRules accent = Compiled({Always("true", "", "resource.t + '\u00E9'")});
  EXPECT_EQ(RunRules(accent, {}, resource(2046))->at(0).message.size(), 2048u);
  EXPECT_EQ(RunRules(accent, {}, resource(2047))->at(0).message.size(), 2047u);
}

TEST(ConditionRulesTest, MistakesAreFoundWhenCompiled) {
  const std::vector<ConditionRule> rules = {Always("true", "", "timestamp('x')")};
  const absl::Status status = ConditionRules::Compile(rules).status();
  EXPECT_EQ(std::string(status.message().data(), status.message().size()),
            "condition Always: message: at byte 0: there is no function timestamp()");
  EntityDescriptor entity;
  entity.kind = "Cluster";
  entity.plural = "clusters";
  entity.conditions = rules;
  EXPECT_THAT(std::string(Registry::Create({entity}).status().message()),
              HasSubstr("Cluster: condition Always"));
}

TEST(ConditionRulesTest, ReportsStandInTheOrderOfTheirAdapters) {
  const ConditionRules rules = Compiled({Always("true", "", "toJson(statuses.map(s, s.adapter))")});
  ASSERT_OK_AND_ASSIGN(const auto mapped,
                       RunRules(rules, {Report(ConditionStatus::kTrue, "{}", "b"),
                                        Report(ConditionStatus::kTrue, "{}", "a")}));
  EXPECT_EQ(mapped.at(0).message, R"(["a","b"])");
}

TEST(ConditionRulesTest, AreSortedByType) {
  ConditionRule first = Always("true");
  first.type = "Aardvark";
  ASSERT_OK_AND_ASSIGN(const auto mapped, RunRules(Compiled({Always("true"), first}), {}));
  ASSERT_EQ(mapped.size(), 2u);
  EXPECT_EQ(mapped[0].type, "Aardvark");
}

}  // namespace
}  // namespace projections
