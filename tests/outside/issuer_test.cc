// The server with an issuer of tokens that is not ours: what it signs, how it says where its keys
// are, and what becomes of them when it starts anew or goes away.

#include <memory>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "api/json/parser.h"
#include "tests/outside/outside.h"
#include "tests/support/halo_server.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace outside {
namespace {

using support::HaloServer;
using support::HttpClient;
using support::HttpResponse;
using support::TestStore;
using testing::HasSubstr;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";
constexpr char kUs[] = "https://halo.example";

engine::Deadline Soon() {
  return engine::Deadline::After(std::chrono::seconds(60));
}

// The member of that name of a JSON object; empty when it is something else.
std::string Member(const std::string& text, const std::string& name) {
  const api::JsonParse parsed = api::ParseJson(text);
  const api::JsonValue* const member = parsed.ok() && parsed.value->is_object()
                                           ? parsed.value->as_object().if_contains(name)
                                           : nullptr;
  return member != nullptr && member->is_string() ? std::string(member->as_string()) : "";
}

// issuer.mjs, as a process.
class Issuer {
 public:
  static absl::StatusOr<std::unique_ptr<Issuer>> Start(const std::string& kid, int port = 0,
                                                       int clock = 0,
                                                       const std::string& alg = "RS256") {
    auto process = support::Process::Start(
        {.argv = {"node", Path("issuer.mjs"),
                  absl::StrFormat(R"({"port":%d,"kid":"%s","alg":"%s","clock":%d})", port, kid, alg,
                                  clock)}});
    if (!process.ok()) {
      return process.status();
    }
    const auto line = (*process)->WaitForLine("issuing as ", Soon());
    if (!line.ok()) {
      return line.status();
    }
    std::string url = line->substr(line->find("http"));
    return std::unique_ptr<Issuer>(new Issuer(*std::move(process), std::move(url)));
  }

  const std::string& url() const { return url_; }
  int port() const { return std::stoi(url_.substr(url_.rfind(':') + 1)); }

  // Where it says that its keys are.
  std::string KeysUrl() const {
    const auto about = HttpClient(url_).Get("/.well-known/openid-configuration");
    EXPECT_OK(about);
    return about.ok() ? Member(about->body, "jwks_uri") : "";
  }

  // A token for this audience, as a client gets it.
  std::string Token(const std::string& audience = kUs) const {
    const auto answer =
        HttpClient(url_).Call({.method = "POST",
                               .path = "/token",
                               .body = "grant_type=client_credentials&client_id=fleet-operator"
                                       "&client_secret=not-a-secret-of-anybody&resource=" +
                                       audience,
                               .headers = {{"Content-Type", "application/x-www-form-urlencoded"}}});
    EXPECT_OK(answer);
    const std::string token = answer.ok() ? Member(answer->body, "access_token") : "";
    EXPECT_NE(token, "") << (answer.ok() ? answer->body : "");
    return token;
  }

  void Kill() {
    process_->Signal(SIGKILL);
    process_->Wait(Soon()).IgnoreError();
  }

 private:
  Issuer(std::unique_ptr<support::Process> process, std::string url)
      : process_(std::move(process)), url_(std::move(url)) {}

  std::unique_ptr<support::Process> process_;
  std::string url_;
};

class OutsideIssuerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Has("oidc-provider")) {
      GTEST_SKIP() << kMissing;
    }
    ASSERT_NO_FATAL_FAILURE(StartBoth("RS256"));
  }

  // An issuer whose tokens are signed so, and a server that knows it.
  void StartBoth(const std::string& alg) {
    server_.reset();
    ASSERT_OK_AND_ASSIGN(issuer_, Issuer::Start("one", 0, 0, alg));
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnFiles());
    ASSERT_OK_AND_ASSIGN(
        const std::string config,
        store_->directory().Write(
            "config.yaml",
            absl::StrFormat("server: {jwt: {configs: [{issuer_url: '%s', jwk_cert_url: '%s', "
                            "audience: '%s', identity_claim: sub}]}}\n",
                            issuer_->url(), issuer_->KeysUrl(), kUs)));
    ASSERT_OK_AND_ASSIGN(server_, HaloServer::Start(*store_, {"--config", config}));
  }

  HttpResponse Ask(const std::string& token, const std::string& method = "GET",
                   const std::string& body = "") {
    const support::HttpHeaders headers =
        token.empty() ? support::HttpHeaders{}
                      : support::HttpHeaders{{"Authorization", "Bearer " + token}};
    const auto answer =
        HttpClient(server_->url())
            .Call({.method = method, .path = kClusters, .body = body, .headers = headers});
    EXPECT_OK(answer);
    return answer.value_or(HttpResponse{});
  }
  int Status(const std::string& token) { return Ask(token).status; }

  std::unique_ptr<Issuer> issuer_;
  std::unique_ptr<TestStore> store_;
  std::unique_ptr<HaloServer> server_;
};

TEST_F(OutsideIssuerTest, ItsTokensSayWhoAsks) {
  const std::string token = issuer_->Token();
  EXPECT_EQ(Status(token), 200);
  const HttpResponse made = Ask(token, "POST", R"({"kind":"Cluster","name":"prod","spec":{}})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Member(made.body, "created_by"), "fleet-operator");
  EXPECT_OK(server_->Stop());
}

TEST_F(OutsideIssuerTest, ItsTokensAreReadHoweverItSigns) {
  for (const char* const alg : {"RS384", "RS512", "PS256", "ES256", "ES384"}) {
    ASSERT_NO_FATAL_FAILURE(StartBoth(alg));
    const std::string token = issuer_->Token();
    EXPECT_EQ(Status(token), 200) << alg;
    std::string changed = token;
    const std::size_t at = changed.rfind('.') + 10;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(Status(changed), 401) << alg;
  }
}

TEST_F(OutsideIssuerTest, OnlyWhatItSignedForUsAndNowIsTaken) {
  ASSERT_EQ(Status(issuer_->Token()), 200);
  EXPECT_THAT(Ask("").body, HasSubstr("HYPERFLEET-AUT-001"));
  const HttpResponse for_others = Ask(issuer_->Token("https://other.example"));
  EXPECT_EQ(for_others.status, 401);
  EXPECT_THAT(for_others.body, HasSubstr("HYPERFLEET-AUT-002"));

  // Another issuer of the same make, whose key has the same name.
  ASSERT_OK_AND_ASSIGN(const auto stranger, Issuer::Start("one"));
  const HttpResponse foreign = Ask(stranger->Token());
  EXPECT_EQ(foreign.status, 401);
  EXPECT_THAT(foreign.body, HasSubstr("HYPERFLEET-AUT-002"));

  std::string changed = issuer_->Token();
  const std::size_t at = changed.find('.') + 10;
  changed[at] = changed[at] == 'A' ? 'B' : 'A';
  EXPECT_EQ(Status(changed), 401);
}

TEST_F(OutsideIssuerTest, AnOldTokenHasExpired) {
  // Its clock is an hour behind from here on, and its tokens last ten minutes.
  const int port = issuer_->port();
  issuer_->Kill();
  ASSERT_OK_AND_ASSIGN(issuer_, Issuer::Start("two", port, -3600));
  const std::string token = issuer_->Token();
  // Its key is fetched first; until then the token is one of an unknown key.
  EXPECT_TRUE(support::WaitFor(
      [&] { return Ask(token).body.find("HYPERFLEET-AUT-003") != std::string::npos; }, Soon()));
  EXPECT_EQ(Status(token), 401);
}

TEST_F(OutsideIssuerTest, ItsNextKeyReplacesTheLastOne) {
  const std::string old_token = issuer_->Token();
  ASSERT_EQ(Status(old_token), 200);
  const int port = issuer_->port();
  issuer_->Kill();
  // Known keys go on to be good while nobody can be asked, and what is unknown is not.
  EXPECT_EQ(Status(old_token), 200);
  ASSERT_OK_AND_ASSIGN(issuer_, Issuer::Start("two", port));
  const std::string new_token = issuer_->Token();
  // Asked for by the first token that names it; not more than once in ten seconds.
  EXPECT_TRUE(support::WaitFor([&] { return Status(new_token) == 200; }, Soon()));
  EXPECT_EQ(Status(old_token), 401) << "its key is not the issuer's any more";
  issuer_->Kill();
  EXPECT_EQ(Status(new_token), 200);
  EXPECT_EQ(Status(old_token), 401);
  EXPECT_EQ(Status(new_token), 200);
}

TEST_F(OutsideIssuerTest, AServerThatStartsWithoutItServesNobodyUntilItIsThere) {
  const int port = issuer_->port();
  const std::string config = store_->directory().path() + "/config.yaml";
  ASSERT_OK(server_->Stop());
  issuer_->Kill();
  ASSERT_OK_AND_ASSIGN(server_, HaloServer::Start(*store_, {"--config", config}));
  ASSERT_OK_AND_ASSIGN(const auto stranger, Issuer::Start("one"));
  EXPECT_NE(Status(stranger->Token()), 200);
  ASSERT_OK_AND_ASSIGN(issuer_, Issuer::Start("three", port));
  const std::string token = issuer_->Token();
  EXPECT_TRUE(support::WaitFor([&] { return Status(token) == 200; }, Soon()));
  EXPECT_NE(Status(stranger->Token()), 200);
}

}  // namespace
}  // namespace outside
