#include "api/identity/authenticator.h"

#include <latch>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/key_server.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"
#include "tests/support/token_key.h"

namespace api {
namespace {

using support::KeySetText;
using support::StatusIs;
using support::TokenKey;
using testing::HasSubstr;

constexpr char kFirst[] = "https://first.example";
constexpr char kSecond[] = "https://second.example";

class FixedClock final : public engine::Clock {
 public:
  engine::Timestamp Now() const override { return {2'000'000'000'000'000}; }
  engine::Duration SinceBoot() const override { return engine::SystemClock().SinceBoot(); }
};

// Good for a minute from the fixed clock on.
std::string Claims(const std::string& issuer, std::int64_t age_seconds = 0) {
  return absl::StrFormat(R"({"iss":"%s","exp":%d,"email":"ann@x.example"})", issuer,
                         2'000'000'060 - age_seconds);
}

// Two issuers with a key each; the second has a header of its own.
class AuthenticatorTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make());
    options_.jwt_enabled = true;
    options_.issuers.resize(2);
    options_.issuers[0].issuer_url = kFirst;
    ASSERT_OK_AND_ASSIGN(options_.issuers[0].jwk_cert_file,
                         directory_->Write("first", KeySetText({&first_})));
    options_.issuers[1].issuer_url = kSecond;
    options_.issuers[1].header = "X-Second";
    ASSERT_OK_AND_ASSIGN(options_.issuers[1].jwk_cert_file,
                         directory_->Write("second", KeySetText({&second_})));
  }

  AuthVerdict Check(std::vector<HeaderField> headers, bool may_need_keys = true) {
    if (authenticator_ == nullptr) {
      auto made = Authenticator::Make(options_, clock_, std::chrono::milliseconds(1));
      EXPECT_OK(made);
      authenticator_ = *std::move(made);
    }
    RequestParts parts;
    parts.headers = std::move(headers);
    return authenticator_->Check(Request(std::move(parts)), may_need_keys);
  }
  // Who it is; the name of the code where it is nobody.
  std::string Outcome(std::vector<HeaderField> headers) {
    const AuthVerdict verdict = Check(std::move(headers), false);
    if (const auto* good = std::get_if<Authenticated>(&verdict)) {
      return good->actor.value_or("somebody");
    }
    return std::string(ProblemCodeName(std::get<Unauthenticated>(verdict).code));
  }

  const TokenKey first_ = TokenKey::Make("ES256", "1");
  const TokenKey second_ = TokenKey::Make("ES256", "2");
  const TokenKey forger_ = TokenKey::Make("ES256", "1");
  const FixedClock clock_;
  std::unique_ptr<support::PrivateDirectory> directory_;
  IdentityOptions options_;
  std::unique_ptr<Authenticator> authenticator_;
};

TEST_F(AuthenticatorTest, ATokenOfAKnownIssuerIsAccepted) {
  const std::string token = first_.Token(Claims(kFirst));
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER  "}) {
    EXPECT_EQ(Outcome({{"Authorization", scheme + token}}), "ann@x.example");
  }
  EXPECT_EQ(Outcome({{"authorization", " Bearer " + token + " "}}), "ann@x.example");
  EXPECT_EQ(Outcome({{"X-Second", "Bearer " + second_.Token(Claims(kSecond))}}), "ann@x.example");
}

TEST_F(AuthenticatorTest, WithoutATokenNobodyIs) {
  EXPECT_EQ(Outcome({}), "HYPERFLEET-AUT-001");
  EXPECT_EQ(Outcome({{"Authorization", ""}}), "HYPERFLEET-AUT-001");
}

TEST_F(AuthenticatorTest, AnythingElseIsRefused) {
  const std::string token = first_.Token(Claims(kFirst));
  const std::string others = forger_.Token(Claims(kFirst));
  for (const std::string& value :
       {token, "Basic " + token, "ServiceAccount " + token, std::string("Bearer"),
        std::string("Bearer garbage"), "Bearer" + token, "Bearer " + token + " x",
        "Bearer " + others, "Bearer " + first_.Token(Claims(kSecond)),
        "Bearer " + second_.Token(Claims(kSecond)), "Bearer " + first_.Token("[]")}) {
    EXPECT_EQ(Outcome({{"Authorization", value}}), "HYPERFLEET-AUT-002") << value;
  }
  EXPECT_EQ(Outcome({{"Authorization", "Bearer " + token}, {"Authorization", "Bearer " + token}}),
            "HYPERFLEET-AUT-002");
}

TEST_F(AuthenticatorTest, AnOldTokenThatWasGoodHasExpired) {
  EXPECT_EQ(Outcome({{"Authorization", "Bearer " + first_.Token(Claims(kFirst, 300))}}),
            "HYPERFLEET-AUT-003");
  EXPECT_EQ(Outcome({{"Authorization", "Bearer " + forger_.Token(Claims(kFirst, 300))}}),
            "HYPERFLEET-AUT-002");
}

TEST_F(AuthenticatorTest, ExpiryOutranksOtherRefusalsAndAcceptanceAll) {
  const HeaderField old = {"Authorization", "Bearer " + first_.Token(Claims(kFirst, 300))};
  const HeaderField bad = {"X-Second", "Bearer garbage"};
  const HeaderField good = {"X-Second", "Bearer " + second_.Token(Claims(kSecond))};
  EXPECT_EQ(Outcome({old, bad}), "HYPERFLEET-AUT-003");
  EXPECT_EQ(Outcome({old, good}), "ann@x.example");
  EXPECT_EQ(Outcome({{"Authorization", "Basic x"}, good}), "ann@x.example");
}

TEST_F(AuthenticatorTest, AGoodTokenMayNameNobody) {
  const std::string claims = absl::StrFormat(R"({"iss":"%s","exp":2000000060})", kFirst);
  EXPECT_EQ(Outcome({{"Authorization", "Bearer " + first_.Token(claims)}}), "somebody");
}

TEST_F(AuthenticatorTest, AnUnknownKeyIsAskedFor) {
  support::KeyServer server(KeySetText({&second_}));
  options_.issuers[0].jwk_cert_file.clear();
  options_.issuers[0].jwk_cert_url = server.url();
  const HeaderField token = {"Authorization", "Bearer " + first_.Token(Claims(kFirst))};
  const auto wait_for_keys = [&] {
    const AuthVerdict verdict = Check({token});
    const auto* needs = std::get_if<NeedsKeys>(&verdict);
    ASSERT_NE(needs, nullptr);
    std::latch done(1);
    while (!needs->source->Refresh([&done] { done.count_down(); })) {
    }
    done.wait();
  };
  wait_for_keys();
  EXPECT_EQ(Outcome({token}), "HYPERFLEET-AUT-002") << "the key is nobody's";
  server.Set(KeySetText({&first_}));
  wait_for_keys();
  EXPECT_EQ(Outcome({token}), "ann@x.example");
  // A token of somebody else is no reason to ask.
  EXPECT_TRUE(std::holds_alternative<Unauthenticated>(
      Check({{"Authorization", "Bearer " + second_.Token(Claims("https://x.example"))}})));
}

TEST_F(AuthenticatorTest, WithoutKeysNobodyCanTell) {
  support::KeyServer server("not now");
  options_.issuers[0].jwk_cert_file.clear();
  options_.issuers[0].jwk_cert_url = server.url();
  EXPECT_EQ(Outcome({{"Authorization", "Bearer " + first_.Token(Claims(kFirst))}}),
            "HYPERFLEET-SVC-001");
  EXPECT_EQ(Outcome({}), "HYPERFLEET-AUT-001");
}

TEST_F(AuthenticatorTest, WhatCannotBeUsedIsNamedAtStart) {
  options_.issuers[1].jwk_cert_file = "/nowhere";
  EXPECT_THAT(Authenticator::Make(options_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(kSecond)));
  options_.issuers[0].identity_claim_pattern = "(";
  EXPECT_THAT(Authenticator::Make(options_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(kFirst)));
}

}  // namespace
}  // namespace api
