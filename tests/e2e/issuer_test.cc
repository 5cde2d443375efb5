// The program as people start it, with an issuer of tokens that serves its keys over HTTP.

#include <string>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "tests/api/cases/identity_worlds.h"
#include "tests/support/halo_server.h"
#include "tests/support/http_client.h"
#include "tests/support/key_server.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace {

using support::HaloServer;
using support::HttpClient;
using support::HttpResponse;
using support::KeySetText;
using support::TestStore;
using support::TokenKey;
using testing::HasSubstr;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";

HttpResponse Ask(const HaloServer& server, const std::string& method, const std::string& path,
                 const std::string& body, const support::HttpHeaders& headers) {
  HttpClient client(server.url());
  const auto response =
      client.Call({.method = method, .path = path, .body = body, .headers = headers});
  EXPECT_OK(response);
  return response.value_or(HttpResponse{});
}

TEST(IssuerE2eTest, WhoHasATokenIsRecordedAndKeysRotateUnderWay) {
  const TokenKey old_key = TokenKey::Make("RS256", "2025");
  const TokenKey new_key = TokenKey::Make("ES384", "2026");
  support::KeyServer keys(KeySetText({&old_key}));
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  ASSERT_OK_AND_ASSIGN(
      const std::string config,
      store->directory().Write("config.yaml",
                               absl::StrFormat("server: {jwt: {configs: [{issuer_url: '%s', "
                                               "jwk_cert_url: '%s', audience: halo}]}}\n",
                                               cases::kIssuer, keys.url())));
  ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(*store, {"--config", config}));
  const auto bearer = [](const TokenKey& key, std::string_view audience) {
    return support::HttpHeaders{
        {"Authorization",
         "Bearer " + key.Token(absl::StrFormat(
                         R"({"iss":"%s","aud":"%s","exp":4102444800,"email":"ann@x.example"})",
                         cases::kIssuer, audience))}};
  };
  const auto status = [&](const TokenKey& key, std::string_view audience = "halo") {
    return Ask(*server, "GET", kClusters, "", bearer(key, audience)).status;
  };
  EXPECT_EQ(status(old_key), 200);
  EXPECT_EQ(status(old_key, "other"), 401);
  EXPECT_EQ(Ask(*server, "GET", kClusters, "", {}).status, 401);
  const HttpResponse made =
      Ask(*server, "POST", kClusters, R"({"kind":"Cluster","name":"prod","spec":{}})",
          bearer(old_key, "halo"));
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(made.body, HasSubstr(R"("created_by":"ann@x.example")"));
  EXPECT_THAT(Ask(*server, "GET", "/api/v1/audit?limit=1", "", HaloServer::Admin()).body,
              HasSubstr(R"("ann@x.example")"));
  keys.Set(KeySetText({&old_key, &new_key}));
  // Asked for by the first token that names it; not more than once in ten seconds.
  EXPECT_TRUE(support::WaitFor([&] { return status(new_key) == 200; },
                               engine::Deadline::After(std::chrono::seconds(60))));
  EXPECT_EQ(status(old_key), 200);
  EXPECT_OK(server->Stop());
}

}  // namespace
