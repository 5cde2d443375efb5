#include "api/identity/keys.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/support/token_key.h"

namespace api {
namespace {

using support::StatusIs;
using support::TokenKey;
using testing::HasSubstr;

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

bool IsTaken(const std::string& jwk) {
  const JsonParse parsed = ParseJson(jwk);
  EXPECT_TRUE(parsed.ok()) << jwk;
  return VerificationKey::Make(parsed.value->get_object()).has_value();
}

TEST(KeySetTest, KeysOfOthersAreLeftOut) {
  const TokenKey key = TokenKey::Make("ES256", "k");
  ASSERT_OK_AND_ASSIGN(
      const KeySet keys,
      KeySet::Parse(R"({"keys":[{"kty":"oct","k":"AAAA","alg":"HS256"},{"kty":"OKP"},{},)" +
                    key.Jwk() + "]}"));
  ASSERT_EQ(keys.keys().size(), 1U);
  EXPECT_EQ(keys.keys()[0].kid(), "k");
}

TEST(KeySetTest, OtherTextsAreNoKeySets) {
  for (const char* bad : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[1]})", R"({"keys":[]})",
                          R"({"keys":[{"kty":"oct"}]})"}) {
    EXPECT_THAT(KeySet::Parse(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
  std::string many = R"({"keys":[{})";
  for (int i = 0; i < 256; ++i) {
    many += ",{}";
  }
  EXPECT_THAT(KeySet::Parse(many + "]}"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 256")));
}

TEST(VerificationKeyTest, AKeyForOtherThingsIsNotTaken) {
  const std::string jwk = TokenKey::Make("ES256", "k").Jwk();
  EXPECT_TRUE(IsTaken(jwk));
  EXPECT_FALSE(IsTaken(Replaced(jwk, R"("use":"sig")", R"("use":"enc")")));
  EXPECT_FALSE(IsTaken(Replaced(jwk, R"("use":"sig")", R"("key_ops":["sign"])")));
  EXPECT_TRUE(IsTaken(Replaced(jwk, R"("use":"sig")", R"("key_ops":["verify"])")));
  EXPECT_FALSE(IsTaken(Replaced(jwk, R"("alg":"ES256")", R"("alg":"ES512")")));
  EXPECT_FALSE(IsTaken(Replaced(jwk, R"("crv":"P-256")", R"("crv":"P-384")")));
  EXPECT_FALSE(IsTaken(Replaced(jwk, R"("crv":"P-256")", R"("crv":"secp256k1")")));
}

TEST(VerificationKeyTest, AWeakRsaKeyIsNotTaken) {
  const std::string good = TokenKey::Make("RS256", "k").Jwk();
  EXPECT_TRUE(IsTaken(good));
  EXPECT_FALSE(IsTaken(TokenKey::Make("RS256", "k", 1024).Jwk()));
  EXPECT_FALSE(IsTaken(Replaced(good, R"("e":"AQAB")", R"("e":"AQ")")));    // 1
  EXPECT_FALSE(IsTaken(Replaced(good, R"("e":"AQAB")", R"("e":"AQAA")")));  // Even.
}

TEST(VerificationKeyTest, APointOffTheCurveIsNotTaken) {
  const std::string jwk = TokenKey::Make("ES256", "k").Jwk();
  const std::size_t x = jwk.find("\"x\":\"") + 5;
  std::string moved = jwk;
  moved[x] = moved[x] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(IsTaken(moved));
}

}  // namespace
}  // namespace api
