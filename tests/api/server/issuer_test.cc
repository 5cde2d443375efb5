// A server whose callers have tokens of an issuer that serves its keys over HTTP.

#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "api/server/server.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/key_server.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"
#include "tests/support/token_key.h"

namespace api {
namespace {

using dispatch_test::HookedEngine;
using dispatch_test::MakeRequest;
using dispatch_test::Slot;
using support::KeySetText;
using support::TokenKey;
using testing::HasSubstr;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";
constexpr char kIssuer[] = "https://issuer.example";

class IssuerTest : public testing::Test {
 protected:
  void Start() {
    ServerOptions options;
    options.key_pause = std::chrono::milliseconds(1);
    options.workers = 1;
    options.identity.jwt_enabled = true;
    options.identity.issuers.resize(1);
    options.identity.issuers[0].issuer_url = kIssuer;
    options.identity.issuers[0].jwk_cert_url = keys_.url();
    auto server = Server::Start(engine_, std::move(options));
    ASSERT_OK(server);
    server_ = *std::move(server);
  }
  void Ask(const TokenKey& key, Slot& slot, const std::string& method = "GET",
           const std::string& body = "") {
    const std::string claims =
        absl::StrFormat(R"({"iss":"%s","exp":4102444800,"email":"ann@x.example"})", kIssuer);
    server_->router().Dispatch(
        MakeRequest(method, kClusters, {{"Authorization", "Bearer " + key.Token(claims)}}, body),
        slot.MakeResponder());
  }
  int Status(const TokenKey& key) {
    Slot slot;
    Ask(key, slot);
    return slot.Wait().status;
  }
  bool Becomes(const TokenKey& key, int status) {
    return support::WaitFor([&] { return Status(key) == status; }, support::Soon());
  }
  std::string Metrics() {
    Slot slot;
    server_->router().Dispatch(MakeRequest("GET", "/metrics"), slot.MakeResponder());
    return slot.Wait().body;
  }

  const TokenKey old_ = TokenKey::Make("RS256", "old");
  const TokenKey new_ = TokenKey::Make("ES256", "new");
  HookedEngine engine_;
  support::KeyServer keys_{KeySetText({&old_})};
  std::unique_ptr<Server> server_;
};

TEST_F(IssuerTest, RequestsWaitForTheKeysThatTellWhoTheyAre) {
  keys_.Hold();
  Start();
  std::vector<Slot> reads(20);
  for (Slot& slot : reads) {
    Ask(old_, slot);
  }
  Slot write;
  Ask(old_, write, "POST", R"({"kind":"Cluster","name":"prod","spec":{}})");
  EXPECT_FALSE(reads[0].Answered());
  keys_.Release();
  for (Slot& slot : reads) {
    EXPECT_EQ(slot.Wait().status, 200);
  }
  const Response made = write.Wait();
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(made.body, HasSubstr(R"("created_by":"ann@x.example")"));
  EXPECT_EQ(keys_.asked(), 1);
}

TEST_F(IssuerTest, RotatedKeysAreTakenWithoutARestart) {
  Start();
  ASSERT_TRUE(Becomes(old_, 200));
  EXPECT_EQ(Status(new_), 401);
  keys_.Set(KeySetText({&old_, &new_}));
  ASSERT_TRUE(Becomes(new_, 200));
  EXPECT_EQ(Status(old_), 200);
  // What is taken out of the set is believed no longer.
  keys_.Set(KeySetText({&new_}));
  const TokenKey next = TokenKey::Make("ES256", "next");
  ASSERT_TRUE(support::WaitFor([&] { return Status(next) == 401 && Status(old_) == 401; },
                               support::Soon()));
  EXPECT_EQ(Status(new_), 200);
}

TEST_F(IssuerTest, AnIssuerThatIsAwayIsLivedWithout) {
  Start();
  ASSERT_TRUE(Becomes(old_, 200));
  keys_.Set("", 503);
  EXPECT_TRUE(Becomes(new_, 401));
  EXPECT_EQ(Status(old_), 200);
  // Soon after a fetch an unknown key is no reason for another one, so it is shown until it is.
  const auto failed = [this] {
    EXPECT_EQ(Status(new_), 401);
    return Metrics().find("halo_jwks_fetch_failures_total 0") == std::string::npos;
  };
  EXPECT_TRUE(support::WaitFor(failed, support::Soon()));
}

TEST_F(IssuerTest, WithoutKeysNobodyIsServed) {
  keys_.Set("", 503);
  Start();
  Slot slot;
  Ask(old_, slot);
  const Response answer = slot.Wait();
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("HYPERFLEET-SVC-001"));
  EXPECT_EQ(dispatch_test::HeaderOf(answer, "Retry-After"), "1");
}

TEST(NobodysResourcesTest, AreWarnedOfAndCounted) {
  HookedEngine engine;
  const auto ask = [](Server& server, const std::string& method, const std::string& target,
                      const std::string& body = "") {
    Slot slot;
    server.router().Dispatch(MakeRequest(method, target, {{"X-Org", "acme"}}, body),
                             slot.MakeResponder());
    return slot.Wait();
  };
  {
    ASSERT_OK_AND_ASSIGN(const auto open, Server::Start(engine, {}));
    EXPECT_EQ(ask(*open, "POST", kClusters, R"({"kind":"Cluster","name":"prod","spec":{}})").status,
              201);
    EXPECT_EQ(ask(*open, "GET", "/metrics").body.find("without_tenancy"), std::string::npos);
  }
  ServerOptions options;
  options.identity.tenant = {true, "X-System", {{"X-Org", "org", true}}};
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(engine, std::move(options)));
  EXPECT_THAT(support::LogLines(), testing::Contains(HasSubstr("resources without tenancy")));
  EXPECT_THAT(ask(*server, "GET", "/metrics").body, HasSubstr("halo_resources_without_tenancy 1"));
  EXPECT_THAT(ask(*server, "GET", kClusters).body, HasSubstr(R"("total":0)"));
}

}  // namespace
}  // namespace api
