// Cases 18, 26, 27, 47 to 57, 65 and 67 to 69 of the resource API: what adapters report.

#include <set>

#include <gmock/gmock.h>

#include "engine/base/clock.h"
#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string MinutesFromNow(int minutes) {
  engine::Timestamp time = engine::SystemClock().Now();
  time.micros += minutes * 60'000'000LL;
  return engine::FormatTimestamp(time);
}

std::vector<std::string> AdaptersIn(const api::JsonValue& list) {
  std::vector<std::string> adapters;
  for (const api::JsonValue& item : Member(list, "items").get_array()) {
    adapters.push_back(Text(item, "adapter"));
  }
  return adapters;
}

TEST_P(StatusCases, ANewResourceIsNotReconciled) {  // 18
  const api::JsonValue cluster = MakeCluster(FreshName("new-"));
  EXPECT_EQ(Shown(cluster, "Reconciled"), "False@1");
  EXPECT_EQ(Shown(cluster, "LastKnownReconciled"), "False@1");
  EXPECT_EQ(Shown(cluster, "Ready"), "");
  const api::JsonValue channel = MakeChannel(FreshName("new-"));
  EXPECT_TRUE(Member(Member(channel, "status"), "conditions").get_array().empty());
}

TEST_P(StatusCases, APatchTakesReconciledBack) {  // 26
  const std::string cluster = NewCluster();
  PutAll(cluster, kClusterAdapters, 1);
  const Answer patched = Call("PATCH", cluster, R"({"spec":{"a":1}})");
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(Shown(patched.Json(), "Reconciled"), "False@2");
  EXPECT_EQ(Shown(patched.Json(), "LastKnownReconciled"), "True@1");
  EXPECT_EQ(Get(cluster).body, patched.body);
}

TEST_P(StatusCases, OnlyTheNewestGenerationReconciles) {  // 27
  const std::string cluster = NewCluster();
  for (int i = 2; i <= 4; ++i) {
    const Answer patched =
        Call("PATCH", cluster, R"({"labels":{"n":")" + std::to_string(i) + "\"}}");
    EXPECT_EQ(Text(patched.Json(), "generation"), std::to_string(i));
  }
  PutAll(cluster, kClusterAdapters, 3);
  EXPECT_EQ(ShownAt(cluster, "Reconciled"), "False@4");
  PutAll(cluster, kClusterAdapters, 4);
  EXPECT_EQ(ShownAt(cluster, "Reconciled"), "True@4");
}

TEST_P(StatusCases, AReportIsStoredAndListed) {  // 47
  const std::string cluster = NewCluster();
  const Answer put = Put(
      cluster, R"({"adapter":"dns","observed_generation":1,"conditions":[)"
               R"({"type":"Available","status":"True","reason":"Up","message":"all of it"},)"
               R"({"type":"Applied","status":"True"},{"type":"Health","status":"True"}],)"
               R"("data":{"big":9007199254740993},"unknown":1,)"
               R"("metadata":{"job_name":"j","attempt":2,"started_time":"2026-01-01T00:00:00Z"}})");
  ASSERT_EQ(put.status, 201) << put.body;
  EXPECT_EQ(Text(put.Json(), "data"), R"({"big":9007199254740993})");
  EXPECT_EQ(Text(Member(put.Json(), "metadata"), "attempt"), "2");
  const api::JsonValue list = Statuses(cluster);
  EXPECT_EQ(Text(list, "total"), "1");
  ASSERT_EQ(Member(list, "items").get_array().size(), 1u);
  EXPECT_EQ(Member(list, "items").get_array()[0], put.Json());
  const std::string nothing = kBase + "/clusters/01936d3c-0000-7000-8000-000000000000";
  EXPECT_EQ(Get(nothing + "/statuses").status, 404);
  EXPECT_EQ(Put(nothing, Report("dns", 1)).status, 404);
}

TEST_P(StatusCases, AnAdapterHasOneReport) {  // 48
  const std::string cluster = NewCluster();
  EXPECT_EQ(Put(cluster, Report("dns", 1)).status, 201);
  EXPECT_EQ(Put(cluster, Report("dns", 1, "False")).status, 201);
  const api::JsonValue list = Statuses(cluster);
  EXPECT_EQ(Text(list, "total"), "1");
  EXPECT_EQ(ShownAt(cluster, "DnsSuccessful"), "False@1");
}

TEST_P(StatusCases, ReportsArePagedByAdapter) {  // 49
  const std::string cluster = NewCluster();
  EXPECT_EQ(Text(Statuses(cluster), "total"), "0");
  for (int i = 9; i >= 0; --i) {
    EXPECT_EQ(Put(cluster, Report("a" + std::to_string(i), 1)).status, 201);
  }
  std::vector<std::string> all;
  for (int page = 1; page <= 4; ++page) {
    const api::JsonValue list = Statuses(cluster, "?size=3&page=" + std::to_string(page));
    EXPECT_EQ(Text(list, "total"), "10");
    EXPECT_EQ(Text(list, "size"), page < 4 ? "3" : "1");
    for (const std::string& adapter : AdaptersIn(list)) {
      all.push_back(adapter);
    }
  }
  EXPECT_THAT(all, ElementsAre("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"));
  const api::JsonValue behind = Statuses(cluster, "?page=100&size=5");
  EXPECT_EQ(Text(behind, "total"), "10");
  EXPECT_EQ(Text(behind, "size"), "0");
  EXPECT_EQ(Get(cluster + "/statuses?size=0").status, 400);
}

TEST_P(StatusCases, AnAdapterThatDoesNotKnowYetIsHeardOnce) {  // 50
  const std::string cluster = NewCluster();
  EXPECT_EQ(Put(cluster, Report("dns", 1, "Unknown")).status, 201);
  const Answer again = Put(cluster, Report("dns", 1, "Unknown"));
  EXPECT_EQ(again.status, 204);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(AdaptersIn(Statuses(cluster)), std::vector<std::string>{"dns"});
}

TEST_P(StatusCases, MandatoryConditionsAreDemanded) {  // 51
  const std::string cluster = NewCluster();
  EXPECT_EQ(Put(cluster, Report("dns", 1)).status, 201);
  const std::string before = Get(cluster + "/statuses").body;
  const Answer refused = Put(cluster, R"({"adapter":"dns","observed_generation":1,"conditions":[)" +
                                          ConditionBody("Available2", "True") + "," +
                                          ConditionBody("Applied", "True") + "," +
                                          ConditionBody("Health2", "True") + "]}");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
  EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("missing mandatory condition"));
  EXPECT_EQ(Get(cluster + "/statuses").body, before);
}

TEST_P(StatusCases, ConditionsHaveToMakeSense) {  // 52
  const std::string cluster = NewCluster();
  const std::string full = Report("dns", 1);
  for (const std::string& more :
       {ConditionBody("Applied", "True"), ConditionBody("", "True"), ConditionBody("X", "Maybe"),
        ConditionBody("X", ""), ConditionBody("X", "true"), std::string("1")}) {
    const Answer refused = Put(cluster, full.substr(0, full.size() - 2) + "," + more + "]}");
    EXPECT_EQ(refused.status, 400) << more;
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000") << more;
  }
  for (const char* bad :
       {R"({"observed_generation":1})", R"({"adapter":"","observed_generation":1})",
        R"({"adapter":"a"})", R"({"adapter":"a","observed_generation":0})",
        R"({"adapter":"a","observed_generation":2147483648})",
        R"({"adapter":"a","observed_generation":1.5})",
        R"({"adapter":"a","observed_generation":1,"data":[]})",
        R"({"adapter":"a","observed_generation":1,"observed_time":"yesterday"})",
        R"({"adapter":"a","observed_generation":1,"metadata":{"attempt":"x"}})", "[]", ""}) {
    EXPECT_EQ(Put(cluster, bad).status, 400) << bad;
  }
  std::string many = R"({"adapter":"a","observed_generation":1,"conditions":[)";
  for (int i = 0; i < 257; ++i) {
    many += (i == 0 ? "" : ",") + ConditionBody("C" + std::to_string(i), "True");
  }
  EXPECT_EQ(Put(cluster, many + "]}").status, 400);
  EXPECT_EQ(Text(Statuses(cluster), "total"), "0");
}

TEST_P(StatusCases, TimesAreNearTheStoresClock) {  // 53
  const std::string cluster = NewCluster();
  const auto put = [&](const std::string& adapter, const std::string& time) {
    return Put(cluster, Report(adapter, 1, "True", "", time)).status;
  };
  EXPECT_EQ(put("a", MinutesFromNow(2)), 201);
  EXPECT_EQ(put("b", MinutesFromNow(10)), 400);
  EXPECT_EQ(put("b", "2099-01-01T00:00:00Z"), 400);
  EXPECT_EQ(put("b", MinutesFromNow(0)), 201);
  EXPECT_EQ(put("c", MinutesFromNow(-29)), 201);
  EXPECT_EQ(put("d", MinutesFromNow(-31)), 400);
  EXPECT_EQ(put("e", "0001-01-01T00:00:00Z"), 201);
}

TEST_P(StatusCases, AGenerationThatIsNotThereIsDropped) {  // 54
  const std::string cluster = NewCluster();
  EXPECT_EQ(Put(cluster, Report("dns", 999)).status, 204);
  EXPECT_EQ(Text(Statuses(cluster), "total"), "0");
}

TEST_P(StatusCases, AllAdaptersReconcile) {  // 55
  const std::string cluster = NewCluster();
  const std::string tag = Get(cluster).Header("etag");
  PutAll(cluster, kClusterAdapters, 1);
  const Answer shown = Get(cluster);
  const api::JsonValue resource = shown.Json();
  EXPECT_EQ(Shown(resource, "Reconciled"), "True@1");
  EXPECT_EQ(Shown(resource, "LastKnownReconciled"), "True@1");
  std::vector<std::string> types;
  for (const api::JsonValue& condition :
       Member(Member(resource, "status"), "conditions").get_array()) {
    types.push_back(Text(condition, "type"));
  }
  EXPECT_THAT(types, ElementsAre("Reconciled", "LastKnownReconciled", "ValidationSuccessful",
                                 "DnsSuccessful", "PullsecretSuccessful", "HypershiftSuccessful"));
  // Another tag, but one that a client's write may still name.
  EXPECT_NE(shown.Header("etag"), tag);
  EXPECT_EQ(Call("PATCH", cluster, R"({"spec":{"a":1}})", {{"If-Match", tag}}).status, 200);
}

TEST_P(StatusCases, AReportMayNameTheVersionThatItIsAbout) {
  const std::string cluster = NewCluster();
  const std::string tag = Get(cluster).Header("etag");
  const auto put = [&](const char* adapter, int generation) {
    return Call("PUT", cluster + "/statuses", Report(adapter, generation), {{"If-Match", tag}});
  };
  EXPECT_EQ(put("dns", 1).status, 201);
  EXPECT_EQ(put("validation", 1).status, 201);  // What dns reported is no other version.
  EXPECT_EQ(Call("PATCH", cluster, R"({"spec":{"a":1}})").status, 200);
  const Answer refused = put("dns", 1);
  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-CNF-002");
  EXPECT_EQ(Put(cluster, Report("dns", 2)).status, 201);
  EXPECT_EQ(Text(Statuses(cluster), "total"), "2");
}

TEST_P(StatusCases, ReconciledResourcesAreFound) {  // 36, 37
  const std::string name = FreshName("find-");
  const std::string cluster = kBase + "/clusters/" + Text(MakeCluster(name), "id");
  const auto found = [&](const std::string& condition) {
    const Answer answer = Get(kBase + "/clusters?search=name%3D%27" + name +
                              "%27%20and%20status.conditions.Reconciled" + condition);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Text(answer.Json(), "total");
  };
  const std::string before = "%3D%27True%27%20and%20status.conditions.Reconciled.last_updated_time";
  EXPECT_EQ(found("%3D%27True%27"), "0");
  EXPECT_EQ(found("%3D%27False%27"), "1");
  PutAll(cluster, kClusterAdapters, 1);
  EXPECT_EQ(found("%3D%27True%27"), "1");
  EXPECT_EQ(found("%3D%27False%27"), "0");
  EXPECT_EQ(found(before + "%3C%27" + MinutesFromNow(-1) + "%27"), "0");
  EXPECT_EQ(found(before + "%3C%27" + MinutesFromNow(1) + "%27"), "1");
}

TEST_P(StatusCases, AnUnlistedAdapterIsListedAlone) {  // 56
  const std::string cluster = NewCluster();
  PutAll(cluster, kClusterAdapters, 1);
  EXPECT_EQ(Put(cluster, Report("unlisted", 1, "False")).status, 201);
  EXPECT_EQ(Text(Statuses(cluster), "total"), "5");
  EXPECT_EQ(ShownAt(cluster, "Reconciled"), "True@1");
}

TEST_P(StatusCases, EveryPathOfAResourceTakesReports) {  // 57
  const std::string channel = Text(MakeChannel(FreshName("st-")), "id");
  const std::string version = Text(MakeVersion(channel, "v1"), "id");
  int reports = 0;
  for (const std::string& path :
       {kBase + "/channels/" + channel + "/versions/" + version, kBase + "/versions/" + version,
        kBase + "/resources/" + version}) {
    EXPECT_EQ(Put(path, Report(FreshName("adapter-"), 1)).status, 201);
    EXPECT_EQ(Text(Statuses(path), "total"), std::to_string(++reports));
  }
  const std::string other = Text(MakeChannel(FreshName("st-")), "id");
  const std::string wrong = kBase + "/channels/" + other + "/versions/" + version;
  EXPECT_EQ(Put(wrong, Report("a", 1)).status, 404);
  EXPECT_EQ(Get(wrong + "/statuses").status, 404);
}

TEST_P(StatusCases, AClusterThatWasPatchedIsDeletedAtItsNewestGeneration) {  // 65
  const std::string cluster = NewCluster();
  EXPECT_EQ(Call("PATCH", cluster, R"({"spec":{"a":1}})").status, 200);
  const Answer deleted = Call("DELETE", cluster);
  EXPECT_EQ(Text(deleted.Json(), "generation"), "3");
  EXPECT_EQ(Shown(deleted.Json(), "Reconciled"), "False@3");
  PutAll(cluster, kClusterAdapters, 2, "False", "True");
  EXPECT_EQ(Get(cluster).status, 200);
  PutAll(cluster, kClusterAdapters, 3, "False", "True");
  EXPECT_EQ(Get(cluster).status, 404);
}

TEST_P(StatusCases, APoolGoesWhenBothAdaptersAreDone) {  // 67
  const std::string cluster = NewCluster();
  const std::string pool = NewPool(cluster);
  PutAll(pool, kPoolAdapters, 1, "True", "True");
  EXPECT_EQ(Get(pool).status, 200) << "it is active";
  EXPECT_EQ(Call("DELETE", pool).status, 202);
  PutAll(pool, kPoolAdapters, 2, "True", "False");
  EXPECT_EQ(Get(pool).status, 200);
  EXPECT_EQ(Put(pool, Report("validation", 2, "True", "True")).status, 201);
  EXPECT_EQ(Get(pool).status, 200);
  EXPECT_EQ(Put(pool, Report("hypershift", 2, "Unknown", "True")).status, 201);
  EXPECT_EQ(Get(pool).status, 404);
  EXPECT_EQ(Get(pool + "/statuses").status, 404);
  EXPECT_EQ(Put(pool, Report("validation", 2)).status, 404);
  EXPECT_EQ(Get(cluster).status, 200);
}

TEST_P(StatusCases, AClusterWithoutPoolsGoesWhenAllAdaptersAreDone) {  // 68
  const std::string cluster = NewCluster();
  EXPECT_EQ(Call("DELETE", cluster).status, 202);
  PutAll(cluster, kClusterAdapters, 2, "False", "True");
  EXPECT_EQ(Get(cluster).status, 404);
}

TEST_P(StatusCases, AClusterThatIsDoneGoesWithItsLastPool) {
  const std::string cluster = NewCluster();
  const std::string pool = NewPool(cluster);
  EXPECT_EQ(Call("DELETE", cluster).status, 202);
  PutAll(cluster, kClusterAdapters, 2, "False", "True");
  EXPECT_EQ(ShownAt(cluster, "Reconciled"), "False@2");
  PutAll(pool, kPoolAdapters, 2, "False", "True");
  EXPECT_EQ(Get(pool).status, 404);
  EXPECT_EQ(Get(cluster).status, 404);
  const Answer audit = AsAdmin("GET", "/api/v1/audit?action=resource.finalize&limit=1");
  EXPECT_THAT(audit.body, HasSubstr(pool.substr(pool.rfind('/') + 1)));
}

TEST_P(StatusCases, DeletingAPoolLeavesItsSiblingsAlone) {  // 69
  const std::string cluster = NewCluster();
  const std::string pool = NewPool(cluster);
  const std::string sibling = NewPool(cluster);
  PutAll(cluster, kClusterAdapters, 1);
  PutAll(sibling, kPoolAdapters, 1);
  const std::string cluster_before = Get(cluster).body;
  const std::string sibling_before = Get(sibling).body;
  EXPECT_EQ(Call("DELETE", pool).status, 202);
  PutAll(pool, kPoolAdapters, 2, "False", "True");
  EXPECT_EQ(Get(pool).status, 404);
  EXPECT_EQ(Get(cluster).body, cluster_before);
  EXPECT_EQ(Get(sibling).body, sibling_before);
  EXPECT_THAT(sibling_before, HasSubstr("ReconciledAll"));
}

}  // namespace
}  // namespace cases
