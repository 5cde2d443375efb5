// What a server says of specs against what a validator of others says of them: specs.mjs makes
// schemas and specs by chance, and each has to be taken or refused as ajv takes or refuses it.

#include <set>
#include <string>

#include <absl/strings/str_format.h>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "api/json/parser.h"
#include "tests/outside/outside.h"
#include "tests/support/halo_server.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace outside {
namespace {

using api::JsonValue;
using support::HaloServer;
using support::HttpClient;
using support::TestStore;

constexpr int kKinds = 40;
constexpr int kSpecs = 20;

std::string LowerCase(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

class SpecsTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!Has("ajv") || !Has("ajv-formats")) {
      GTEST_SKIP() << kMissing;
    }
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnFiles());
  }

  // A document and cases, as specs.mjs prints them.
  JsonValue Make() {
    const support::SeededRandom random;
    const auto ran = support::RunProcess(
        {.argv = {"node", Path("specs.mjs"),
                  absl::StrFormat(R"({"seed":%d,"openapi":"%s","kinds":%d,"specs":%d})",
                                  random.seed() % 1'000'000'000, GetParam(), kKinds, kSpecs)}},
        engine::Deadline::After(std::chrono::minutes(5)));
    EXPECT_OK(ran);
    const api::JsonParse made = api::ParseJson(ran.ok() ? ran->out : "");
    EXPECT_TRUE(made.ok()) << (ran.ok() ? ran->err : "");
    return made.ok() ? *made.value : JsonValue();
  }

  // A server whose kinds have the document's schemas.
  void Start(const JsonValue& made) {
    std::set<std::string> kinds;
    for (const JsonValue& item : made.at("cases").as_array()) {
      kinds.emplace(item.at("kind").as_string());
    }
    ASSERT_OK_AND_ASSIGN(
        const std::string schemas,
        store_->directory().Write("schemas.json", boost::json::serialize(made.at("document"))));
    std::string config = absl::StrFormat(
        "server: {jwt: {enabled: false}, openapi_schema_path: %s}\nentities:\n", schemas);
    for (const std::string& kind : kinds) {
      config += absl::StrFormat(
          "- {kind: %s, plural: %ss, spec_schema_name: %s, require_spec_schema: true}\n", kind,
          LowerCase(kind), kind);
    }
    ASSERT_OK_AND_ASSIGN(const std::string file, store_->directory().Write("config.yaml", config));
    ASSERT_OK_AND_ASSIGN(server_, HaloServer::Start(*store_, {"--config", file}));
  }

  std::unique_ptr<TestStore> store_;
  std::unique_ptr<HaloServer> server_;
};

TEST_P(SpecsTest, AreTakenAsOthersTakeThem) {
  const JsonValue made = Make();
  ASSERT_TRUE(made.is_object());
  ASSERT_NO_FATAL_FAILURE(Start(made));
  HttpClient client(server_->url());
  int number = 0;
  int taken = 0;
  for (const JsonValue& item : made.at("cases").as_array()) {
    const std::string kind(item.at("kind").as_string());
    const std::string spec = boost::json::serialize(item.at("spec"));
    const bool fits = item.at("fits").as_bool();
    const auto answer = client.Post(
        "/api/hyperfleet/v1/" + LowerCase(kind) + "s",
        absl::StrFormat(R"({"kind":"%s","name":"n-%d","spec":%s})", kind, ++number, spec));
    ASSERT_OK(answer);
    EXPECT_EQ(answer->status, fits ? 201 : 400)
        << spec << "\n"
        << boost::json::serialize(made.at("document").at("components").at("schemas").at(kind))
        << "\n"
        << answer->body;
    taken += fits ? 1 : 0;
  }
  EXPECT_GT(number, kKinds * kSpecs * 9 / 10);
  // By chance about one in seven fits.
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, number);
  EXPECT_OK(server_->Stop());
}

INSTANTIATE_TEST_SUITE_P(OpenApi, SpecsTest, testing::Values("3.0.3", "3.1.0"),
                         [](const auto& info) { return info.param == "3.0.3" ? "Old" : "New"; });

}  // namespace
}  // namespace outside
