#include "projections/conditions/redaction.h"

#include <gtest/gtest.h>

#include "projections/cel/json.h"

namespace projections {
namespace {

std::string Of(std::string_view json) {
  return *cel::JsonOfValue(Redacted(*cel::ValueOfJson(json)), 100'000);
}

TEST(RedactionTest, HidesWhatSoundsSecretWhereverItIs) {
  EXPECT_EQ(Of(R"({"a":[{"dbPassword":"x","user":"u"}],"KUBECONFIG":{"b":1},"n":1})"),
            R"({"KUBECONFIG":"***REDACTED***","a":[{"dbPassword":"***REDACTED***","user":"u"}],)"
            R"("n":1})");
  for (const char* const member : {"password",
                                   "SECRET",
                                   "token",
                                   "apiKey",
                                   "api_key",
                                   "privateKey",
                                   "client-secretkey",
                                   "accesskey",
                                   "sshkey",
                                   "encryptionKey",
                                   "accountkey",
                                   "servicekey",
                                   "registrykey",
                                   "signingkey",
                                   "credentials",
                                   "passphrase",
                                   "private",
                                   "oauth",
                                   "connectionString",
                                   "certs",
                                   "kubeconfig",
                                   "bearer"}) {
    EXPECT_TRUE(SoundsSecret(member)) << member;
  }
  for (const char* const member : {"name", "key", "pass", "region", ""}) {
    EXPECT_FALSE(SoundsSecret(member)) << member;
  }
}

TEST(RedactionTest, NothingIsShownThatIsTooDeepToBeLookedAt) {
  std::string deep = "\"shown\"";
  for (int i = 0; i < kMaxRedactionDepth; ++i) {
    deep = "[" + deep + "]";
  }
  EXPECT_EQ(Of(deep), deep);
  EXPECT_NE(Of("[" + deep + "]").find("REDACTED"), std::string::npos);
  EXPECT_EQ(Of("[" + deep + "]").find("shown"), std::string::npos);
}

}  // namespace
}  // namespace projections
