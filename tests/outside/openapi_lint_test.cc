// What a linter of OpenAPI documents, which knows nothing of ours, says about those that servers
// show: nothing. redocly.yaml says what it looks for.

#include <string>
#include <vector>

#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>

#include "api/json/parser.h"
#include "tests/outside/outside.h"
#include "tests/support/halo_server.h"
#include "tests/support/status_matchers.h"

namespace outside {
namespace {

using api::JsonObject;
using api::JsonValue;
using support::HaloServer;
using support::HttpClient;
using support::TestStore;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kDocument[] = "/api/hyperfleet/v1/openapi";

// Kinds of every sort: three levels, both policies, references, conditions, a schema, odd names.
constexpr char kKinds[] = R"(
server:
  jwt: {enabled: false}
  openapi_schema_path: %s
  tenant:
    enabled: true
    system_header: X-HyperFleet-System
    dimensions: [{header: X-HyperFleet-Org, key: org, required: true}]
entities:
- kind: Region
  plural: regions
  spec_schema_name: RegionSpec
  require_spec_schema: true
  required_adapters: [dns]
  conditions:
  - type: QuotaValid
    when: {expression: 'statuses.exists(s, s.adapter == "dns")'}
    output: {status: {expression: '"True"'}}
- {kind: Zone, plural: zones, parent_kind: Region, on_parent_delete: cascade}
- {kind: Host, plural: hosts, parent_kind: Zone, on_parent_delete: restrict, name_min_len: 2}
- kind: Network
  plural: networks
  references:
  - {ref_type: zone, target_kind: Zone, min: 1, max: 2}
  - {ref_type: peer, target_kind: Network}
- {kind: API, plural: apis}
- {kind: Network_List, plural: network-lists}
)";

constexpr char kSchemas[] = R"(
openapi: 3.0.3
info: {title: Schemas, version: '1'}
paths: {}
components:
  schemas:
    RegionSpec: {type: object, properties: {replicas: {type: integer, minimum: 1}}}
)";

JsonValue Parsed(const std::string& text) {
  const api::JsonParse parsed = api::ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error.message << "\n" << text.substr(0, 1000);
  return parsed.ok() ? *parsed.value : JsonValue();
}

class OpenApiLintTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Has("@redocly/cli")) {
      GTEST_SKIP() << kMissing;
    }
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnFiles());
  }

  // The document of a server with these flags, as it was sent.
  std::string Served(const std::vector<std::string>& flags) {
    const auto server = HaloServer::Start(*store_, flags);
    EXPECT_OK(server);
    if (!server.ok()) {
      return "";
    }
    const auto answer = HttpClient((*server)->url()).Get(kDocument);
    EXPECT_OK(answer);
    EXPECT_OK((*server)->Stop());
    return answer.ok() ? answer->body : "";
  }

  // A line for each thing that the linter finds: the rule, the place, what is wrong.
  std::vector<std::string> Lint(const std::string& document) {
    std::vector<std::string> found;
    const auto file = store_->directory().Write("openapi.json", document);
    EXPECT_OK(file);
    const auto ran = support::RunProcess(
        {.argv = {"node", Path("node_modules/@redocly/cli/bin/cli.js"), "lint", "--config",
                  Path("redocly.yaml"), "--format", "json", "--max-problems", "1000", *file},
         .env = {"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"},
         .working_directory = store_->directory().path()},
        engine::Deadline::After(std::chrono::minutes(5)));
    EXPECT_OK(ran);
    const JsonValue verdict = ran.ok() ? Parsed(ran->out) : JsonValue(JsonObject());
    const JsonValue* const problems =
        verdict.is_object() ? verdict.get_object().if_contains("problems") : nullptr;
    if (problems == nullptr) {
      return {"it said nothing: " + (ran.ok() ? ran->err : "")};
    }
    for (const JsonValue& problem : problems->as_array()) {
      const JsonValue* const pointer =
          problem.at("location").at(0).as_object().if_contains("pointer");
      found.push_back(std::string(problem.at("ruleId").as_string()) + " " +
                      (pointer == nullptr ? "" : std::string(pointer->as_string())) + ": " +
                      std::string(problem.at("message").as_string()));
    }
    return found;
  }

  std::unique_ptr<TestStore> store_;
};

TEST_F(OpenApiLintTest, FindsNothingInTheDocumentOfTheStockKinds) {
  EXPECT_THAT(Lint(Served({})), IsEmpty());
}

TEST_F(OpenApiLintTest, FindsNothingInTheDocumentOfADeployment) {
  ASSERT_OK_AND_ASSIGN(const std::string schemas,
                       store_->directory().Write("schemas.yaml", kSchemas));
  std::string config = kKinds;
  config.replace(config.find("%s"), 2, schemas);
  ASSERT_OK_AND_ASSIGN(const std::string file, store_->directory().Write("config.yaml", config));
  const std::string document = Served({"--config", file});
  EXPECT_THAT(document, HasSubstr("/regions/{"));
  EXPECT_THAT(Lint(document), IsEmpty());
}

// So that silence means something.
TEST_F(OpenApiLintTest, FindsWhatIsWrong) {
  JsonValue document = Parsed(Served({}));
  JsonObject& get = document.at("paths").at("/api/hyperfleet/v1/clusters").at("get").as_object();
  get.erase("summary");
  get["operationId"] = "listNodepools";
  get["responses"].at("200").as_object()["headers"] = JsonObject();
  get["responses"].as_object()["404"] = JsonObject{{"$ref", "#/components/responses/Nothing"}};
  const std::vector<std::string> found = Lint(boost::json::serialize(document));
  for (const std::string rule : {"operation-summary", "operation-operationId-unique",
                                 "response-contains-header", "no-unresolved-refs"}) {
    EXPECT_THAT(found, Contains(testing::StartsWith(rule + " ")));
  }
}

}  // namespace
}  // namespace outside
