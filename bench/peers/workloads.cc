#include "bench/peers/workloads.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>

#include "bench/support/fleet.h"

namespace bench {
namespace {

// What the seed makes of `labels.<key>`, `spec...` and `status.conditions.<type>`. `key` and `type`
// are parameters.
std::string Label(int key) {
  return absl::StrFormat(
      "(select value from resource_labels where resource_labels.resource_id = resources.id"
      " and resource_labels.key = $%d)",
      key);
}
std::string Condition(const std::string& member, int type) {
  return absl::StrFormat(
      "(select rc.%s from resource_conditions rc where rc.resource_id = resources.id"
      " and rc.type = $%d)",
      member, type);
}
constexpr char kVersion[] = "cast(spec->'release'->>'version' as numeric)";

// The ids of the items, and what is behind them.
std::string Gist(const std::string& body) {
  constexpr std::string_view kItem = "{\"id\":\"";
  std::string gist;
  for (std::size_t at = body.find(kItem); at != std::string::npos; at = body.find(kItem, at + 1)) {
    gist += body.substr(at + kItem.size(), 36) + " ";
  }
  return gist + body.substr(std::min(body.size(), body.rfind("],\"page\"")));
}

// Searches of specs, which have an index on neither side.
std::vector<Workload> OfSpecs() {
  return {
      {.name = "Unindexed",
       .kind = "Kind1",
       .search = "spec.release.version > 500 and spec.region = 'r5'",
       .where = absl::StrFormat("(%s > $1) and (spec->>'region' = $2)", kVersion),
       .parameters = {"500", "r5"}},
      {.name = "SpecRange",
       .kind = "Kind1",
       .search = "spec.release.version > 500",
       .where = absl::StrFormat("%s > $1", kVersion),
       .parameters = {"500"}},
      {.name = "SpecNumber",
       .kind = "Kind1",
       .search = "spec.release.version = 500",
       .where = absl::StrFormat("%s = $1", kVersion),
       .parameters = {"500"}},
      {.name = "SpecUnequal",
       .kind = "Kind1",
       .search = "spec.region != 'r5'",
       .where = "spec->>'region' <> $1",
       .parameters = {"r5"}},
      {.name = "SpecIn",
       .kind = "Kind1",
       .search = "spec.region in ['r5', 'r6']",
       .where = "spec->>'region' in ($1, $2)",
       .parameters = {"r5", "r6"}},
      {.name = "SpecLike",
       .kind = "Kind1",
       .search = "spec.network.cidr like '%.7.0.%'",
       .where = "spec->'network'->>'cidr' like $1",
       .parameters = {"%.7.0.%"}},
      {.name = "SpecFormula",
       .kind = "Kind1",
       .search = "(spec.release.version >= 990 or spec.network.cidr = '10.7.0.0/16') and "
                 "not spec.region = 'r5'",
       .where = absl::StrFormat("((%s >= $1) or (spec->'network'->>'cidr' = $2)) and "
                                "(not (spec->>'region' = $3))",
                                kVersion),
       .parameters = {"990", "10.7.0.0/16", "r5"}},
  };
}

}  // namespace

void CompareLists(const std::string& name, const std::string& ours, const std::string& theirs) {
  const std::string our_gist = Gist(ours);
  const std::string their_gist = Gist(theirs);
  const std::size_t end = std::min(our_gist.size(), our_gist.rfind("\"page\""));
  std::cerr << absl::StrFormat("%-16s %s\n", name, our_gist.substr(end));
  if (our_gist != their_gist) {
    std::cerr << "the answers differ:\n" << ours << "\n" << theirs << "\n";
    std::exit(1);
  }
}

std::string TenancyJson(const projections::Tenancy& tenancy) {
  std::string json = "{";
  for (const auto& [key, value] : tenancy) {
    json += absl::StrFormat(R"(%s"%s":"%s")", json.size() == 1 ? "" : ",", key, value);
  }
  return json + "}";
}

RelationalList Workload::Relational() const {
  RelationalList list{"", parameters};
  const auto add = [&list](const std::string& predicate, const std::string& parameter) {
    list.parameters.push_back(parameter);
    list.where += (list.where.empty() ? "" : " and ") + predicate + " $" +
                  std::to_string(list.parameters.size());
  };
  if (!where.empty()) {
    list.where = "(" + where + ")";
  }
  add("resources.kind =", kind);
  if (!owner_id.empty()) {
    add("resources.owner_id =", owner_id);
  }
  if (!tenancy.empty()) {
    add("resources.tenancy @>", TenancyJson(tenancy));
  }
  return list;
}

std::vector<Workload> Workloads(std::size_t size) {
  // Children of the owner in the middle, and the time before which a tenth was reconciled.
  const std::string owner = FleetId(FleetOwner(size / 2));
  const std::string stale = engine::FormatTimestamp(FleetTime(size / 10));
  const std::string reconciled = Condition("status", 1) + " = $2";
  const std::string label_and_version =
      absl::StrFormat("(%s = $2) and (%s > $3)", Label(1), kVersion);
  std::vector<Workload> lists = {
      {.name = "Kind", .kind = "Kind1"},
      {.name = "Label",
       .kind = "Kind1",
       .search = "labels.region = 'r5'",
       .where = Label(1) + " = $2",
       .parameters = {"region", "r5"}},
      {.name = "Condition",
       .kind = "Kind4",
       .search = "status.conditions.Reconciled = 'False'",
       .where = reconciled,
       .parameters = {"Reconciled", "False"}},
      {.name = "StaleCondition",
       .kind = "Kind0",
       .search = "status.conditions.Reconciled = 'True' and "
                 "status.conditions.Reconciled.last_updated_time < '" +
                 stale + "'",
       .where =
           absl::StrFormat("(%s) and (%s < $3)", reconciled, Condition("last_updated_time", 1)),
       .parameters = {"Reconciled", "True", stale}},
      {.name = "Owner", .kind = "Kind4", .owner_id = owner},
      {.name = "Tenant", .kind = "Kind1", .tenancy = {{"org", "org-7"}}},
      {.name = "SmallTenant", .kind = "Kind1", .tenancy = {{"org", "org-small"}}},
      {.name = "Project", .kind = "Kind1", .tenancy = {{"org", "org-7"}, {"project", "p2"}}},
      {.name = "MixedOfTenant",
       .kind = "Kind1",
       .tenancy = {{"org", "org-7"}},
       .search = "labels.env = 'dev' and spec.release.version > 3",
       .where = label_and_version,
       .parameters = {"env", "dev", "3"}},
      {.name = "Mixed",
       .kind = "Kind1",
       .search = "labels.team = 't81' and spec.release.version > 500",
       .where = label_and_version,
       .parameters = {"team", "t81", "500"}},
  };
  for (Workload& list : OfSpecs()) {
    lists.push_back(std::move(list));
  }
  return lists;
}

}  // namespace bench
