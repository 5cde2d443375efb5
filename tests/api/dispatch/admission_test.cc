// Who may use a route: 401 first, then 403, and what goes along with the request.

#include "api/dispatch/admission.h"

#include <memory>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"
#include "tests/support/token_key.h"

namespace api {
namespace {

using dispatch_test::HeaderOf;
using dispatch_test::MakeRequest;
using projections::TenantScope;
using testing::HasSubstr;

constexpr char kPath[] = "/api/hyperfleet/v1/clusters";
constexpr char kIssuer[] = "https://issuer.example";
const HeaderField kOperator = {"Authorization", "Bearer token"};
const HeaderField kOrg = {"X-Org", "acme"};
const HeaderField kSystem = {"X-System", "true"};

class AdmissionTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make());
    ASSERT_OK_AND_ASSIGN(tokens_, AdminTokens::Parse("ops:token"));
    options_.issuers.resize(1);
    options_.issuers[0].issuer_url = kIssuer;
    ASSERT_OK_AND_ASSIGN(options_.issuers[0].jwk_cert_file,
                         directory_->Write("keys", support::KeySetText({&key_})));
    options_.tenant = {false, "X-System", {{"X-Org", "org", true}}};
  }

  Admission::Verdict Judge(const std::string& method, const std::vector<HeaderField>& headers,
                           Access access = Access::kResources, const std::string& path = kPath) {
    if (authenticator_ == nullptr) {
      auto made = Authenticator::Make(options_);
      EXPECT_OK(made);
      authenticator_ = *std::move(made);
    }
    return Admission(tokens_, *authenticator_)
        .Judge(access, *MakeRequest(method, path, headers), true);
  }
  // 200 where somebody is admitted.
  int Status(const std::string& method, const std::vector<HeaderField>& headers) {
    const auto verdict = Judge(method, headers);
    const auto* refusal = std::get_if<Response>(&verdict);
    return refusal == nullptr ? 200 : refusal->status;
  }
  Caller Admitted(const std::string& method, const std::vector<HeaderField>& headers) {
    const auto verdict = Judge(method, headers);
    const auto* caller = std::get_if<Caller>(&verdict);
    EXPECT_NE(caller, nullptr);
    return caller == nullptr ? Caller() : *caller;
  }
  HeaderField Token(const std::string& more = R"(,"email":"ann@x.example")") const {
    return {"Authorization", "Bearer " + key_.Token(absl::StrFormat(
                                             R"({"iss":"%s","exp":4102444800%s})", kIssuer, more))};
  }

  const support::TokenKey key_ = support::TokenKey::Make("ES256", "k");
  std::unique_ptr<support::PrivateDirectory> directory_;
  AdminTokens tokens_;
  IdentityOptions options_;
  std::unique_ptr<Authenticator> authenticator_;
};

TEST_F(AdmissionTest, WithoutChecksEverybodyIsTheSystemsActor) {
  EXPECT_EQ(Admitted("POST", {}).actor, kSystemActor);
  EXPECT_EQ(Admitted("POST", {Token()}).actor, kSystemActor);
  EXPECT_TRUE(Admitted("POST", {}).tenant.is_all());
  EXPECT_EQ(Admitted("POST", {kOperator}).actor, "ops");
}

TEST_F(AdmissionTest, ATokenIsRequired) {
  options_.jwt_enabled = true;
  const auto verdict = Judge("GET", {});
  const auto* refusal = std::get_if<Response>(&verdict);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->status, 401);
  EXPECT_THAT(refusal->body, HasSubstr("HYPERFLEET-AUT-001"));
  EXPECT_EQ(HeaderOf(*refusal, "WWW-Authenticate"), "Bearer");
  EXPECT_EQ(Status("POST", {{"Authorization", "Bearer garbage"}}), 401);
  EXPECT_EQ(Admitted("POST", {Token()}).actor, "ann@x.example");
  EXPECT_FALSE(Admitted("POST", {Token()}).is_admin);
  EXPECT_FALSE(Admitted("POST", {Token()}).until.IsInfinite());
  EXPECT_EQ(Admitted("POST", {kOperator}).actor, "ops");
  EXPECT_TRUE(Admitted("POST", {kOperator}).until.IsInfinite());
}

TEST_F(AdmissionTest, EveryFamilyRefusesInItsOwnManner) {
  options_.jwt_enabled = true;
  auto made = Authenticator::Make(options_);
  ASSERT_OK(made);
  const Admission admission(tokens_, **made);
  const auto verdict =
      admission.Judge(Access::kResources, *MakeRequest("GET", "/api/v1/watch"), true);
  const auto* refusal = std::get_if<Response>(&verdict);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->status, 401);
  EXPECT_EQ(refusal->body, R"({"error":"a bearer token is required"})");
}

TEST_F(AdmissionTest, WhoChangesSomethingHasAName) {
  options_.jwt_enabled = true;
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    EXPECT_EQ(Status(method, {Token("")}), 401) << method;
    EXPECT_EQ(Status(method, {Token()}), 200) << method;
  }
  EXPECT_EQ(Status("GET", {Token("")}), 200);
  EXPECT_EQ(Status("HEAD", {Token("")}), 200);
}

TEST_F(AdmissionTest, AuthenticationComesBeforeTenants) {
  options_.jwt_enabled = true;
  options_.tenant.enabled = true;
  EXPECT_EQ(Status("GET", {}), 401);
  EXPECT_EQ(Status("GET", {kOrg}), 401);
  EXPECT_EQ(Status("GET", {Token()}), 403);
  EXPECT_EQ(Admitted("GET", {Token(), kOrg}).tenant, TenantScope::Of({{"org", "acme"}}));
  // Operators are somebody's, too.
  EXPECT_EQ(Status("GET", {kOperator}), 403);
}

TEST_F(AdmissionTest, TheSystemReportsAndReads) {
  options_.tenant.enabled = true;
  for (const char* method : {"POST", "PATCH", "DELETE"}) {
    EXPECT_EQ(Status(method, {kSystem}), 403) << method;
    EXPECT_EQ(Status(method, {kOrg}), 200) << method;
  }
  for (const char* method : {"GET", "PUT"}) {
    const Caller system = Admitted(method, {kSystem});
    EXPECT_TRUE(system.is_system) << method;
    EXPECT_TRUE(system.tenant.is_all()) << method;
  }
}

TEST_F(AdmissionTest, RoutesOfOperatorsKnowNoTenants) {
  options_.jwt_enabled = true;
  options_.tenant.enabled = true;
  EXPECT_TRUE(std::holds_alternative<Caller>(Judge("POST", {kOperator}, Access::kAdmin)));
  EXPECT_TRUE(std::holds_alternative<Response>(Judge("POST", {Token()}, Access::kAdmin)));
}

TEST_F(AdmissionTest, OperatorsWatchEverythingUnlessTheyNameATenant) {
  options_.jwt_enabled = true;
  options_.tenant.enabled = true;
  const auto watch = [this](const std::vector<HeaderField>& headers) {
    return Judge("GET", headers, Access::kResources, "/api/v1/watch");
  };
  EXPECT_TRUE(std::get<Caller>(watch({kOperator})).tenant.is_all());
  EXPECT_EQ(std::get<Caller>(watch({kOperator, kOrg})).tenant, TenantScope::Of({{"org", "acme"}}));
  EXPECT_TRUE(std::holds_alternative<Response>(watch({kOperator, kOrg, kOrg})));
  EXPECT_TRUE(std::holds_alternative<Response>(watch({Token()})));
}

}  // namespace
}  // namespace api
