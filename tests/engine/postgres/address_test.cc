#include "engine/postgres/address.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"

namespace engine::postgres {
namespace {

using support::StatusIs;
using testing::HasSubstr;
using testing::Not;

absl::StatusOr<std::vector<ServerParams>> Parse(const std::string& url, bool insecure = false) {
  return ParseAddress(url, insecure, "test");
}

TEST(AddressTest, ThisMachineNeedsNoEncryption) {
  for (const char* url :
       {"postgresql:///halo?host=/run/postgresql", "postgresql://localhost/halo",
        "postgresql://127.0.0.1:6432/halo", "postgresql://[::1]/halo", "host=/tmp dbname=halo",
        "postgresql://db.example/halo?hostaddr=127.0.0.1", " postgresql://localhost/halo \n"}) {
    EXPECT_OK(Parse(url)) << url;
  }
}

TEST(AddressTest, OtherMachinesNeedAVerifiedCertificate) {
  const auto refused =
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--database-insecure-tls"));
  for (const char* url :
       {"postgresql://db.example/halo", "postgresql://db.example/halo?sslmode=require",
        "postgresql://db.example/halo?sslmode=verify-ca", "postgresql://10.0.0.1/halo",
        "postgresql://localhost/halo?hostaddr=10.0.0.1", "postgresql://localhost,db.example/halo",
        "postgresql://[fe80::1]/halo"}) {
    EXPECT_THAT(Parse(url), refused) << url;
    EXPECT_OK(Parse(url, true)) << url;
  }
  EXPECT_OK(Parse("postgresql://a.example,b.example/halo?sslmode=verify-full"));
}

TEST(AddressTest, SeveralHostsAreSplitAndOneThatWritesIsWanted) {
  ASSERT_OK_AND_ASSIGN(const auto servers,
                       Parse("postgresql://a.example:1,b.example:2/halo?sslmode=verify-full"));
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers[0].at("host"), "a.example");
  EXPECT_EQ(servers[1].at("port"), "2");
  EXPECT_EQ(servers[1].at("target_session_attrs"), "read-write");
  EXPECT_EQ(Describe(servers[1]), "b.example:2/halo");
  ASSERT_OK_AND_ASSIGN(const auto one, Parse("postgresql://localhost/halo"));
  EXPECT_FALSE(one[0].contains("target_session_attrs") &&
               one[0].at("target_session_attrs") == "read-write");
}

TEST(AddressTest, NonsenseIsRefusedWithoutTellingThePassword) {
  for (const char* url : {"", " \n", "postgresql://u:secret@h/d?nonsense=1", "secret",
                          "postgresql://u:secret@a,b/d?hostaddr=127.0.0.1&port=1,2,3"}) {
    EXPECT_THAT(Parse(url), StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("secret"))))
        << url;
  }
}

TEST(AddressTest, ADeadPeerIsNoticedSoon) {
  ASSERT_OK_AND_ASSIGN(const auto servers, Parse("postgresql://localhost/halo?keepalives_idle=99"));
  EXPECT_EQ(servers[0].at("keepalives_idle"), "99");
  EXPECT_EQ(servers[0].at("keepalives_count"), "3");
  EXPECT_TRUE(servers[0].contains("tcp_user_timeout"));
}

}  // namespace
}  // namespace engine::postgres
