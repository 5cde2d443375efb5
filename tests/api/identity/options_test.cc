#include "api/identity/options.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/identity/fetch.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::StatusIs;
using testing::HasSubstr;

IssuerOptions GoodIssuer() {
  IssuerOptions issuer;
  issuer.issuer_url = "https://a.example";
  issuer.jwk_cert_url = "https://a.example/keys";
  return issuer;
}

void ExpectIssuerRefused(const std::function<void(IssuerOptions&)>& change,
                         const std::string& why) {
  IssuerOptions issuer = GoodIssuer();
  change(issuer);
  EXPECT_THAT(
      CheckIssuers({GoodIssuer(), issuer}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("server.jwt.configs[1]." + why)));
}

TEST(CheckIssuersTest, SomebodyHasToBeBelieved) {
  EXPECT_OK(CheckIssuers({GoodIssuer()}));
  EXPECT_THAT(CheckIssuers({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("issuer")));
}

TEST(CheckIssuersTest, KeysComeFromAFileOrASecureUrl) {
  ExpectIssuerRefused([](auto& issuer) { issuer.issuer_url.clear(); }, "issuer_url");
  ExpectIssuerRefused([](auto& issuer) { issuer.issuer_url = "http://a.example"; }, "issuer_url");
  ExpectIssuerRefused([](auto& issuer) { issuer.jwk_cert_url.clear(); }, "jwk_cert_url");
  ExpectIssuerRefused([](auto& issuer) { issuer.jwk_cert_url = "http://a.example"; },
                      "jwk_cert_url");
  ExpectIssuerRefused(
      [](auto& issuer) {
        issuer.jwk_cert_url.clear();
        issuer.jwk_cert_file = "keys.json";
        issuer.jwk_cert_ca_file = "ca.pem";
      },
      "jwk_cert_ca_file");
}

TEST(CheckIssuersTest, HeadersAreForOneThing) {
  for (const char* header : {"Cookie", "set-cookie", "", "Bad Header"}) {
    ExpectIssuerRefused([header](auto& issuer) { issuer.header = header; }, "header");
  }
  for (const char* header : {"Cookie", "authorization", "X-API-Key", "X-Auth-Token",
                             "X-Forwarded-Authorization", "Proxy-Authorization", "Bad:Header"}) {
    ExpectIssuerRefused([header](auto& issuer) { issuer.identity_header = header; },
                        "identity_header");
  }
  ExpectIssuerRefused(
      [](auto& issuer) {
        issuer.header = "X-Token";
        issuer.identity_header = "x-token";
      },
      "identity_header");
}

TEST(IsSecureUrlTest, HttpIsForThisMachine) {
  for (const char* good : {"https://a.example", "https://a.example:8443/x?y", "http://localhost/x",
                           "http://127.0.0.1:80", "http://[::1]:8080/keys"}) {
    EXPECT_TRUE(IsSecureUrl(good)) << good;
  }
  for (const char* bad :
       {"", "https://", "http://a.example", "http://localhost.example", "http://127.0.0.1.example",
        "ftp://localhost", "https:///x", "http://localhost@a.example", "https://user@a.example",
        "https://a b", "HTTPS://a.example", "http://localhost\\@a.example"}) {
    EXPECT_FALSE(IsSecureUrl(bad)) << bad;
  }
}

TenantOptions GoodTenants() {
  return {true,
          "X-HyperFleet-System",
          {{"X-HyperFleet-Org", "org", true}, {"X-HyperFleet-Project", "project", false}}};
}

void ExpectTenantsRefused(const std::function<void(TenantOptions&)>& change,
                          const std::string& why) {
  TenantOptions tenant = GoodTenants();
  change(tenant);
  EXPECT_THAT(CheckTenants(tenant),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("server.tenant." + why)));
  tenant.enabled = false;
  EXPECT_OK(CheckTenants(tenant));
}

TEST(CheckTenantsTest, DimensionsAreToldApart) {
  EXPECT_OK(CheckTenants(GoodTenants()));
  ExpectTenantsRefused([](auto& tenant) { tenant.system_header.clear(); }, "system_header");
  ExpectTenantsRefused([](auto& tenant) { tenant.system_header = "Cookie"; }, "system_header");
  ExpectTenantsRefused([](auto& tenant) { tenant.dimensions.clear(); }, "dimensions");
  ExpectTenantsRefused([](auto& tenant) { tenant.dimensions[0].required = false; }, "dimensions");
  ExpectTenantsRefused([](auto& tenant) { tenant.dimensions[1].header = "x-hyperfleet-ORG"; },
                       "dimensions[1].header");
  ExpectTenantsRefused([](auto& tenant) { tenant.dimensions[0].header = "x-hyperfleet-system"; },
                       "dimensions[0].header");
  ExpectTenantsRefused([](auto& tenant) { tenant.dimensions[0].header = "Authorization"; },
                       "dimensions[0].header");
  ExpectTenantsRefused([](auto& tenant) { tenant.dimensions[1].key = "org"; }, "dimensions[1].key");
  ExpectTenantsRefused([](auto& tenant) { tenant.dimensions[1].key.clear(); }, "dimensions[1].key");
}

}  // namespace
}  // namespace api
