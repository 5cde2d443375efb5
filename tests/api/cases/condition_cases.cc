// Case 58 of the resource API: conditions that a kind's own rules derive from reports. The rules
// are those of cases::ConfigFile.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;

// A full report of `validation` that also says `more`.
std::string Validation(const std::string& more, const std::string& data = "{}") {
  std::string report = Report("validation", 1);
  report.resize(report.size() - 2);
  return report + "," + more + R"(],"data":)" + data + "}";
}

TEST_P(StatusCases, AKindsOwnRulesMakeConditions) {  // 58
  const std::string cluster = NewCluster();
  const Answer put = Put(cluster, Validation(R"({"type":"QuotaSufficient","status":"True",)"
                                             R"("reason":"Enough","message":"10 of 20"})"));
  EXPECT_EQ(put.status, 201) << put.body;
  const api::JsonValue shown = Get(cluster).Json();
  EXPECT_EQ(Shown(shown, "QuotaValid"), "True@1");
  EXPECT_EQ(Text(*Condition(shown, "QuotaValid"), "reason"), "Enough");
  EXPECT_EQ(Text(*Condition(shown, "QuotaValid"), "message"), Text(shown, "name") + ": 10 of 20");
  EXPECT_EQ(Shown(shown, "QuotaSufficient"), "");
  EXPECT_EQ(Shown(shown, "PolicyValid"), "");
}

TEST_P(StatusCases, ARuleThatFailsRefusesTheReport) {  // 58
  const std::string cluster = NewCluster();
  const std::string checked = R"({"type":"PolicyChecked","status":"True"})";
  const Answer refused = Put(cluster, Validation(checked));
  EXPECT_EQ(refused.status, 500) << refused.body;
  EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-INT-001");
  EXPECT_EQ(Text(refused.Json(), "outcome"), "none");
  EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("PolicyValid"));
  EXPECT_EQ(Text(Statuses(cluster), "total"), "0");
  EXPECT_EQ(Put(cluster, Validation(checked, R"({"policy":{"valid":"false"}})")).status, 201);
  EXPECT_EQ(ShownAt(cluster, "PolicyValid"), "False@1");
}

// A kind that requires no adapter has what its rules say, and nothing else.
TEST_P(StatusCases, RulesRunWithoutRequiredAdapters) {  // 58
  const std::string region =
      kBase + "/regions/" + Text(Make("/regions", "Region", FreshName("rg-"), "{}"), "id");
  EXPECT_TRUE(Member(Member(Get(region).Json(), "status"), "conditions").get_array().empty());
  std::string report = Report("survey", 1);
  report.insert(report.size() - 1, R"(,"data":{"done":true})");
  EXPECT_EQ(Put(region, report).status, 201);
  const api::JsonValue shown = Get(region).Json();
  EXPECT_EQ(Shown(shown, "Surveyed"), "True@1");
  EXPECT_EQ(Member(Member(shown, "status"), "conditions").get_array().size(), 1U);
  const Answer found = Get(kBase + "/regions?search=status.conditions.Surveyed%3D'True'");
  EXPECT_EQ(Names(found.Json()), std::vector<std::string>{Text(shown, "name")});
  EXPECT_EQ(Call("PATCH", region, R"({"spec":{"a":1}})").status, 200);
  EXPECT_EQ(ShownAt(region, "Surveyed"), "True@2");
}

TEST_P(StatusCases, TextsOfConditionsAreBounded) {
  const std::string cluster = NewCluster();
  const auto with = [](const std::string& member, std::size_t bytes) {
    std::string report = Report("dns", 1);
    const std::string available = R"("Available","status":"True")";
    report.insert(report.find(available) + available.size(),
                  ",\"" + member + "\":\"" + std::string(bytes, 'x') + "\"");
    return report;
  };
  for (const auto& [member, limit] :
       std::vector<std::pair<std::string, std::size_t>>{{"reason", 1024}, {"message", 32768}}) {
    const Answer refused = Put(cluster, with(member, limit + 1));
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
    EXPECT_THAT(refused.body, HasSubstr("conditions[0]." + member));
    EXPECT_EQ(Put(cluster, with(member, limit)).status, 201);
  }
  EXPECT_EQ(Text(*Condition(Get(cluster).Json(), "DnsSuccessful"), "message"),
            std::string(8192, 'x'));
}

}  // namespace
}  // namespace cases
