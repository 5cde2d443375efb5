#include "api/identity/token.h"

#include <string>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/identity/base64url.h"
#include "tests/support/status_matchers.h"
#include "tests/support/token_key.h"

namespace api {
namespace {

using support::KeySetText;
using support::StatusIs;
using support::TokenKey;
using testing::HasSubstr;

constexpr char kClaims[] = R"({"iss":"https://a.example","exp":4102444800})";

const TokenKey& RsaKey() {
  static const TokenKey key = TokenKey::Make("RS256", "rsa");
  return key;
}
const TokenKey& EcKey() {
  static const TokenKey key = TokenKey::Make("ES256", "ec");
  return key;
}

// kBad where it is not even a token.
SignatureVerdict Verdict(const std::string& token, const std::string& key_set) {
  const auto keys = KeySet::Parse(key_set);
  EXPECT_OK(keys);
  const auto parsed = Token::Parse(token);
  return parsed.ok() && keys.ok() ? parsed->CheckSignature(*keys) : SignatureVerdict::kBad;
}

TEST(TokenTest, EveryAlgorithmOfTheListIsVerified) {
  for (const char* algorithm : {"RS256", "RS384", "RS512", "PS256", "ES256", "ES384"}) {
    const TokenKey key = TokenKey::Make(algorithm, "k");
    EXPECT_EQ(Verdict(key.Token(kClaims), KeySetText({&key})), SignatureVerdict::kGood)
        << algorithm;
  }
}

TEST(TokenTest, AChangedByteAnywhereIsNoticed) {
  const std::string keys = KeySetText({&EcKey()});
  const std::string token = EcKey().Token(kClaims);
  ASSERT_EQ(Verdict(token, keys), SignatureVerdict::kGood);
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_NE(Verdict(changed, keys), SignatureVerdict::kGood) << i;
  }
}

TEST(TokenTest, AKeySignsOnlyAsItSays) {
  // The key says RS256, so that nothing else is verified with it.
  const std::string ps = RsaKey().Sign(R"({"alg":"PS256","kid":"rsa"})", kClaims, "PS256");
  EXPECT_EQ(Verdict(ps, KeySetText({&RsaKey()})), SignatureVerdict::kBad);
  EXPECT_EQ(Verdict(ps, "{\"keys\":[" + RsaKey().Jwk(false) + "]}"), SignatureVerdict::kGood);
}

TEST(TokenTest, TheListIsShort) {
  for (const char* algorithm : {"none", "HS256", "rs256", "ES512", "PS384", "EdDSA", ""}) {
    const std::string header = absl::StrFormat(R"({"alg":"%s","kid":"ec"})", algorithm);
    EXPECT_THAT(Token::Parse(EcKey().Sign(header, kClaims)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("RS256")))
        << algorithm;
  }
  const std::string none = EncodeBase64Url(R"({"alg":"none"})") + "." + EncodeBase64Url(kClaims);
  EXPECT_FALSE(Token::Parse(none + ".").ok());
}

TEST(TokenTest, WhatIsCriticalIsNotUnderstood) {
  const std::string header = R"({"alg":"ES256","kid":"ec","crit":["exp"],"exp":1})";
  EXPECT_THAT(Token::Parse(EcKey().Sign(header, kClaims)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("extensions")));
}

TEST(TokenTest, OtherTextsAreNoTokens) {
  for (const std::string& text :
       {std::string(), std::string("garbage"), std::string("a.b"), std::string("a.b.c.d"),
        std::string(".."), EcKey().Token(kClaims) + "=", std::string(20'000, 'A') + ".A.A",
        EcKey().Sign("[1]", kClaims), EcKey().Sign(R"({"alg":["ES256"]})", kClaims),
        EcKey().Sign(R"({"alg":"ES256","kid":1})", kClaims),
        EcKey().Sign(R"({"alg":"ES256","alg":"ES256"})", kClaims)}) {
    EXPECT_FALSE(Token::Parse(text).ok()) << text.substr(0, 100);
  }
  ASSERT_OK_AND_ASSIGN(const Token list, Token::Parse(EcKey().Sign(R"({"alg":"ES256"})", "[1]")));
  EXPECT_FALSE(list.Claims().has_value());
}

TEST(TokenTest, KeysHaveNames) {
  const TokenKey other = TokenKey::Make("ES256", "other");
  const std::string keys = KeySetText({&EcKey()});
  EXPECT_EQ(Verdict(other.Token(kClaims), keys), SignatureVerdict::kUnknownKey);
  const TokenKey forger = TokenKey::Make("ES256", "ec");
  EXPECT_EQ(Verdict(forger.Token(kClaims), keys), SignatureVerdict::kBad);
  // A token that names no key is tried with all that fit.
  const std::string unnamed = EcKey().Sign(R"({"alg":"ES256"})", kClaims);
  EXPECT_EQ(Verdict(unnamed, KeySetText({&other, &RsaKey(), &EcKey()})), SignatureVerdict::kGood);
  EXPECT_EQ(Verdict(unnamed, KeySetText({&other, &RsaKey()})), SignatureVerdict::kUnknownKey);
}

ClaimVerdict Check(const std::string& claims, const std::string& audience = "",
                   std::int64_t now_seconds = 1000) {
  const JsonParse parsed = ParseJson(claims);
  EXPECT_TRUE(parsed.ok()) << claims;
  return CheckClaims(parsed.value->get_object(), {"https://a.example", audience},
                     engine::Timestamp{now_seconds * 1'000'000});
}

TEST(ClaimsTest, TheIssuerIsExactlyThat) {
  EXPECT_EQ(Check(R"({"iss":"https://a.example","exp":2000})"), ClaimVerdict::kGood);
  for (const char* bad : {R"({"exp":2000})", R"({"iss":"https://a.example/","exp":2000})",
                          R"({"iss":["https://a.example"],"exp":2000})"}) {
    EXPECT_EQ(Check(bad), ClaimVerdict::kBad) << bad;
  }
}

TEST(ClaimsTest, TheAudienceIsOneOfTheTokens) {
  const auto with = [](std::string_view aud) {
    return absl::StrFormat(R"({"iss":"https://a.example","exp":2000%s})", aud);
  };
  EXPECT_EQ(Check(with(R"(,"aud":"halo")"), "halo"), ClaimVerdict::kGood);
  EXPECT_EQ(Check(with(R"(,"aud":["x","halo"])"), "halo"), ClaimVerdict::kGood);
  for (const char* bad : {"", R"(,"aud":"other")", R"(,"aud":["x"])", R"(,"aud":1)"}) {
    EXPECT_EQ(Check(with(bad), "halo"), ClaimVerdict::kBad) << bad;
    EXPECT_EQ(Check(with(bad)), ClaimVerdict::kGood) << bad;
  }
}

TEST(ClaimsTest, ATokenEnds) {
  const auto ending = [](std::string_view exp) {
    return absl::StrFormat(R"({"iss":"https://a.example","exp":%s})", exp);
  };
  EXPECT_EQ(Check(ending("971")), ClaimVerdict::kGood);  // Clocks may be 30 s apart.
  EXPECT_EQ(Check(ending("970.5")), ClaimVerdict::kGood);
  EXPECT_EQ(Check(ending("970")), ClaimVerdict::kExpired);
  EXPECT_EQ(Check(ending("0")), ClaimVerdict::kExpired);
  EXPECT_EQ(Check(ending("18446744073709551615")), ClaimVerdict::kGood);
  EXPECT_EQ(Check(ending("\"2000\"")), ClaimVerdict::kBad);
  EXPECT_EQ(Check(ending("null")), ClaimVerdict::kBad);
}

TEST(ClaimsTest, ATokenIsGoodUpToItsEnd) {
  const auto left = [](std::string_view exp) {
    const JsonParse parsed = ParseJson(absl::StrFormat(R"({"exp":%s})", exp));
    return GoodFor(parsed.value->get_object(), {1'000'000'000});
  };
  EXPECT_EQ(left("1000"), kClaimLeeway);
  EXPECT_EQ(left("1060.5"), kClaimLeeway + std::chrono::milliseconds(60'500));
  EXPECT_EQ(left("10"), engine::Duration(0));
  EXPECT_EQ(left("18446744073709551615"), std::chrono::hours(24) * 3650);
}

TEST(ClaimsTest, ATokenWithoutAnEndIsNone) {
  EXPECT_EQ(Check(R"({"iss":"https://a.example"})"), ClaimVerdict::kBad);
}

TEST(ClaimsTest, ATokenBegins) {
  const auto beginning = [](std::string_view nbf) {
    return absl::StrFormat(R"({"iss":"https://a.example","exp":2000,"nbf":%s})", nbf);
  };
  EXPECT_EQ(Check(beginning("1030")), ClaimVerdict::kGood);
  EXPECT_EQ(Check(beginning("1031")), ClaimVerdict::kBad);
  EXPECT_EQ(Check(beginning("\"1\"")), ClaimVerdict::kBad);
}

}  // namespace
}  // namespace api
