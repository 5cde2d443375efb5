#include "tests/e2e/fleet.h"

#include <absl/strings/str_format.h>
#include <boost/json.hpp>

#include "engine/base/status_macros.h"

namespace e2e {
namespace {

std::string Subnets(int count) {
  constexpr const char* kRoles[] = {"control-plane", "worker", "service", "monitoring"};
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += absl::StrFormat(
        R"(%s{"id":"subnet-%02d","name":"%s-%d","cidr":"10.20.%d.0/24","role":"%s"})",
        i == 0 ? "" : ",", i, kRoles[i % 4], i, i, kRoles[i % 4]);
  }
  return text;
}

std::string Labels(int count, int number) {
  std::string text =
      absl::StrFormat(R"("environment":"test","shard":"%d","team":"fleet")", number % 8);
  for (int i = 3; i < count; ++i) {
    text += absl::StrFormat(R"(,"attribute-%02d":"value-%d-%d")", i, i, number);
  }
  return text;
}

// Fields that only large clusters have.
std::string LargeParts() {
  std::string text =
      R"(,"security":{"etcdEncryption":true,"fips":true,"auditProfile":"WriteRequestBodies",)"
      R"("tls":{"type":"Custom","minVersion":"VersionTLS13","ciphers":["AES_128_GCM_SHA256",)"
      R"("AES_256_GCM_SHA384","CHACHA20_POLY1305_SHA256"]}},"monitoring":{"enabled":true,)"
      R"("retention":"30d","receivers":[)";
  for (int i = 0; i < 12; ++i) {
    text += absl::StrFormat(
        R"(%s{"name":"receiver-%d","type":"webhook","url":"https://alerts-%d.example.com/v1/hook",)"
        R"("matchers":["severity=critical","team=fleet-%d"],"repeatInterval":"5m"})",
        i == 0 ? "" : ",", i, i, i);
  }
  return text + R"(]},"backup":{"enabled":true,"schedule":"0 2 * * *","retention":"30d"})";
}

std::string ClusterSpec(int number, bool large) {
  return absl::StrFormat(
      R"({"platform":{"type":"template","template":{"projectID":"fleet-project-%d",)"
      R"("region":"europe-west%d","zone":"europe-west%d-b","network":"default",)"
      R"("subnet":"default-subnet","subnets":[%s],"diskSizeGB":%d}},)"
      R"("release":{"image":"registry.example.com/release/operator:v4.%d.0","version":"4.%d.0"},)"
      R"("networking":{"clusterNetwork":[{"cidr":"10.%d.0.0/16","hostPrefix":24}],)"
      R"("serviceNetwork":["10.96.0.0/12"],"networkType":"OVNKubernetes"},)"
      R"("dns":{"baseDomain":"fleet-%d.example.com"},"quota":9007199254740993%s})",
      number % 7, number % 4, number % 4, Subnets(large ? 22 : 6), 100 + number, number % 20,
      number % 20, number % 200, number, large ? LargeParts() : "");
}

std::string Serialized(const boost::json::object& object, const char* name) {
  const boost::json::value* const value = object.if_contains(name);
  return value == nullptr ? "" : boost::json::serialize(*value);
}

// Reads one list to its end and hands each item to `take`.
absl::Status ReadList(support::HttpClient& client, const std::string& path,
                      const std::function<void(const boost::json::object&)>& take) {
  std::size_t seen = 0;
  for (int page = 1;; ++page) {
    ASSIGN_OR_RETURN(
        const support::HttpResponse response,
        client.Get(absl::StrFormat("%s?page=%d&size=100&order=created_time", path, page)));
    if (response.status != 200) {
      return absl::InternalError(
          absl::StrFormat("%s: %d %s", path, response.status, response.body));
    }
    const boost::json::value list = boost::json::parse(response.body);
    const auto& items = list.at("items").as_array();
    for (const boost::json::value& item : items) {
      take(item.as_object());
    }
    seen += items.size();
    const auto total = static_cast<std::size_t>(list.at("total").to_number<std::int64_t>());
    if (items.size() < 100) {
      return seen == total ? absl::OkStatus()
                           : absl::InternalError(
                                 absl::StrFormat("%s: %d items, total %d", path, seen, total));
    }
  }
}

}  // namespace

std::string ClusterBody(const std::string& name, int number) {
  const bool large = number % 10 == 9;
  return absl::StrFormat(R"({"kind":"Cluster","name":"%s","labels":{%s},"spec":%s})", name,
                         Labels(large ? 50 : 3, number), ClusterSpec(number, large));
}

std::string NodePoolBody(const std::string& name, int replicas) {
  return absl::StrFormat(
      R"({"kind":"NodePool","name":"%s","labels":{"workload":"gpu","tier":"compute",)"
      R"("environment":"test"},"spec":{"replicas":%d,"platform":{"type":"gcp",)"
      R"("gcp":{"instanceType":"n1-standard-8","disks":[{"type":"pd-ssd","sizeGB":500},)"
      R"({"type":"local-ssd","sizeGB":375}]}},"release":{"image":)"
      R"("registry.example.com/release/operator:v4.14.0"},"taints":[{"key":"gpu",)"
      R"("value":"true","effect":"NoSchedule"}],"autoscaling":{"min":1,"max":%d}}})",
      name, replicas, replicas * 4);
}

std::string SpecPatch(int revision) {
  return absl::StrFormat(R"({"spec":%s})", ClusterSpec(1000 + revision, false));
}

std::string LabelPatch(int revision) {
  return absl::StrFormat(R"({"labels":{"revision":"%d","environment":"prod"}})", revision);
}

std::string NodePoolsOf(const std::string& cluster_id) {
  return std::string(kClusters) + "/" + cluster_id + "/nodepools";
}

std::string Member(const std::string& json, const std::string& name) {
  return Serialized(boost::json::parse(json).as_object(), name.c_str());
}

std::string Text(const std::string& json, const std::string& name) {
  const std::string member = Member(json, name);
  return member.size() < 2 ? "" : member.substr(1, member.size() - 2);
}

absl::StatusOr<Contents> ReadContents(support::HttpClient& client) {
  Contents contents;
  std::map<std::string, std::string> names;  // By id.
  const auto take = [&](const boost::json::object& item) {
    const std::string id(item.at("id").as_string());
    const std::string name(item.at("name").as_string());
    names[id] = name;
    const auto* const owner = item.if_contains("owner_references");
    const std::string owner_name =
        owner == nullptr ? "" : names[std::string(owner->as_object().at("id").as_string())];
    std::string key(item.at("kind").as_string());
    key += "/" + owner_name + "/" + name + "/";
    key += item.contains("deleted_time") ? "deleted" : "active";
    contents[key] =
        Serialized(item, "spec") + Serialized(item, "labels") + Serialized(item, "generation");
  };
  for (const char* plural : {"clusters", "nodepools", "channels", "versions"}) {
    RETURN_IF_ERROR(ReadList(client, std::string("/api/hyperfleet/v1/") + plural, take));
  }
  return contents;
}

}  // namespace e2e
