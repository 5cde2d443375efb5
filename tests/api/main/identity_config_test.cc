// Who may use the routes of resources, as flags, variables and files say.

#include "api/main/identity_config.h"

#include <map>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/status_macros.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::StatusIs;
using testing::HasSubstr;
using Flags = std::map<std::string, std::string, std::less<>>;

constexpr char kIssuer[] = "{issuer_url: 'https://a.example', jwk_cert_url: 'https://a.example/k'}";
constexpr char kTenants[] =
    "{enabled: true, system_header: X-System, dimensions: "
    "[{header: X-Org, key: org, required: true}, {header: X-Project, key: project}]}";

class IdentityConfigTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make()); }

  absl::StatusOr<ServeConfig> Read(const std::string& yaml, Flags flags = {},
                                   Environment environment = {}) {
    ASSIGN_OR_RETURN(flags["config"], directory_->Write("config.yaml", yaml));
    ASSIGN_OR_RETURN(const Settings settings,
                     Settings::Load(std::move(flags), std::move(environment)));
    return ReadServeConfig(settings);
  }
  void ExpectRefused(const std::string& yaml, const std::string& why) {
    EXPECT_THAT(Read(yaml), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(why)))
        << yaml;
  }

  std::unique_ptr<support::PrivateDirectory> directory_;
};

std::string Jwt(const std::string& configs) {
  return "server: {jwt: {configs: [" + configs + "]}}\n";
}
std::string Tenants(const std::string& tenant) {
  return "server: {jwt: {enabled: false}, tenant: " + tenant + "}\n";
}

TEST_F(IdentityConfigTest, TokensAreCheckedWhereThereIsAFile) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Read(Jwt(kIssuer)));
  const IdentityOptions& identity = config.server.identity;
  EXPECT_TRUE(identity.jwt_enabled);
  ASSERT_EQ(identity.issuers.size(), 1U);
  EXPECT_EQ(identity.issuers[0].header, "Authorization");
  EXPECT_EQ(identity.issuers[0].identity_claim, "email");
  EXPECT_FALSE(identity.tenant.enabled);
  EXPECT_EQ(config.warning, "");
  ExpectRefused("logging: {level: info}\n", "no issuer is known");
  ExpectRefused("server: {jwt: {enabled: true}}\n", "no issuer is known");
  ExpectRefused(Jwt("{issuer_url: 'https://a.example'}"), "configs[0].jwk_cert_url");
}

TEST_F(IdentityConfigTest, EveryKeyOfAnIssuerIsRead) {
  ASSERT_OK_AND_ASSIGN(const std::string ca, directory_->Write("ca.pem", "x"));
  ASSERT_OK_AND_ASSIGN(
      const ServeConfig config,
      Read(Jwt(std::string(kIssuer) +
               ",{issuer_url: 'https://b.example', jwk_cert_url: 'https://b.example/k', "
               "jwk_cert_file: keys.json, jwk_cert_ca_file: '" +
               ca +
               "', header: X-Token, audience: halo, identity_claim: sub, "
               "identity_claim_pattern: '^a', identity_header: X-Identity}")));
  const IssuerOptions& issuer = config.server.identity.issuers.at(1);
  EXPECT_EQ(issuer.issuer_url, "https://b.example");
  EXPECT_EQ(issuer.jwk_cert_url, "https://b.example/k");
  EXPECT_EQ(issuer.jwk_cert_file, "keys.json");
  EXPECT_EQ(issuer.jwk_cert_ca_file, ca);
  EXPECT_EQ(issuer.header, "X-Token");
  EXPECT_EQ(issuer.audience, "halo");
  EXPECT_EQ(issuer.identity_claim, "sub");
  EXPECT_EQ(issuer.identity_claim_pattern, "^a");
  EXPECT_EQ(issuer.identity_header, "X-Identity");
}

TEST_F(IdentityConfigTest, FlagsAndVariablesSwitchIt) {
  EXPECT_FALSE(Read(Jwt(kIssuer), {{"server-jwt-enabled", "false"}})->server.identity.jwt_enabled);
  EXPECT_FALSE(Read(Jwt(kIssuer), {}, {{"HYPERFLEET_SERVER_JWT_ENABLED", "false"}})
                   ->server.identity.jwt_enabled);
  EXPECT_TRUE(Read(Jwt(kIssuer), {{"server-jwt-enabled", "true"}},
                   {{"HYPERFLEET_SERVER_JWT_ENABLED", "false"}})
                  ->server.identity.jwt_enabled);
  const std::string off =
      "server: {jwt: {enabled: false}, tenant: {dimensions: [{header: X-Org, key: org, "
      "required: true}]}}\n";
  ASSERT_OK_AND_ASSIGN(const ServeConfig on,
                       Read(off, {{"server-tenant-enabled", "true"}},
                            {{"HYPERFLEET_SERVER_TENANT_SYSTEM_HEADER", "X-System"}}));
  EXPECT_TRUE(on.server.identity.tenant.enabled);
  EXPECT_EQ(on.server.identity.tenant.system_header, "X-System");
}

TEST_F(IdentityConfigTest, TenantsAreToldApartByHeaders) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Read(Tenants(kTenants)));
  const TenantOptions& tenant = config.server.identity.tenant;
  ASSERT_EQ(tenant.dimensions.size(), 2U);
  EXPECT_EQ(tenant.dimensions[0].header, "X-Org");
  EXPECT_EQ(tenant.dimensions[0].key, "org");
  EXPECT_TRUE(tenant.dimensions[0].required);
  EXPECT_FALSE(tenant.dimensions[1].required);
  ExpectRefused(Tenants("{enabled: true, system_header: X-System}"), "server.tenant.dimensions");
  ExpectRefused(Tenants("{enabled: true, dimensions: [{header: X, key: x, required: true}]}"),
                "server.tenant.system_header");
  ExpectRefused(Tenants("{dimensions: {header: X}}"), "expected a list");
  ExpectRefused(Tenants("{dimensions: [{header: X, nonsense: 1}]}"), "nonsense");
  ExpectRefused(Jwt("{nonsense: 1}"), "nonsense");
  ExpectRefused(Jwt("{header: a, header: b}"), "there twice");
}

TEST_F(IdentityConfigTest, StrangersWhoCanTellTenantsAreWarnedOf) {
  const auto warning = [this](Flags flags) {
    const auto config = Read(Tenants(kTenants), std::move(flags));
    EXPECT_OK(config);
    return config.ok() ? config->warning : "";
  };
  EXPECT_EQ(warning({}), "");
  EXPECT_THAT(warning({{"listen", "0.0.0.0:80"}}), HasSubstr("--trusted-proxy-cidrs"));
  EXPECT_EQ(warning({{"listen", "0.0.0.0:80"}, {"trusted-proxy-cidrs", "10.0.0.0/8"}}), "");
  EXPECT_THAT(Read(Tenants(kTenants), {{"trusted-proxy-cidrs", "gateway"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("gateway")));
}

TEST_F(IdentityConfigTest, StrangersWhoCanSayWhoActsAreWarnedOf) {
  const std::string issuer =
      "{issuer_url: 'https://a.example', jwk_cert_url: 'https://a.example/k'";
  const auto warning = [&](const std::string& more, Flags flags) {
    const auto config = Read(Jwt(issuer + more + "}"), std::move(flags));
    EXPECT_OK(config);
    return config.ok() ? config->warning : "";
  };
  const std::string header = ", identity_header: X-HyperFleet-Identity";
  const Flags open = {{"listen", "0.0.0.0:80"}};
  EXPECT_THAT(warning(header, open), HasSubstr("--trusted-proxy-cidrs"));
  EXPECT_EQ(warning("", open), "");
  EXPECT_EQ(warning(header, {}), "");
  EXPECT_EQ(warning(header, {{"listen", "0.0.0.0:80"}, {"trusted-proxy-cidrs", "10.0.0.0/8"}}), "");
}

TEST_F(IdentityConfigTest, FilesOfCertificatesAreThere) {
  EXPECT_THAT(Read(Jwt("{issuer_url: 'https://a.example', jwk_cert_url: 'https://a.example/k', "
                       "jwk_cert_ca_file: /nowhere}")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere")));
}

}  // namespace
}  // namespace api
