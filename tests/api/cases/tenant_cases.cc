// Whose resources a caller sees and changes: a world that tells tenants apart.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/api/cases/identity_worlds.h"
#include "tests/api/cases/status_case.h"
#include "tests/api/cases/suites.h"
#include "tests/support/seeded_random.h"

namespace cases {
namespace {

using testing::Contains;
using testing::Not;

using Dims = std::map<std::string, std::string>;

Headers Org(const std::string& org) {
  return {{std::string(kOrgHeader), org}};
}
Headers OrgAndProject(const std::string& org, const std::string& project) {
  return {{std::string(kOrgHeader), org}, {std::string(kProjectHeader), project}};
}
Headers System() {
  return {{std::string(kSystemHeader), "true"}};
}

std::string Body(const std::string& kind, const std::string& name) {
  return R"({"kind":")" + kind + R"(","name":")" + name + R"(","spec":{}})";
}

void ExpectForbidden(const Answer& answer) {
  EXPECT_EQ(answer.status, 403) << answer.body;
  EXPECT_EQ(Text(answer.Json(), "code"), "HYPERFLEET-AUZ-001") << answer.body;
  EXPECT_EQ(answer.Header("content-type"), "application/problem+json");
}

// As a create leaves it, the members sorted.
std::string TenancyOf(const Answer& answer) {
  return Text(answer.Json(), "tenancy");
}

}  // namespace

// Case 85.
TEST_P(TenantCases, HeadersHaveToSayWhoseARequestIs) {
  const std::string clusters = kBase + "/clusters";
  ExpectForbidden(Get(clusters));
  for (const std::string& bad :
       {std::string(), std::string(" "), std::string(64, 'a'), std::string("acme/<script>")}) {
    ExpectForbidden(Call("GET", clusters, "", Org(bad)));
    ExpectForbidden(Call("POST", clusters, "not a body", Org(bad)));
  }
  ExpectForbidden(Call("GET", clusters, "", {{std::string(kProjectHeader), "p"}}));
  ExpectForbidden(
      Call("GET", clusters, "", {{std::string(kOrgHeader), "a"}, {std::string(kOrgHeader), "a"}}));
  EXPECT_EQ(Call("GET", clusters, "", Org(std::string(63, 'a'))).status, 200);
  EXPECT_EQ(Get(kBase + "/nothing").status, 404);
  EXPECT_EQ(Get(kBase + "/openapi").status, 200);
  EXPECT_EQ(Get("/api/hyperfleet").status, 200);
}

// One that does not know the headers of tenants would give it to others.
TEST_P(TenantCases, NoCacheMayKeepAnAnswer) {
  const std::string clusters = kBase + "/clusters";
  for (const Answer& answer : {Call("GET", clusters, "", Org("acme")),
                               Call("GET", clusters + "/none", "", Org("acme")), Get(clusters)}) {
    EXPECT_EQ(answer.Header("cache-control"), "no-store") << answer.status;
  }
}

TEST_P(TenantCases, AHistoryIsItsTenantsAlsoWhenAllIsOver) {
  const std::string org = FreshName("org-");
  const Answer made =
      Call("POST", kBase + "/channels", Body("Channel", FreshName("hist-")), Org(org));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string path = kBase + "/channels/" + Text(made.Json(), "id");
  const auto histories = [&](int ours, int theirs, int systems) {
    EXPECT_EQ(Call("GET", path + "/history", "", Org(org)).status, ours);
    EXPECT_EQ(Call("GET", path + "/history", "", Org("other")).status, theirs);
    EXPECT_EQ(Call("GET", path + "/history", "", System()).status, systems);
  };
  histories(200, 404, 200);
  ASSERT_EQ(Call("DELETE", path, "", Org(org)).status, 202);
  ASSERT_EQ(Call("GET", path, "", Org(org)).status, 404);
  histories(200, 404, 200);
}

// Case 86.
TEST_P(TenantCases, TheSystemSeesEverything) {
  const std::string org = FreshName("org-");
  const Answer made =
      Call("POST", kBase + "/clusters", Body("Cluster", FreshName("sys-")), Org(org));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string path = kBase + "/clusters/" + Text(made.Json(), "id");
  for (const char* yes : {"true", "TRUE"}) {
    Headers system = Org("somebody-else");
    system.emplace_back(kSystemHeader, yes);
    EXPECT_EQ(Call("GET", path, "", system).status, 200);
  }
  for (const char* no : {"false", ""}) {
    Headers system = Org("somebody-else");
    system.emplace_back(kSystemHeader, no);
    EXPECT_EQ(Call("GET", path, "", system).status, 404);
    ExpectForbidden(Call("GET", path, "", {{std::string(kSystemHeader), no}}));
  }
}

// Case 87.
TEST_P(TenantCases, TheSystemReportsStatusesAndChangesNothingElse) {
  const std::string org = FreshName("org-");
  const std::string clusters = kBase + "/clusters";
  const Answer made = Call("POST", clusters, Body("Cluster", FreshName("sys-")), Org(org));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string path = clusters + "/" + Text(made.Json(), "id");
  ExpectForbidden(Call("POST", clusters, Body("Cluster", FreshName("sys-")), System()));
  ExpectForbidden(Call("PATCH", path, R"({"spec":{"a":1}})", System()));
  ExpectForbidden(Call("DELETE", path, "", System()));
  ExpectForbidden(Call("POST", path + "/force-delete", R"({"reason":"x"})", System()));
  EXPECT_EQ(Call("GET", path, "", Org(org)).body, made.body);
  const Answer put = Call("PUT", path + "/statuses", Report("dns", 1), System());
  EXPECT_EQ(put.status, 201) << put.body;
  EXPECT_EQ(Text(Call("GET", path + "/statuses", "", Org(org)).Json(), "total"), "1");
}

// Case 88.
TEST_P(TenantCases, ATenancyHasNamesOfItsOwn) {
  const std::string name = FreshName("prod-");
  const std::string a = FreshName("org-");
  const std::string b = FreshName("org-");
  const auto create = [&](const Headers& headers) {
    return Call("POST", kBase + "/clusters", Body("Cluster", name), headers);
  };
  const Answer first = create(Org(a));
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(TenancyOf(first), "{\"org\":\"" + a + "\"}");
  const Answer second = create(Org(b));
  ASSERT_EQ(second.status, 201) << second.body;
  EXPECT_EQ(TenancyOf(second), "{\"org\":\"" + b + "\"}");
  const Answer inside = create(OrgAndProject(a, "p"));
  ASSERT_EQ(inside.status, 201) << inside.body;
  EXPECT_EQ(TenancyOf(inside), "{\"org\":\"" + a + "\",\"project\":\"p\"}");
  EXPECT_EQ(create(Org(a)).status, 409);
  EXPECT_EQ(create(OrgAndProject(a, "p")).status, 409);
  EXPECT_EQ(Call("DELETE", kBase + "/clusters/" + Text(first.Json(), "id"), "", Org(a)).status,
            202);
  EXPECT_EQ(create(Org(a)).status, 201);
  // What a body says of it counts for nothing, and a PATCH may not say it.
  const Answer said = Call("POST", kBase + "/clusters",
                           R"({"kind":"Cluster","name":")" + FreshName("prod-") +
                               R"(","spec":{},"tenancy":{"org":"x"}})",
                           Org(a));
  ASSERT_EQ(said.status, 201) << said.body;
  EXPECT_EQ(TenancyOf(said), "{\"org\":\"" + a + "\"}");
  EXPECT_EQ(Call("PATCH", kBase + "/clusters/" + Text(said.Json(), "id"),
                 R"({"tenancy":{"org":"x"}})", Org(a))
                .status,
            400);
}

// Case 89.
TEST_P(TenantCases, WhatIsSomebodyElsesIsNotThere) {
  const std::string a = FreshName("org-");
  const std::string b = FreshName("org-");
  const std::string clusters = kBase + "/clusters";
  const Answer made = Call("POST", clusters, Body("Cluster", FreshName("own-")), Org(b));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id = Text(made.Json(), "id");
  const std::string path = clusters + "/" + id;
  const Answer pool = Call("POST", path + "/nodepools", Body("NodePool", "np-1"), Org(b));
  ASSERT_EQ(pool.status, 201) << pool.body;
  const std::string pool_id = Text(pool.Json(), "id");
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"GET", path},
      {"PATCH", path},
      {"DELETE", path},
      {"GET", kBase + "/resources/" + id},
      {"DELETE", kBase + "/resources/" + id},
      {"GET", path + "/statuses"},
      {"PUT", path + "/statuses"},
      {"GET", path + "/history"},
      {"GET", path + "/nodepools"},
      {"POST", path + "/nodepools"},
      {"GET", path + "/nodepools/" + pool_id},
      {"PATCH", path + "/nodepools/" + pool_id},
      {"GET", kBase + "/nodepools/" + pool_id}};
  for (const auto& [method, target] : calls) {
    const std::string body = method == "POST"    ? Body("NodePool", "np-2")
                             : method == "PATCH" ? R"({"spec":{"a":1}})"
                             : method == "PUT"   ? Report("dns", 1)
                                                 : "";
    const Answer answer = Call(method, target, body, Org(a));
    EXPECT_EQ(answer.status, 404) << method << " " << target << " " << answer.body;
    EXPECT_EQ(Text(answer.Json(), "code"), "HYPERFLEET-NTF-001");
  }
  ASSERT_EQ(Call("DELETE", path, "", Org(b)).status, 202);
  EXPECT_EQ(Call("POST", path + "/force-delete", R"({"reason":"x"})", Org(a)).status, 404);
  const api::JsonValue list = Call("GET", clusters, "", Org(a)).Json();
  EXPECT_EQ(Text(list, "total"), "0");
  EXPECT_EQ(Text(Call("GET", clusters, "", Org(b)).Json(), "total"), "1");
  EXPECT_EQ(Text(Call("GET", path + "/statuses", "", Org(b)).Json(), "total"), "0");
}

// P14 over the API: random scopes and rows against three lines of model, and whoever sees a child
// sees its owner.
TEST_P(TenantCases, EverybodySeesWhatContainsTheirOwn) {
  support::SeededRandom random;
  const std::string prefix = FreshName("run-");
  const auto draw = [&] {
    Dims dims = {{"org", prefix + "-" + std::to_string(random.Below(3))}};
    if (const auto project = random.Below(3); project != 0) {
      dims["project"] = std::to_string(project);
    }
    return dims;
  };
  const auto headers_of = [](const Dims& dims) {
    return dims.contains("project") ? OrgAndProject(dims.at("org"), dims.at("project"))
                                    : Org(dims.at("org"));
  };
  const auto sees = [](const Dims& caller, const Dims& row) {
    return std::ranges::all_of(caller, [&row](const auto& dim) {
      return row.contains(dim.first) && row.at(dim.first) == dim.second;
    });
  };
  std::map<std::string, std::pair<Dims, std::string>> rows;  // By id: whose, and its owner.
  std::vector<std::string> clusters;
  for (int i = 0; i < 40; ++i) {
    const Dims dims = draw();
    const std::string owner =
        clusters.empty() || random.Below(2) == 0 ? "" : clusters[random.Below(clusters.size())];
    const std::string path =
        owner.empty() ? kBase + "/clusters" : kBase + "/clusters/" + owner + "/nodepools";
    const Answer made =
        Call("POST", path, Body(owner.empty() ? "Cluster" : "NodePool", FreshName("node-")),
             headers_of(dims));
    const bool allowed = owner.empty() || sees(dims, rows[owner].first);
    ASSERT_EQ(made.status, allowed ? 201 : 404) << made.body;
    if (allowed) {
      const std::string id = Text(made.Json(), "id");
      rows[id] = {dims, owner};
      if (owner.empty()) {
        clusters.push_back(id);
      }
    }
  }
  for (int i = 0; i < 8; ++i) {
    const Dims caller = draw();
    std::set<std::string> expected;
    for (const auto& [id, row] : rows) {
      if (sees(caller, row.first)) {
        expected.insert(id);
      }
    }
    const api::JsonValue list =
        Call("GET", kBase + "/resources?size=100", "", headers_of(caller)).Json();
    std::set<std::string> shown;
    for (const api::JsonValue& item : Member(list, "items").get_array()) {
      shown.insert(Text(item, "id"));
    }
    EXPECT_EQ(shown, expected);
    EXPECT_EQ(Text(list, "total"), std::to_string(expected.size()));
    for (const auto& [id, row] : rows) {
      const bool seen = expected.contains(id);
      EXPECT_EQ(Call("GET", kBase + "/resources/" + id, "", headers_of(caller)).status,
                seen ? 200 : 404);
      EXPECT_TRUE(!seen || row.second.empty() || expected.contains(row.second));
    }
  }
}

}  // namespace cases
