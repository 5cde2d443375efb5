#include "api/identity/fetch.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/key_server.h"
#include "tests/support/private_directory.h"
#include "tests/support/process.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::StatusIs;
using testing::HasSubstr;

engine::Deadline Soon() {
  return engine::Deadline::After(std::chrono::seconds(20));
}

absl::StatusOr<std::string> Fetch(const std::string& url, const std::string& ca_file = "") {
  const std::atomic<bool> stop{false};
  return FetchText({.url = url, .ca_file = ca_file}, stop);
}

TEST(FetchTextTest, TheBodyOfASuccess) {
  support::KeyServer server("body");
  const auto text = Fetch(server.url());
  ASSERT_OK(text);
  EXPECT_EQ(*text, "body");
  for (const int status : {204, 302, 404, 503}) {
    server.Set("body", status);
    EXPECT_THAT(Fetch(server.url()), StatusIs(absl::StatusCode::kUnavailable,
                                              HasSubstr("answered " + std::to_string(status))));
  }
}

TEST(FetchTextTest, OtherProtocolsAreNotSpoken) {
  EXPECT_THAT(Fetch("file:///etc/hostname"), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(FetchTextTest, AnAnswerIsNotTooLarge) {
  support::KeyServer server(std::string((std::size_t{1} << 20) + 1, 'x'));
  EXPECT_THAT(Fetch(server.url()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("more than 1048576 bytes")));
  server.Set(std::string(std::size_t{1} << 20, 'x'));
  EXPECT_OK(Fetch(server.url()));
}

TEST(FetchTextTest, TheCertificateIsOfSomebodyBelieved) {
  ASSERT_OK_AND_ASSIGN(const auto directory, support::PrivateDirectory::Make());
  const std::string& folder = directory->path();
  ASSERT_OK(directory->Write("keys", "body").status());
  ASSERT_OK(support::RunToSuccess(
      {.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder + "/key.pem", "-out",
                folder + "/cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost"}},
      Soon()));
  ASSERT_OK_AND_ASSIGN(
      const auto server,
      support::Process::Start({.argv = {"openssl", "s_server", "-accept", "127.0.0.1:0", "-WWW",
                                        "-cert", "cert.pem", "-key", "key.pem"},
                               .working_directory = folder}));
  ASSERT_OK_AND_ASSIGN(const std::string line, server->WaitForLine("ACCEPT 127.0.0.1:", Soon()));
  const std::string port = line.substr(line.rfind(':') + 1);
  const auto believed = Fetch("https://localhost:" + port + "/keys", folder + "/cert.pem");
  ASSERT_OK(believed);
  EXPECT_EQ(*believed, "body");
  EXPECT_THAT(Fetch("https://localhost:" + port + "/keys"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("certificate")));
  // The certificate is of another name.
  EXPECT_THAT(Fetch("https://127.0.0.1:" + port + "/keys", folder + "/cert.pem"),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace api
