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

// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(AddressTest, TheEnvironmentCountsAsTheUrlDoes) {
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument);
  {
    const Variable host("PGHOST", "db.example");
    EXPECT_THAT(Parse("postgresql:///halo"), refused);
    EXPECT_OK(Parse("postgresql://localhost/halo"));
    const Variable mode("PGSSLMODE", "verify-full");
    EXPECT_OK(Parse("postgresql:///halo"));
    EXPECT_THAT(Parse("postgresql:///halo?sslmode=prefer"), refused);
  }
  {
    const Variable address("PGHOSTADDR", "10.0.0.1");
    EXPECT_THAT(Parse("postgresql://localhost/halo"), refused);
  }
  {
    const Variable service("PGSERVICE", "halo");
    EXPECT_THAT(Parse("postgresql://localhost/halo"), refused);
  }
  EXPECT_THAT(Parse("postgresql://localhost/halo?service=halo", true), refused);
  const Variable options("PGOPTIONS", "-c synchronous_commit=off");
  EXPECT_THAT(Parse("postgresql://localhost/halo"), refused);
}

// PGHOST would fill the place, and PGHOSTADDR the other one, after we have judged them.
TEST(AddressTest, NoPlaceInAListIsLeftToTheEnvironment) {
  for (const char* url : {"host=/tmp, dbname=halo", "host=,/tmp dbname=halo",
                          "host=localhost,localhost hostaddr=127.0.0.1, dbname=halo",
                          "postgresql://localhost,/halo"}) {
    EXPECT_THAT(Parse(url), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty place")))
        << url;
  }
}

TEST(AddressTest, NothingTakesThePlaceOfTls) {
  const std::string url = "postgresql://db.example/halo?sslmode=verify-full";
  ASSERT_OK_AND_ASSIGN(const auto servers, Parse(url + "&gssencmode=prefer"));
  EXPECT_EQ(servers[0].at("gssencmode"), "disable");
  EXPECT_THAT(Parse(url + "&gssencmode=require"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("gssencmode")));
  EXPECT_OK(Parse(url + "&gssencmode=require", true));
}

TEST(AddressTest, OldTlsIsNone) {
  const std::string url = "postgresql://db.example/halo?sslmode=verify-full";
  EXPECT_OK(Parse(url + "&ssl_min_protocol_version=TLSv1.3"));
  EXPECT_OK(Parse(url + "&ssl_min_protocol_version="));
  EXPECT_THAT(Parse(url + "&ssl_min_protocol_version=TLSv1.1"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("TLSv1.2")));
}

TEST(AddressTest, OfSeveralModesTheLastOneCounts) {
  const std::string url = "postgresql://a.example,b.example/halo?sslmode=";
  EXPECT_OK(Parse(url + "prefer&sslmode=verify-full"));
  for (const char* modes : {"verify-full&sslmode=prefer", "verify-full,prefer",
                            "verify-full,verify-full", "verify-full&ssl=true", "VERIFY-FULL", ""}) {
    EXPECT_THAT(Parse(url + modes), StatusIs(absl::StatusCode::kInvalidArgument)) << modes;
  }
}

TEST(AddressTest, OptionsMaySetTheSearchPathOnly) {
  const auto parse = [](const std::string& options) {
    return Parse("host=/tmp dbname=halo options='" + options + "'", true).status();
  };
  for (const char* good : {"-csearch_path=halo", "-c search_path=halo", "--search_path=halo",
                           "endpoint=ep-1 -c search_path=a,b", R"(-csearch_path="a\\ b")"}) {
    EXPECT_OK(parse(good)) << good;
  }
  for (const char* bad :
       {"-c synchronous_commit=off", "-csynchronous_commit=off", "--synchronous-commit=off",
        "-c search_path=a -c session_replication_role=replica", "-P", "-O", "-", "--",
        R"(-csearch_path=a -csyn\\chronous_commit=off)", "-c -csearch_path=a"}) {
    EXPECT_THAT(parse(bad), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("search_path")))
        << bad;
  }
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
  EXPECT_OK(Parse("postgresql://localhost,localhost/halo?target_session_attrs=primary"));
  for (const char* wanted : {"standby", "prefer-standby", "read-only"}) {
    EXPECT_THAT(
        Parse(std::string("postgresql://localhost,localhost/halo?target_session_attrs=") + wanted),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("read-write")))
        << wanted;
  }
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
