// Operators: admission for tests that have operators and neither issuers nor tenants.

#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/dispatch/admission.h"
#include "tests/support/status_matchers.h"

namespace dispatch_test {

class Operators {
 public:
  // `tokens` as in --admin-token-file.
  explicit Operators(const std::string& tokens = "ops:token") {
    auto parsed = api::AdminTokens::Parse(tokens);
    EXPECT_OK(parsed);
    tokens_ = *std::move(parsed);
    auto authenticator = api::Authenticator::Make({});
    EXPECT_OK(authenticator);
    authenticator_ = *std::move(authenticator);
    admission_ = std::make_unique<const api::Admission>(tokens_, *authenticator_);
  }
  Operators(const Operators&) = delete;
  Operators& operator=(const Operators&) = delete;

  const api::Admission& admission() const { return *admission_; }

 private:
  api::AdminTokens tokens_;
  std::unique_ptr<api::Authenticator> authenticator_;
  std::unique_ptr<const api::Admission> admission_;
};

}  // namespace dispatch_test
