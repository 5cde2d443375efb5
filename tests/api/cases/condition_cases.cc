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

}  // namespace
}  // namespace cases
