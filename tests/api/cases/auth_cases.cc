// Who is served, and whose name is recorded: a world that checks tokens.

#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "tests/api/cases/identity_worlds.h"
#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;

Headers With(Headers headers, std::string_view name, std::string value) {
  headers.emplace_back(name, std::move(value));
  return headers;
}

std::string ClusterBody(const std::string& name) {
  return R"({"kind":"Cluster","name":")" + name + R"(","spec":{}})";
}

void ExpectRefused(const Answer& answer, int status, std::string_view code) {
  EXPECT_EQ(answer.status, status) << answer.body;
  const api::JsonValue problem = answer.Json();
  EXPECT_EQ(Text(problem, "code"), code) << answer.body;
  EXPECT_EQ(answer.Header("content-type"), "application/problem+json");
  EXPECT_NE(Text(problem, "trace_id"), "");
}

}  // namespace

// Case 82.
TEST_P(AuthCases, WithoutAGoodTokenNobodyIsServed) {
  const std::string clusters = kBase + "/clusters";
  for (const char* method : {"GET", "POST"}) {
    const Answer answer = Call(method, clusters, "not a body");
    ExpectRefused(answer, 401, "HYPERFLEET-AUT-001");
    EXPECT_EQ(answer.Header("www-authenticate"), "Bearer");
  }
  const support::TokenKey forger = support::TokenKey::Make("RS256", IssuerKey().kid());
  const Headers good = BearerOf("ann@x.example");
  for (const Headers& bad :
       {BearerOf("ann@x.example", 3600, forger), BearerOf("ann@x.example", -3600, forger),
        Headers{{"Authorization", "Bearer garbage"}}, Headers{{"Authorization", "Basic YTpi"}},
        Headers{{"Authorization", "ServiceAccount x"}}, With(good, "Authorization", "Bearer x")}) {
    ExpectRefused(Call("GET", clusters, "", bad), 401, "HYPERFLEET-AUT-002");
    ExpectRefused(Call("POST", clusters, "not a body", bad), 401, "HYPERFLEET-AUT-002");
  }
  ExpectRefused(Call("GET", clusters, "", BearerOf("ann@x.example", -3600)), 401,
                "HYPERFLEET-AUT-003");
  EXPECT_EQ(Call("GET", clusters, "", good).status, 200);
}

TEST_P(AuthCases, WhatIsForEverybodyNeedsNoToken) {
  EXPECT_EQ(Get("/api/hyperfleet").status, 200);
  EXPECT_EQ(Get(kBase + "/openapi").status, 200);
  EXPECT_EQ(Get("/healthz").status, 200);
  const Answer nothing = Get(kBase + "/nothing");
  EXPECT_EQ(nothing.status, 404);
  EXPECT_EQ(Text(nothing.Json(), "code"), "HYPERFLEET-NTF-000") << nothing.body;
}

TEST_P(AuthCases, OperatorsAreServedByTheirTokens) {
  const Answer made = AsAdmin("POST", kBase + "/clusters", ClusterBody(FreshName("auth-")));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Text(made.Json(), "created_by"), kAdminName);
  // And nobody else comes to be one.
  EXPECT_EQ(Call("GET", "/api/v1/streams", "", BearerOf("ann@x.example")).status, 401);
}

// Case 83.
TEST_P(AuthCases, TheHeaderOrTheTokenNamesWhoActs) {
  const auto create = [this](const Headers& headers) {
    return Call("POST", kBase + "/clusters", ClusterBody(FreshName("auth-")), headers);
  };
  const Headers token = BearerOf("ann@x.example");
  for (const auto& [header, expected] : std::vector<std::pair<std::string, std::string>>{
           {"system:serviceaccount:a:b", "system:serviceaccount:a:b"},
           {" bob ", "bob"},
           {std::string(255, 'x'), std::string(255, 'x')},
           {"", "ann@x.example"}}) {
    const Answer made = create(With(token, kIdentityHeader, header));
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(Text(made.Json(), "created_by"), expected);
  }
  const Answer plain = create(token);
  ASSERT_EQ(plain.status, 201) << plain.body;
  EXPECT_EQ(Text(plain.Json(), "created_by"), "ann@x.example");
  for (const std::string& bad : {std::string(256, 'x'), std::string(257, 'x')}) {
    ExpectRefused(create(With(token, kIdentityHeader, bad)), 401, "HYPERFLEET-AUT-001");
  }
  ExpectRefused(create(BearerOf("")), 401, "HYPERFLEET-AUT-001");
  EXPECT_EQ(Call("GET", kBase + "/clusters", "", BearerOf("")).status, 200) << "reads have no name";
}

// Case 84.
TEST_P(AuthCases, EachChangeIsRecordedForWhoMadeIt) {
  const Answer made =
      Call("POST", kBase + "/clusters", ClusterBody(FreshName("auth-")), BearerOf("a@x.example"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Text(made.Json(), "created_by"), "a@x.example");
  EXPECT_EQ(Text(made.Json(), "updated_by"), "a@x.example");
  const std::string path = kBase + "/clusters/" + Text(made.Json(), "id");
  const Answer patched = Call("PATCH", path, R"({"labels":{"a":"b"}})", BearerOf("b@x.example"));
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(Text(patched.Json(), "created_by"), "a@x.example");
  EXPECT_EQ(Text(patched.Json(), "updated_by"), "b@x.example");
  const Answer deleted = Call("DELETE", path, "", BearerOf("c@x.example"));
  ASSERT_EQ(deleted.status, 202) << deleted.body;
  EXPECT_EQ(Text(deleted.Json(), "created_by"), "a@x.example");
  EXPECT_EQ(Text(deleted.Json(), "deleted_by"), "c@x.example");
}

}  // namespace cases
