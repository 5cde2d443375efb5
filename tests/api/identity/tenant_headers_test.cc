#include "api/identity/tenant_headers.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace api {
namespace {

using projections::TenantScope;
using testing::HasSubstr;

const TenantOptions kOptions = {
    true,
    "X-HyperFleet-System",
    {{"X-HyperFleet-Org", "org", true}, {"X-HyperFleet-Project", "project", false}}};

std::variant<RequestTenant, std::string> Resolve(std::vector<HeaderField> headers,
                                                 const TenantOptions& options = kOptions,
                                                 const TrustedProxies& trusted = {}) {
  RequestParts parts;
  parts.headers = std::move(headers);
  parts.remote_address = "192.0.2.1:1024";
  return ResolveTenant(Request(std::move(parts)), options, trusted);
}

RequestTenant Accepted(const std::variant<RequestTenant, std::string>& resolved) {
  const auto* reason = std::get_if<std::string>(&resolved);
  EXPECT_EQ(reason, nullptr) << (reason == nullptr ? "" : *reason);
  return reason == nullptr ? std::get<RequestTenant>(resolved)
                           : RequestTenant{TenantScope::Of({}), false};
}

std::string Reason(const std::variant<RequestTenant, std::string>& resolved) {
  const auto* reason = std::get_if<std::string>(&resolved);
  return reason == nullptr ? "accepted" : *reason;
}

TEST(ResolveTenantTest, HeadersSayWhoseItIs) {
  const RequestTenant org = Accepted(Resolve({{"x-hyperfleet-org", " acme "}}));
  EXPECT_EQ(org.scope, TenantScope::Of({{"org", "acme"}}));
  EXPECT_FALSE(org.is_system);
  const RequestTenant both =
      Accepted(Resolve({{"X-HyperFleet-Project", "p.1_x-y"}, {"X-HyperFleet-Org", "acme"}}));
  EXPECT_EQ(both.scope, TenantScope::Of({{"org", "acme"}, {"project", "p.1_x-y"}}));
}

TEST(ResolveTenantTest, WithoutEnforcementEverythingIsEverybodys) {
  TenantOptions off = kOptions;
  off.enabled = false;
  EXPECT_TRUE(Accepted(Resolve({{"X-HyperFleet-System", "true"}}, off)).scope.is_all());
  EXPECT_FALSE(Accepted(Resolve({{"X-HyperFleet-System", "true"}}, off)).is_system);
}

TEST(ResolveTenantTest, ARequiredHeaderIsThere) {
  EXPECT_THAT(Reason(Resolve({})), HasSubstr("X-HyperFleet-Org is required"));
  EXPECT_THAT(Reason(Resolve({{"X-HyperFleet-Org", " \t"}})), HasSubstr("required"));
  EXPECT_THAT(Reason(Resolve({{"X-HyperFleet-Project", "p"}})), HasSubstr("required"));
}

TEST(ResolveTenantTest, AValueIsShortAndPlain) {
  EXPECT_EQ(Reason(Resolve({{"X-HyperFleet-Org", std::string(63, 'a')}})), "accepted");
  for (const std::string& bad : {std::string(64, 'a'), std::string("acme/<script>"),
                                 std::string("a b"), std::string("a,b"), std::string("\xc3\xa4")}) {
    EXPECT_THAT(Reason(Resolve({{"X-HyperFleet-Org", bad}})), HasSubstr("1 to 63")) << bad;
  }
}

TEST(ResolveTenantTest, TheSystemSeesEverything) {
  for (const char* yes : {"true", "TRUE", " True "}) {
    const RequestTenant system =
        Accepted(Resolve({{"X-HyperFleet-System", yes}, {"X-HyperFleet-Org", "acme"}}));
    EXPECT_TRUE(system.scope.is_all());
    EXPECT_TRUE(system.is_system);
  }
  for (const char* no : {"false", "", "1", "yes", "truer"}) {
    EXPECT_THAT(Reason(Resolve({{"X-HyperFleet-System", no}})), HasSubstr("required")) << no;
    EXPECT_FALSE(
        Accepted(Resolve({{"X-HyperFleet-System", no}, {"X-HyperFleet-Org", "acme"}})).is_system);
  }
}

TEST(ResolveTenantTest, ADoubledHeaderIsRefused) {
  EXPECT_THAT(Reason(Resolve({{"X-HyperFleet-Org", "acme"}, {"x-hyperfleet-org", "acme"}})),
              HasSubstr("more than once"));
  EXPECT_THAT(Reason(Resolve({{"X-HyperFleet-System", "false"},
                              {"X-HyperFleet-System", "false"},
                              {"X-HyperFleet-Org", "acme"}})),
              HasSubstr("more than once"));
}

TEST(ResolveTenantTest, HeadersCountFromTheGatewayOnly) {
  ASSERT_OK_AND_ASSIGN(const TrustedProxies others, TrustedProxies::Parse("192.0.2.2"));
  ASSERT_OK_AND_ASSIGN(const TrustedProxies us, TrustedProxies::Parse("192.0.2.0/24"));
  for (const char* header : {"X-HyperFleet-Org", "X-HyperFleet-System"}) {
    EXPECT_THAT(Reason(Resolve({{header, "true"}}, kOptions, others)), HasSubstr("gateway"));
    EXPECT_EQ(Reason(Resolve({{header, "true"}}, kOptions, us)), "accepted");
  }
}

}  // namespace
}  // namespace api
