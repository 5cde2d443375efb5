// Cases 1 to 18 of the resource API: create, validate, read.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;
using testing::Not;

// `01890a5d-ac96-774b-bcce-b302099a8057`
bool IsUuidV7(const std::string& id) {
  constexpr std::string_view kShape = "xxxxxxxx-xxxx-7xxx-vxxx-xxxxxxxxxxxx";
  if (id.size() != kShape.size()) {
    return false;
  }
  for (std::size_t i = 0; i < id.size(); ++i) {
    const std::string_view allowed = kShape[i] == 'x'   ? "0123456789abcdef"
                                     : kShape[i] == 'v' ? "89ab"
                                                        : kShape.substr(i, 1);
    if (allowed.find(id[i]) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string ClusterBody(const std::string& name, const std::string& spec = "{}") {
  return R"({"kind":"Cluster","name":")" + name + R"(","spec":)" + spec + "}";
}

TEST_P(CreateCases, AClusterIsCreated) {  // 1
  const Answer made = Call("POST", kBase + "/clusters", ClusterBody(FreshName("one-")));
  ASSERT_EQ(made.status, 201) << made.body;
  const api::JsonValue cluster = made.Json();
  const std::string id = Text(cluster, "id");
  EXPECT_TRUE(IsUuidV7(id)) << id;
  EXPECT_EQ(Text(cluster, "kind"), "Cluster");
  EXPECT_EQ(Text(cluster, "href"), kBase + "/clusters/" + id);
  EXPECT_EQ(Text(cluster, "generation"), "1");
  EXPECT_EQ(Text(cluster, "created_by"), "system@hyperfleet.local");
  EXPECT_EQ(made.Header("content-type"), "application/json");
  const Answer read = Get(kBase + "/clusters/" + id);
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body, made.body);
  EXPECT_EQ(read.Header("etag"), made.Header("etag"));
}

TEST_P(CreateCases, AnOperatorsTokenNamesTheActor) {
  const Answer made = AsAdmin("POST", kBase + "/clusters", ClusterBody(FreshName("actor-")));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Text(made.Json(), "created_by"), kAdminName);
  EXPECT_THAT(made.Header("x-halo-tx"), Not(""));
}

TEST_P(CreateCases, AnUnreadableBodyIsAProblem) {  // 2
  for (const std::string body : {"", "{", "not json", "[]", "{\"kind\":\"Cluster\"} x"}) {
    const Answer refused = Call("POST", kBase + "/clusters", body);
    EXPECT_EQ(refused.status, 400) << body;
    EXPECT_EQ(refused.Header("content-type"), "application/problem+json");
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-006") << body;
  }
}

TEST_P(CreateCases, TheKindMustBeTheRoutes) {  // 3
  for (const std::string kind : {"", "NodePool", "cluster"}) {
    const Answer refused =
        Call("POST", kBase + "/clusters", R"({"kind":")" + kind + R"(","name":"abc","spec":{}})");
    EXPECT_EQ(refused.status, 400) << kind;
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
  }
}

TEST_P(CreateCases, ASpecIsRequired) {  // 4
  for (const std::string body :
       {R"({"kind":"Cluster","name":"abc","spec":null})", R"({"kind":"Cluster","name":"abc"})"}) {
    EXPECT_EQ(Call("POST", kBase + "/clusters", body).status, 400) << body;
  }
}

TEST_P(CreateCases, ASpecIsAnObject) {  // 5
  const Answer refused =
      Call("POST", kBase + "/clusters", ClusterBody(FreshName("text-"), "\"text\""));
  ASSERT_EQ(refused.status, 400);
  const api::JsonValue problem = refused.Json();
  EXPECT_EQ(Text(problem, "code"), "HYPERFLEET-VAL-000");
  EXPECT_THAT(Text(problem, "detail"), HasSubstr("spec"));
  EXPECT_EQ(Text(problem, "instance"), kBase + "/clusters");
  EXPECT_EQ(Text(problem, "trace_id"), refused.Header("x-request-id"));
  EXPECT_THAT(Text(problem, "trace_id"), Not(""));
}

TEST_P(CreateCases, NamesHaveBounds) {  // 6
  const std::string tail = FreshName("");
  const std::string longest = std::string(53 - tail.size(), 'a') + tail;
  EXPECT_EQ(Call("POST", kBase + "/clusters", ClusterBody(longest)).status, 201);
  EXPECT_EQ(Call("POST", kBase + "/clusters", ClusterBody(longest + "a")).status, 400);
  for (const std::string name : {"", "ab", "n\xC3\xA4me", "Upper", "-abc", "abc-", "a b"}) {
    const Answer refused = Call("POST", kBase + "/clusters", ClusterBody(name));
    EXPECT_EQ(refused.status, 400) << name;
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
  }
}

TEST_P(CreateCases, ANameIsTakenOnce) {  // 7
  const std::string name = FreshName("twice-");
  const std::string id = Text(MakeCluster(name), "id");
  const Answer refused = Call("POST", kBase + "/clusters", ClusterBody(name));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-CNF-001");
  EXPECT_EQ(Get(kBase + "/clusters/" + id).status, 200);
}

TEST_P(CreateCases, ALargeSpecComesBack) {  // 8
  std::string spec = "{";
  for (int i = 0; i < 100; ++i) {
    spec +=
        (i == 0 ? "" : ",") + ("\"key" + std::to_string(i)) + "\":\"" + std::string(90, 'v') + "\"";
  }
  spec += "}";
  const std::string id = Text(MakeCluster(FreshName("large-"), spec), "id");
  const api::JsonValue read = Get(kBase + "/clusters/" + id).Json();
  ASSERT_TRUE(Member(read, "spec").is_object());
  EXPECT_EQ(Member(read, "spec").get_object().size(), 100u);
  EXPECT_EQ(Text(Member(read, "spec"), "key99"), std::string(90, 'v'));
}

TEST_P(CreateCases, AChildBelongsToItsParent) {  // 9
  const std::string body = R"({"kind":"NodePool","name":"pool","spec":{}})";
  const Answer orphan =
      Call("POST", kBase + "/clusters/01234567-89ab-7cde-8f01-23456789abcd/nodepools", body);
  EXPECT_EQ(orphan.status, 404);
  EXPECT_EQ(Text(orphan.Json(), "code"), "HYPERFLEET-NTF-001");
  const std::string id = Text(MakeCluster(FreshName("parent-")), "id");
  const api::JsonValue pool = MakeNodePool(id, "pool");
  const api::JsonValue& owner = Member(pool, "owner_references");
  EXPECT_EQ(Text(owner, "id"), id);
  EXPECT_EQ(Text(owner, "kind"), "Cluster");
  EXPECT_EQ(Text(owner, "href"), kBase + "/clusters/" + id);
  EXPECT_EQ(Text(pool, "href"), kBase + "/clusters/" + id + "/nodepools/" + Text(pool, "id"));
}

TEST_P(CreateCases, AChildsNameIsItsParents) {  // 10
  const std::string first = Text(MakeCluster(FreshName("scope-")), "id");
  const std::string second = Text(MakeCluster(FreshName("scope-")), "id");
  MakeNodePool(first, "pool");
  const std::string body = R"({"kind":"NodePool","name":"pool","spec":{}})";
  EXPECT_EQ(Call("POST", kBase + "/clusters/" + first + "/nodepools", body).status, 409);
  EXPECT_EQ(Call("POST", kBase + "/clusters/" + second + "/nodepools", body).status, 201);
}

TEST_P(CreateCases, AChildNeedsItsParentsPath) {  // 11
  const std::string body = R"({"kind":"Version","name":"v1","spec":{}})";
  for (const std::string path : {"/versions", "/resources"}) {
    const Answer refused = Call("POST", kBase + path, body);
    EXPECT_EQ(refused.status, 422) << path;
    EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("channels"));
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
  }
}

TEST_P(CreateCases, AnyKindIsMadeAndReadAtTheRoot) {  // 12
  const api::JsonValue made = Make("/resources", "Channel", FreshName("root-"), "{\"a\":1}");
  const Answer read = Get(kBase + "/resources/" + Text(made, "id"));
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.Json(), made);
  EXPECT_EQ(Text(made, "kind"), "Channel");
}

TEST_P(CreateCases, TheRootListIsNarrowedByKind) {  // 13
  MakeChannel(FreshName("only-"));
  const Answer list = Get(kBase + "/resources?kind=Channel&size=100");
  ASSERT_EQ(list.status, 200);
  const api::JsonValue page = list.Json();
  for (const api::JsonValue& item : Member(page, "items").get_array()) {
    EXPECT_EQ(Text(item, "kind"), "Channel");
  }
  EXPECT_FALSE(Names(list.Json()).empty());
  EXPECT_EQ(Get(kBase + "/resources?kind=NonExistent").status, 400);
}

TEST_P(CreateCases, AStringSpecIsRefusedEverywhere) {  // 14
  const api::JsonValue channel = MakeChannel(FreshName("shape-"));
  const std::string id = Text(channel, "id");
  const std::string patch = R"({"spec":"text"})";
  const std::vector<Answer> refusals = {
      Call("POST", kBase + "/resources", R"({"kind":"Channel","name":"abc","spec":"text"})"),
      Call("PATCH", kBase + "/resources/" + id, patch),
      Call("PATCH", kBase + "/channels/" + id, patch)};
  for (const Answer& refused : refusals) {
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
    EXPECT_EQ(Text(refused.Json(), "type"), "https://api.hyperfleet.io/errors/validation-error");
    EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("spec"));
  }
}

TEST_P(CreateCases, AMissingResourceIsNotFound) {  // 15
  const std::string id = "01234567-89ab-7cde-8f01-23456789abcd";
  const std::string one = kBase + "/clusters/" + id;
  const std::vector<Answer> answers = {Get(one), Call("PATCH", one, R"({"spec":{}})"),
                                       Call("DELETE", one), Get(kBase + "/resources/" + id)};
  for (const Answer& answer : answers) {
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(Text(answer.Json(), "code"), "HYPERFLEET-NTF-001");
  }
  EXPECT_THAT(Text(answers.back().Json(), "detail"), HasSubstr("Resource"));
  const std::string right = Text(MakeCluster(FreshName("right-")), "id");
  const std::string wrong = Text(MakeCluster(FreshName("wrong-")), "id");
  const std::string pool = Text(MakeNodePool(right, "pool"), "id");
  EXPECT_EQ(Get(kBase + "/clusters/" + right + "/nodepools/" + pool).status, 200);
  EXPECT_EQ(Get(kBase + "/clusters/" + wrong + "/nodepools/" + pool).status, 404);
  EXPECT_EQ(Get(kBase + "/clusters/" + pool).status, 404);
}

TEST_P(CreateCases, AChildIsReachedFlatToo) {  // 16
  const std::string channel = Text(MakeChannel(FreshName("flat-")), "id");
  const std::string path = kBase + "/versions/" + Text(MakeVersion(channel, "v1"), "id");
  EXPECT_EQ(Get(path).status, 200);
  EXPECT_EQ(Call("PATCH", path, R"({"spec":{"a":1}})").status, 200);
  EXPECT_EQ(Call("DELETE", path).status, 202);
}

TEST_P(CreateCases, TheApiSaysWhatItIs) {  // 17
  const Answer answer = Get("/api/hyperfleet");
  ASSERT_EQ(answer.status, 200);
  const api::JsonValue about = answer.Json();
  EXPECT_EQ(Text(about, "id"), "hyperfleet");
  EXPECT_EQ(Text(about, "kind"), "API");
  EXPECT_EQ(Text(about, "href"), "/api/hyperfleet");
  EXPECT_THAT(Text(about, "version"), Not(""));
  EXPECT_THAT(Text(about, "build_time"), Not(""));
}

TEST_P(CreateCases, NewResourcesHaveTheirFirstConditions) {  // 18
  const api::JsonValue cluster = MakeCluster(FreshName("cond-"));
  for (const std::string_view type : {"Reconciled", "LastKnownReconciled"}) {
    const api::JsonValue* condition = Condition(cluster, type);
    ASSERT_NE(condition, nullptr) << type;
    EXPECT_EQ(Text(*condition, "status"), "False");
    EXPECT_EQ(Text(*condition, "observed_generation"), "1");
  }
  EXPECT_EQ(Condition(cluster, "Ready"), nullptr);
  const api::JsonValue channel = MakeChannel(FreshName("cond-"));
  EXPECT_TRUE(Member(Member(channel, "status"), "conditions").get_array().empty());
}

TEST_P(CreateCases, LabelsAreCheckedTogether) {
  const Answer refused =
      Call("POST", kBase + "/clusters",
           R"({"kind":"Cluster","name":"abc","spec":{},"labels":{"-bad":"x","good":"no space"}})");
  ASSERT_EQ(refused.status, 400);
  EXPECT_EQ(Member(refused.Json(), "errors").get_array().size(), 2u) << refused.body;
}

TEST_P(CreateCases, IntegersStayExact) {
  const std::string spec =
      R"({"big":18446744073709551615,"odd":9007199254740993,"small":-9223372036854775808})";
  const std::string id = Text(MakeCluster(FreshName("exact-"), spec), "id");
  EXPECT_THAT(Get(kBase + "/clusters/" + id).body, HasSubstr("\"spec\":" + spec));
}

TEST_P(CreateCases, AVersionCanBeDemanded) {
  const api::JsonValue made = MakeCluster(FreshName("match-"));
  const std::string path = kBase + "/clusters/" + Text(made, "id");
  const std::string tag = Get(path).Header("etag");
  const auto patch = [&](const std::string& body, const std::string& if_match) {
    return Call("PATCH", path, body, {{"If-Match", if_match}});
  };
  EXPECT_EQ(patch(R"({"spec":{"a":1}})", tag).status, 200);
  const Answer refused = patch(R"({"spec":{"a":2}})", tag);
  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-CNF-002");
  EXPECT_EQ(patch(R"({"spec":{"a":2}})", "*").status, 200);
}

}  // namespace
}  // namespace cases
