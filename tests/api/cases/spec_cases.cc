// Specs, against the schemas of the document that every world serves with (cases::SpecDocument).

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;

const std::string kWifConfigs = kBase + "/wifconfigs";

std::string Create(const std::string& kind, const std::string& name, const std::string& spec) {
  return R"({"kind":")" + kind + R"(","name":")" + name + R"(","spec":)" + spec + "}";
}

void ExpectSpecProblem(const Answer& answer, const std::string& field) {
  EXPECT_EQ(answer.status, 400) << answer.body;
  const api::JsonValue problem = answer.Json();
  EXPECT_EQ(Text(problem, "code"), "HYPERFLEET-VAL-000");
  EXPECT_THAT(Text(problem, "detail"), HasSubstr("spec"));
  EXPECT_NE(Text(problem, "instance"), "");
  EXPECT_NE(Text(problem, "trace_id"), "");
  const api::JsonValue& errors = Member(problem, "errors");
  ASSERT_TRUE(errors.is_array() && !errors.get_array().empty()) << answer.body;
  EXPECT_EQ(Text(errors.get_array().front(), "field"), field) << answer.body;
}

// Case 4.
TEST_P(SpecCases, ASpecIsNeededAndNotNull) {
  const std::string name = FreshName("no-spec");
  ExpectSpecProblem(Call("POST", kBase + "/clusters", Create("Cluster", name, "null")), "spec");
  ExpectSpecProblem(
      Call("POST", kBase + "/clusters", R"({"kind":"Cluster","name":")" + name + "\"}"), "spec");
}

// Case 5.
TEST_P(SpecCases, ASpecIsAnObject) {
  ExpectSpecProblem(
      Call("POST", kBase + "/clusters", Create("Cluster", FreshName("text"), "\"text\"")), "spec");
}

// Case 14.
TEST_P(SpecCases, ASpecIsAnObjectOnEveryRoute) {
  ExpectSpecProblem(
      Call("POST", kBase + "/resources", Create("Channel", FreshName("text"), "\"text\"")), "spec");
  const std::string id = Text(MakeChannel(FreshName("channel")), "id");
  for (const std::string path : {"/resources/", "/channels/"}) {
    ExpectSpecProblem(Call("PATCH", kBase + path + id, R"({"spec":"text"})"), "spec");
  }
}

TEST_P(SpecCases, ASpecIsAsTheSchemaOfItsKindWantsIt) {
  const std::string name = FreshName("wif");
  for (const std::string path : {"/wifconfigs", "/resources"}) {
    const Answer refused =
        Call("POST", kBase + path, Create("WifConfig", name, R"({"issuer":{"url":"http://x"}})"));
    ExpectSpecProblem(refused, "spec.issuer.url");
    EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("WifConfigSpec"));
  }
  ExpectSpecProblem(
      Call("POST", kWifConfigs, Create("WifConfig", name, R"({"tiers":["a","b","a"]})")),
      "spec.tiers");
  ExpectSpecProblem(
      Call("POST", kWifConfigs, Create("WifConfig", name, R"({"limit":9007199254740993})")),
      "spec.limit");
  const Answer made = Call("POST", kWifConfigs,
                           Create("WifConfig", name, R"({"limit":9007199254740992,"other":[]})"));
  EXPECT_EQ(made.status, 201) << made.body;
}

TEST_P(SpecCases, APatchIsCheckedAsAWholeWhateverItsRoute) {
  const api::JsonValue made =
      Make("/wifconfigs", "WifConfig", FreshName("wif"), R"({"issuer":{"url":"https://x"}})");
  const std::string id = Text(made, "id");
  for (const std::string path : {"/wifconfigs/", "/resources/"}) {
    ExpectSpecProblem(Call("PATCH", kBase + path + id, R"({"spec":{"issuer":{}}})"),
                      "spec.issuer.url");
    // Found to be wrong before versions are compared.
    ExpectSpecProblem(CallServer(0, "PATCH", kBase + path + id, R"({"spec":{"issuer":1}})",
                                 {{"If-Match", "\"1-0\""}}),
                      "spec.issuer");
  }
  EXPECT_EQ(Call("PATCH", kBase + "/resources/00000000-0000-7000-8000-000000000000",
                 R"({"spec":{"issuer":1}})")
                .status,
            404);
  EXPECT_EQ(Text(Get(kWifConfigs + "/" + id).Json(), "generation"), "1");
  const Answer patched =
      Call("PATCH", kBase + "/resources/" + id, R"({"spec":{"issuer":{"url":"https://y"}}})");
  EXPECT_EQ(patched.status, 200) << patched.body;
  // Labels alone send no spec.
  EXPECT_EQ(Call("PATCH", kBase + "/resources/" + id, R"({"labels":{"a":"b"}})").status, 200);
}

}  // namespace
}  // namespace cases
