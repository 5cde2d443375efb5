// Cases 76 to 80 of the resource API: references.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// `[{"id":...,"kind":...},...]`
std::string Targets(const std::vector<std::string>& ids, const std::string& kind = "RefTarget") {
  std::string list;
  for (const std::string& id : ids) {
    list +=
        (list.empty() ? "" : ",") + std::string(R"({"id":")") + id + R"(","kind":")" + kind + "\"}";
  }
  return "[" + list + "]";
}

std::string References(const std::string& type, const std::string& targets) {
  return R"("references":{")" + type + "\":" + targets + "}";
}

std::vector<std::string> ItemIds(const api::JsonValue& list) {
  std::vector<std::string> ids;
  for (const api::JsonValue& item : Member(list, "items").get_array()) {
    ids.push_back(Text(item, "id"));
  }
  return ids;
}

void ExpectInvalid(const Answer& answer, const std::string& why) {
  EXPECT_EQ(answer.status, 400) << answer.body;
  EXPECT_EQ(Text(answer.Json(), "code"), "HYPERFLEET-VAL-000");
  EXPECT_THAT(Text(answer.Json(), "detail"), HasSubstr(why));
  EXPECT_TRUE(Member(answer.Json(), "errors").is_array());
}

void ExpectStateConflict(const Answer& answer, const std::string& why) {
  EXPECT_EQ(answer.status, 409) << answer.body;
  EXPECT_EQ(Text(answer.Json(), "code"), "HYPERFLEET-CNF-003");
  EXPECT_THAT(Text(answer.Json(), "detail"), HasSubstr(why));
}

std::string IdIn(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string ReferenceCases::NewTarget() {
  return Text(Make("/reftargets", "RefTarget", FreshName("target-"), "{}"), "id");
}

Answer ReferenceCases::Create(const std::string& plural, const std::string& kind,
                              const std::string& more) {
  return Call("POST", kBase + "/" + plural,
              R"({"kind":")" + kind + R"(","name":")" + FreshName("source-") + R"(","spec":{})" +
                  (more.empty() ? "" : "," + more) + "}");
}

std::string ReferenceCases::NewSource(const std::string& target) {
  const Answer made = Create("refsources", "RefSource", References("dep", Targets({target})));
  EXPECT_EQ(made.status, 201) << made.body;
  return kBase + "/refsources/" + Text(made.Json(), "id");
}

std::string ReferenceCases::NewOptional(const std::vector<std::string>& targets) {
  const Answer made = Create("optsources", "OptSource", References("link", Targets(targets)));
  EXPECT_EQ(made.status, 201) << made.body;
  return kBase + "/optsources/" + Text(made.Json(), "id");
}

Answer ReferenceCases::Patch(const std::string& path, const std::string& references) {
  return Call("PATCH", path, R"({"references":)" + references + "}");
}

std::vector<std::string> ReferenceCases::TargetsOf(const std::string& path,
                                                   const std::string& type) {
  std::vector<std::string> ids;
  const api::JsonValue document = Get(path).Json();
  const api::JsonValue& targets = Member(Member(document, "references"), type);
  if (targets.is_array()) {
    for (const api::JsonValue& target : targets.get_array()) {
      ids.push_back(Text(target, "id"));
    }
  }
  return ids;
}

namespace {

TEST_P(ReferenceCases, ASourceShowsItsTargets) {  // 76
  const std::string target = NewTarget();
  const std::string source = NewSource(target);
  const api::JsonValue document = Get(source).Json();
  const api::JsonValue& dep = Member(Member(document, "references"), "dep");
  ASSERT_TRUE(dep.is_array()) << Get(source).body;
  ASSERT_EQ(dep.get_array().size(), 1u);
  const api::JsonValue& shown = dep.get_array()[0];
  EXPECT_EQ(Text(shown, "id"), target);
  EXPECT_EQ(Text(shown, "kind"), "RefTarget");
  EXPECT_EQ(Text(shown, "href"), kBase + "/reftargets/" + target);
  EXPECT_EQ(Get(Text(shown, "href")).status, 200);
}

TEST_P(ReferenceCases, WhatBreaksTheRulesIsRefused) {  // 76, 78
  const std::string target = NewTarget();
  const auto create = [this](const std::string& more) {
    return Create("refsources", "RefSource", more);
  };
  ExpectInvalid(create(""), "dep");
  ExpectInvalid(create(R"("references":{})"), "dep");
  ExpectInvalid(create(R"("references":{"dep":[]})"), "dep");
  ExpectInvalid(create(R"("references":[])"), "references");
  ExpectInvalid(create(References("other", Targets({target}))), "other");
  ExpectInvalid(create(References("dep", Targets({"01234567-89ab-7cde-8f01-23456789abcd"}))),
                "not found");
  ExpectInvalid(create(References("dep", Targets({target, NewTarget()}))), "at most 1");
  ExpectInvalid(create(References("dep", Targets({target}, "Cluster"))),
                "does not match expected target kind");
  ExpectInvalid(create(References("dep", Targets({target}, ""))),
                "does not match expected target kind");
  ExpectInvalid(create(References("dep", R"([{"id":")" + target + "\"}]")),
                "does not match expected target kind");
  ExpectInvalid(create(References("dep", R"([{"kind":"RefTarget"}])")), "id");
  ExpectInvalid(create(References("dep", Targets({target, target}))), "duplicate target id");
  const std::string cluster = Text(MakeCluster(FreshName("no-target-")), "id");
  ExpectInvalid(create(References("dep", Targets({cluster}))), "not found");
  EXPECT_EQ(Text(Get(kBase + "/refsources?ref_type=dep&ref_target_id=" + target).Json(), "total"),
            "0");
}

TEST_P(ReferenceCases, TheRootRouteKnowsThemToo) {  // 76
  const std::string target = NewTarget();
  const auto create = [this](const std::string& more) {
    return Create("resources", "RefSource", more);
  };
  ExpectInvalid(create(""), "dep");
  const Answer made = create(References("dep", Targets({target})));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string path = kBase + "/resources/" + Text(made.Json(), "id");
  ExpectInvalid(Patch(path, "{}"), "dep");
  ExpectInvalid(Patch(path, R"({"nope":[]})"), "nope");
  EXPECT_THAT(TargetsOf(path, "dep"), ElementsAre(target));
}

TEST_P(ReferenceCases, APatchReplacesThem) {  // 77
  const std::string first = NewTarget();
  const std::string second = NewTarget();
  const std::string source = NewSource(first);
  const Answer patched = Patch(source, "{\"dep\":" + Targets({second}) + "}");
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(Text(patched.Json(), "generation"), "2");
  EXPECT_THAT(TargetsOf(source, "dep"), ElementsAre(second));
  EXPECT_EQ(Call("PATCH", source, R"({"labels":{"a":"b"}})").status, 200);
  EXPECT_EQ(Call("PATCH", source, R"({"labels":{"a":"c"},"references":null})").status, 200);
  EXPECT_THAT(TargetsOf(source, "dep"), ElementsAre(second));
  ExpectInvalid(Patch(source, "{}"), "dep");
  EXPECT_THAT(TargetsOf(source, "dep"), ElementsAre(second));

  const std::string optional = NewOptional({first, second});
  EXPECT_THAT(TargetsOf(optional, "link"), UnorderedElementsAre(first, second));
  EXPECT_EQ(Patch(optional, "{}").status, 200);
  EXPECT_THAT(TargetsOf(optional, "link"), IsEmpty());
}

TEST_P(ReferenceCases, TheSameAgainChangesNothing) {
  const std::string first = NewTarget();
  const std::string second = NewTarget();
  const std::string source = NewOptional({first, second});
  const Answer before = Get(source);
  const std::uint64_t tx = Tx();
  const Answer same = Patch(source, "{\"link\":" + Targets({second, first}) + "}");
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.body, before.body);
  EXPECT_EQ(Tx(), tx);
}

TEST_P(ReferenceCases, ATargetOnItsWayOutIsRefused) {  // 78
  const std::string cluster = Text(MakeCluster(FreshName("leaves-")), "id");
  ASSERT_EQ(Call("DELETE", kBase + "/clusters/" + cluster).status, 202);
  const std::string named = References("cluster", Targets({cluster}, "Cluster"));
  ExpectInvalid(Create("optsources", "OptSource", named), "marked for deletion");
  ExpectInvalid(Call("PATCH", NewOptional({}), "{" + named + "}"), "marked for deletion");
  const std::string target = NewTarget();
  ASSERT_EQ(Call("DELETE", kBase + "/reftargets/" + target).status, 202);
  ExpectInvalid(Create("optsources", "OptSource", References("link", Targets({target}))),
                "not found");
}

TEST_P(ReferenceCases, AReferencedTargetStays) {  // 79
  const std::string target = NewTarget();
  const std::string source = NewSource(target);
  const std::string path = kBase + "/reftargets/" + target;
  const std::string before = Get(path).body;
  const Answer refused = Call("DELETE", path);
  ExpectStateConflict(refused, "RefSource");
  EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr(Text(Get(source).Json(), "name")));
  EXPECT_EQ(Get(path).body, before);
  EXPECT_EQ(Call("DELETE", source).status, 202);
  EXPECT_EQ(Call("DELETE", path).status, 202);
  EXPECT_EQ(Get(path).status, 404);
}

TEST_P(ReferenceCases, AListShowsTheSourcesOfATarget) {  // 80
  const std::string target = NewTarget();
  const std::string other = NewTarget();
  const std::string both = NewOptional({target, other});
  const std::string one = NewOptional({target});
  NewOptional({other});
  const auto list = [this](const std::string& query) {
    return Get(kBase + "/optsources?" + query);
  };
  const Answer found = list("ref_type=link&ref_target_id=" + target);
  ASSERT_EQ(found.status, 200) << found.body;
  EXPECT_THAT(ItemIds(found.Json()), ElementsAre(IdIn(one), IdIn(both)));
  EXPECT_EQ(Text(found.Json(), "total"), "2");
  EXPECT_THAT(ItemIds(list("size=1&page=2&ref_type=link&ref_target_id=" + target).Json()),
              ElementsAre(IdIn(both)));
  EXPECT_THAT(ItemIds(list("order=created_time&ref_type=link&ref_target_id=" + target).Json()),
              ElementsAre(IdIn(both), IdIn(one)));
  EXPECT_EQ(Text(list("ref_type=link&ref_target_id=nobody").Json(), "total"), "0");

  const auto field = [](const Answer& refused) {
    EXPECT_EQ(refused.status, 400) << refused.body;
    return Text(Member(refused.Json(), "errors").get_array().at(0), "field");
  };
  EXPECT_EQ(field(list("ref_type=nope&ref_target_id=" + target)), "reftype");
  EXPECT_EQ(field(list("ref_type=link")), "reftargetid");
  EXPECT_EQ(field(list("ref_target_id=" + target)), "reftype");
}

}  // namespace
}  // namespace cases
