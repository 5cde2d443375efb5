#include "api/http_client/transfer.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/collector.h"
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

class TransferTest : public testing::Test {
 protected:
  absl::StatusOr<TransferAnswer> Get(const std::string& url, const std::string& ca_file = "") {
    return Transfer({.url = url, .ca_file = ca_file, .max_answer_bytes = 100}, stop_);
  }

  std::atomic<bool> stop_{false};
};

TEST_F(TransferTest, EveryAnswerIsAnAnswer) {
  support::KeyServer server("body");
  for (const int status : {200, 302, 404, 503}) {
    server.Set("body", status);
    ASSERT_OK_AND_ASSIGN(const TransferAnswer answer, Get(server.url()));
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.body, "body");
    EXPECT_EQ(answer.wait, engine::Duration());
  }
}

TEST_F(TransferTest, ABodyIsPostedWithItsHeaders) {
  support::Collector collector;
  collector.Set(503, "later", "7");
  const std::string body = R"({"resourceSpans":[]})";
  ASSERT_OK_AND_ASSIGN(
      const TransferAnswer answer,
      Transfer({.url = collector.url() + "/v1/traces",
                .max_answer_bytes = 100,
                .headers = {{"Content-Type", "application/json"}, {"X-Tenant", "us"}},
                .body = body},
               stop_));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "later");
  EXPECT_EQ(answer.wait, std::chrono::seconds(7));
  EXPECT_EQ(collector.Header("Content-Type"), "application/json");
  EXPECT_EQ(collector.Header("X-Tenant"), "us");
  EXPECT_EQ(collector.Header("Content-Length"), std::to_string(body.size()));
}

TEST_F(TransferTest, OtherProtocolsAreNotSpoken) {
  EXPECT_THAT(Get("file:///etc/hostname"), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TransferTest, AnAnswerIsNotTooLong) {
  support::KeyServer server(std::string(101, 'x'));
  EXPECT_THAT(Get(server.url()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("more than 100 bytes")));
  server.Set(std::string(100, 'x'));
  EXPECT_OK(Get(server.url()));
}

TEST_F(TransferTest, EndsWhenItIsStopped) {
  support::KeyServer server("body");
  server.Hold();
  stop_ = true;
  EXPECT_THAT(Get(server.url()), StatusIs(absl::StatusCode::kUnavailable, HasSubstr(server.url())));
}

TEST_F(TransferTest, TheCertificateIsOfSomebodyBelieved) {
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
  const auto believed = Get("https://localhost:" + port + "/keys", folder + "/cert.pem");
  ASSERT_OK(believed);
  EXPECT_EQ(believed->body, "body");
  EXPECT_THAT(Get("https://localhost:" + port + "/keys"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("certificate")));
  // The certificate is of another name.
  EXPECT_THAT(Get("https://127.0.0.1:" + port + "/keys", folder + "/cert.pem"),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace api
