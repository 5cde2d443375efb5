#include "api/identity/trusted_proxies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::StatusIs;
using testing::HasSubstr;

TEST(TrustedProxiesTest, OnlyTheNetworksOfTheList) {
  ASSERT_OK_AND_ASSIGN(
      const TrustedProxies proxies,
      TrustedProxies::Parse("10.0.0.0/8, 192.0.2.7 ,2001:db8::/33,198.51.100.128/25"));
  for (const char* good : {"10.1.2.3:1", "192.0.2.7:41234", "[2001:db8:7fff::1]:443",
                           "[::ffff:10.1.2.3]:443", "198.51.100.129:1"}) {
    EXPECT_TRUE(proxies.Trust(good)) << good;
  }
  for (const char* bad : {"11.1.2.3:1", "192.0.2.6:1", "[2001:db8:8000::1]:443", "[::1]:443",
                          "198.51.100.127:1", "10.1.2:1", "", "localhost:1", "[10.1.2.3"}) {
    EXPECT_FALSE(proxies.Trust(bad)) << bad;
  }
}

TEST(TrustedProxiesTest, WithoutAListEverybody) {
  EXPECT_TRUE(TrustedProxies().empty());
  EXPECT_TRUE(TrustedProxies().Trust("192.0.2.7:1"));
}

TEST(TrustedProxiesTest, ZeroBitsAreTheWholeOfAFamily) {
  ASSERT_OK_AND_ASSIGN(const TrustedProxies proxies, TrustedProxies::Parse("0.0.0.0/0"));
  EXPECT_TRUE(proxies.Trust("203.0.113.9:1"));
  EXPECT_FALSE(proxies.Trust("[2001:db8::1]:1"));
}

TEST(TrustedProxiesTest, OtherTextsAreNoNetworks) {
  for (const char* bad : {"", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8,",
                          "2001:db8::/129", "gateway", "10.0.0.0/8x"}) {
    EXPECT_THAT(TrustedProxies::Parse(bad),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no network")))
        << bad;
  }
}

}  // namespace
}  // namespace api
