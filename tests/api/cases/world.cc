#include "tests/api/cases/world.h"

#include <atomic>

#include "api/json/canonical.h"

namespace cases {
namespace {

struct Living {
  std::unique_ptr<World> world;
  std::unique_ptr<support::OpenApi> contract;
};

// One world a factory, for the life of the program.
std::map<std::string, Living>& Worlds() {
  static std::map<std::string, Living> worlds;
  return worlds;
}

// Ends servers before the program does, so that their last words are read.
class WorldsEnd final : public testing::Environment {
 public:
  void TearDown() override { Worlds().clear(); }
};
[[maybe_unused]] const testing::Environment* const kEnd =
    testing::AddGlobalTestEnvironment(new WorldsEnd);

}  // namespace

api::JsonValue Answer::Json() const {
  const api::JsonParse parsed = api::ParseJson(body);
  return parsed.ok() ? *parsed.value : api::JsonValue();
}

std::string Answer::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string TokenFile() {
  return "# operators\n" + std::string(kAdminName) + ":" + std::string(kAdminToken) + "\n" +
         std::string(kOddName) + ":" + std::string(kOddToken) + "\n";
}

namespace {

// The kinds that are three levels deep.
std::string RegionEntities() {
  return R"(- kind: Region
  plural: regions
  conditions:
  - type: Surveyed
    when:
      expression: >-
        statuses.exists(s, s.adapter == 'survey')
    output:
      status:
        expression: >-
          statuses.filter(s, s.adapter == 'survey')[0].data.done
- {kind: Zone, plural: zones, parent_kind: Region, on_parent_delete: cascade}
- {kind: Host, plural: hosts, parent_kind: Zone, on_parent_delete: cascade}
- {kind: Lock, plural: locks, parent_kind: Zone, on_parent_delete: restrict}
- kind: Drive
  plural: drives
  parent_kind: Zone
  on_parent_delete: cascade
  required_adapters: [drain]
)";
}

}  // namespace

std::string ConfigFile() {
  return R"(
server: {jwt: {enabled: false}}
entities:
- kind: Cluster
  plural: clusters
  spec_schema_name: ClusterSpec
  required_adapters: [validation, dns, pullsecret, hypershift]
  name_min_len: 3
  name_max_len: 53
  conditions:
  - type: QuotaValid
    when:
      expression: >-
        statuses.exists(s, s.adapter == 'validation' &&
        s.conditions.exists(c, c.type == 'QuotaSufficient'))
    output:
      status:
        expression: >-
          statuses.filter(s, s.adapter == 'validation')[0]
          .conditions.filter(c, c.type == 'QuotaSufficient')[0].status
      reason:
        expression: >-
          statuses.filter(s, s.adapter == 'validation')[0]
          .conditions.filter(c, c.type == 'QuotaSufficient')[0].reason
      message:
        expression: >-
          resource.name + ': ' + statuses.filter(s, s.adapter == 'validation')[0]
          .conditions.filter(c, c.type == 'QuotaSufficient')[0].message
  - type: PolicyValid
    when:
      expression: >-
        statuses.exists(s, s.conditions.exists(c, c.type == 'PolicyChecked'))
    output:
      status:
        expression: >-
          statuses.filter(s, s.conditions.exists(c, c.type == 'PolicyChecked'))[0].data.policy.valid
- kind: NodePool
  plural: nodepools
  parent_kind: Cluster
  on_parent_delete: cascade
  spec_schema_name: NodePoolSpec
  required_adapters: [validation, hypershift]
  name_min_len: 3
  name_max_len: 15
- {kind: Channel, plural: channels}
- {kind: Version, plural: versions, parent_kind: Channel, on_parent_delete: restrict}
- {kind: WifConfig, plural: wifconfigs, spec_schema_name: WifConfigSpec}
- {kind: RefTarget, plural: reftargets}
- kind: RefSource
  plural: refsources
  references: [{ref_type: dep, target_kind: RefTarget, min: 1, max: 1}]
- kind: OptSource
  plural: optsources
  references:
  - {ref_type: link, target_kind: RefTarget}
  - {ref_type: cluster, target_kind: Cluster}
)" + RegionEntities();
}

std::string SpecDocument() {
  return R"(openapi: 3.0.3
info: {title: Specs of the cases, version: '1'}
paths: {}
components:
  schemas:
    ClusterSpec: {type: object}
    NodePoolSpec: {type: object}
    ChannelSpec: {type: object}
    VersionSpec: {type: object}
    WifConfigSpec:
      type: object
      properties:
        issuer: {$ref: '#/components/schemas/Issuer'}
        tiers: {type: array, uniqueItems: true, items: {type: string}}
        limit: {type: integer, maximum: 9007199254740992}
    Issuer:
      type: object
      required: [url]
      properties:
        url: {type: string, pattern: '^https://'}
)";
}

void ApiCase::SetUp() {
  Living& living = Worlds()[GetParam().name];
  if (living.world == nullptr) {
    living.world = GetParam().make();
    ASSERT_NE(living.world, nullptr);
    const Answer document = living.world->Call(0, "GET", kBase + "/openapi", "", {});
    ASSERT_EQ(document.status, 200);
    living.contract = std::make_unique<support::OpenApi>(document.Json());
  }
  ASSERT_NE(living.contract, nullptr);
  world_ = living.world.get();
  contract_ = living.contract.get();
}

Answer ApiCase::CallServer(int server, const std::string& method, const std::string& target,
                           const std::string& body, const Headers& headers) {
  const Answer answer = world_->Call(server, method, target, body, headers);
  const std::string path = target.substr(0, target.find('?'));
  if (path.starts_with("/api/hyperfleet")) {
    for (const std::string& wrong :
         contract_->CheckAnswer({method, path, answer.status, answer.headers, answer.body})) {
      ADD_FAILURE() << method << " " << target << " answered " << answer.status << ": " << wrong;
    }
  }
  return answer;
}

Answer ApiCase::AsAdmin(const std::string& method, const std::string& target,
                        const std::string& body, std::optional<int> server) {
  return CallServer(server.value_or(NextServer()), method, target, body,
                    {{"Authorization", "Bearer " + std::string(kAdminToken)}});
}

int ApiCase::NextServer() {
  static std::atomic<int> next{0};
  return next++ % world_->servers();
}

std::string ApiCase::FreshName(const std::string& prefix) {
  static std::atomic<int> next{0};
  return prefix + std::to_string(next++);
}

api::JsonValue ApiCase::Make(const std::string& path, const std::string& kind,
                             const std::string& name, const std::string& spec) {
  const Answer made =
      Call("POST", kBase + path,
           "{\"kind\":\"" + kind + "\",\"name\":\"" + name + "\",\"spec\":" + spec + "}");
  EXPECT_EQ(made.status, 201) << made.body;
  return made.Json();
}

api::JsonValue ApiCase::MakeCluster(const std::string& name, const std::string& spec) {
  return Make("/clusters", "Cluster", name, spec);
}

api::JsonValue ApiCase::MakeNodePool(const std::string& cluster_id, const std::string& name) {
  return Make("/clusters/" + cluster_id + "/nodepools", "NodePool", name, "{}");
}

api::JsonValue ApiCase::MakeChannel(const std::string& name) {
  return Make("/channels", "Channel", name, "{}");
}

api::JsonValue ApiCase::MakeVersion(const std::string& channel_id, const std::string& name) {
  return Make("/channels/" + channel_id + "/versions", "Version", name, "{}");
}

std::uint64_t ApiCase::Tx() {
  const Answer answer = AsAdmin("GET", "/api/v1/killswitch");
  EXPECT_EQ(answer.status, 200) << answer.body;
  return std::stoull(answer.Header("x-halo-tx"));
}

const api::JsonValue& Member(const api::JsonValue& value, std::string_view member) {
  static const api::JsonValue kNull;
  const api::JsonObject* object = value.if_object();
  const api::JsonValue* found = object == nullptr ? nullptr : object->if_contains(member);
  return found == nullptr ? kNull : *found;
}

std::string Text(const api::JsonValue& value, std::string_view member) {
  const api::JsonValue& found = Member(value, member);
  if (found.is_null()) {
    return "";
  }
  if (found.is_string()) {
    return std::string(found.get_string());
  }
  return api::CanonicalJson(found);
}

const api::JsonValue* Condition(const api::JsonValue& resource, std::string_view type) {
  const api::JsonValue& conditions = Member(Member(resource, "status"), "conditions");
  if (!conditions.is_array()) {
    return nullptr;
  }
  for (const api::JsonValue& condition : conditions.get_array()) {
    if (Text(condition, "type") == type) {
      return &condition;
    }
  }
  return nullptr;
}

std::vector<std::string> Names(const api::JsonValue& list) {
  std::vector<std::string> names;
  const api::JsonValue& items = Member(list, "items");
  if (items.is_array()) {
    for (const api::JsonValue& item : items.get_array()) {
      names.push_back(Text(item, "name"));
    }
  }
  return names;
}

std::string PrintFactory(const testing::TestParamInfo<WorldFactory>& info) {
  return info.param.name;
}

}  // namespace cases
