#include "api/identity/identity_claim.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::StatusIs;
using testing::HasSubstr;

class IdentityRulesTest : public testing::Test {
 protected:
  std::optional<std::string> Resolve(const std::string& claims,
                                     std::vector<HeaderField> headers = {}) {
    const auto rules = IdentityRules::Make(options_);
    EXPECT_OK(rules);
    const JsonParse parsed = ParseJson(claims);
    EXPECT_TRUE(parsed.ok()) << claims;
    RequestParts parts;
    parts.headers = std::move(headers);
    parts.remote_address = "192.0.2.1:1024";
    return rules->Resolve(Request(std::move(parts)), parsed.value->get_object(), trusted_);
  }

  IssuerOptions options_;
  TrustedProxies trusted_;
};

TEST_F(IdentityRulesTest, TheClaimNamesWhoActs) {
  EXPECT_EQ(Resolve(R"({"email":" a@b.example "})"), "a@b.example");
  for (const char* nobody :
       {"{}", R"({"email":""})", R"({"email":" "})", R"({"email":1})", R"({"sub":"x"})"}) {
    EXPECT_EQ(Resolve(nobody), std::nullopt) << nobody;
  }
  options_.identity_claim = "sub";
  EXPECT_EQ(Resolve(R"({"sub":"system:serviceaccount:x:y"})"), "system:serviceaccount:x:y");
}

TEST_F(IdentityRulesTest, TheHeaderComesFirst) {
  const std::string claims = R"({"email":"a@b.example"})";
  EXPECT_EQ(Resolve(claims, {{"X-HyperFleet-Identity", "bob"}}), "a@b.example");
  options_.identity_header = "X-HyperFleet-Identity";
  EXPECT_EQ(Resolve(claims, {{"x-hyperfleet-identity", " bob "}}), "bob");
  EXPECT_EQ(Resolve(claims, {{"X-HyperFleet-Identity", " "}}), "a@b.example");
  EXPECT_EQ(Resolve(claims), "a@b.example");
  EXPECT_EQ(Resolve(claims, {{"X-HyperFleet-Identity", "bob"}, {"X-HyperFleet-Identity", "bob"}}),
            std::nullopt);
}

TEST_F(IdentityRulesTest, TheHeaderCountsFromTheGatewayOnly) {
  options_.identity_header = "X-HyperFleet-Identity";
  ASSERT_OK_AND_ASSIGN(trusted_, TrustedProxies::Parse("192.0.2.2"));
  EXPECT_EQ(Resolve(R"({"email":"a@b.example"})", {{"X-HyperFleet-Identity", "bob"}}),
            "a@b.example");
}

TEST_F(IdentityRulesTest, ANameFitsIntoARecord) {
  options_.identity_header = "X-HyperFleet-Identity";
  const std::string claims = R"({"email":"a@b.example"})";
  EXPECT_EQ(Resolve(claims, {{"X-HyperFleet-Identity", std::string(255, 'x')}}),
            std::string(255, 'x'));
  for (const std::string& bad :
       {std::string(256, 'x'), std::string("a\tb"), std::string("a\x7f")}) {
    EXPECT_EQ(Resolve(claims, {{"X-HyperFleet-Identity", bad}}), std::nullopt);
  }
  EXPECT_EQ(Resolve(R"({"email":"a\u0001b"})"), std::nullopt);
}

TEST_F(IdentityRulesTest, ANameMatchesThePattern) {
  options_.identity_header = "X-HyperFleet-Identity";
  options_.identity_claim_pattern = "^[a-z]+@b\\.example$";
  EXPECT_EQ(Resolve(R"({"email":"a@b.example"})"), "a@b.example");
  EXPECT_EQ(Resolve(R"({"email":"a@c.example"})"), std::nullopt);
  EXPECT_EQ(Resolve(R"({"email":"a@b.example"})", {{"X-HyperFleet-Identity", "bob"}}),
            std::nullopt);
  options_.identity_claim_pattern = "(";
  EXPECT_THAT(IdentityRules::Make(options_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("identity_claim_pattern")));
}

TEST(ClaimTextTest, ClaimsHaveOtherNames) {
  const JsonParse parsed = ParseJson(
      R"({"preferred_username":"u","name":"Ada King Lovelace","clientId":"c","iss":"i"})");
  const JsonObject& claims = parsed.value->get_object();
  EXPECT_EQ(ClaimText(claims, "username"), "u");
  EXPECT_EQ(ClaimText(claims, "preferred_username"), "u");
  EXPECT_EQ(ClaimText(claims, "first_name"), "Ada");
  EXPECT_EQ(ClaimText(claims, "family_name"), "King Lovelace");
  EXPECT_EQ(ClaimText(claims, "client_id"), "c");
  EXPECT_EQ(ClaimText(claims, "issuer"), "i");
  EXPECT_EQ(ClaimText(claims, "email"), "");
  EXPECT_EQ(ClaimText(ParseJson(R"({"name":"Ada"})").value->get_object(), "last_name"), "");
}

}  // namespace
}  // namespace api
