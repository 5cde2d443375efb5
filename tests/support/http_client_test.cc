#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/thread.h"
#include "tests/support/status_matchers.h"

namespace support {
namespace {

constexpr char kOk[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

// Answers each request, however it looks, with the next of `answers`, and keeps what it received.
// An empty answer closes the connection. The request is taken to end with what one read returns
// that ends with `end_`.
class Script {
 public:
  explicit Script(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 5), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = engine::Thread("script", [this] { Run(); });
  }
  ~Script() { Finish(); }

  int port() const { return port_; }

  // Waits until the script is played to its end. What was received, a request each.
  std::vector<std::string> Finish() {
    thread_.Join();
    if (listener_ >= 0) {
      close(listener_);
      listener_ = -1;
    }
    return requests_;
  }

 private:
  void Run() {
    int fd = -1;
    for (const std::string& answer : answers_) {
      char bytes[4096];
      ssize_t got = 0;
      while (got <= 0) {
        if (fd < 0) {
          fd = accept(listener_, nullptr, nullptr);
        }
        got = recv(fd, bytes, sizeof(bytes), 0);
        if (got <= 0) {
          close(fd);
          fd = -1;
        }
      }
      requests_.emplace_back(bytes, static_cast<std::size_t>(got));
      send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
      if (answer.empty() || answer.find("Connection: close") != std::string::npos) {
        close(fd);
        fd = -1;
      }
    }
    if (fd >= 0) {
      close(fd);
    }
  }

  std::vector<std::string> answers_;
  std::vector<std::string> requests_;
  int listener_ = -1;
  int port_ = 0;
  engine::Thread thread_;
};

TEST(HttpClientTest, RequestsShareAConnection) {
  Script script({kOk, "HTTP/1.1 201 Created\r\ncontent-length: 0\r\nX-Name:  v \r\n\r\n"});
  HttpClient client("http://127.0.0.1:" + std::to_string(script.port()));
  ASSERT_OK_AND_ASSIGN(const HttpResponse got, client.Get("/a", {{"X-Probe", "1"}}));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "hi");
  ASSERT_OK_AND_ASSIGN(const HttpResponse created, client.Post("/b", "{}"));
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.reason, "Created");
  EXPECT_EQ(created.Header("x-name"), "v");
  EXPECT_EQ(client.connections(), 1);
  const std::string host = "Host: 127.0.0.1:" + std::to_string(script.port());
  EXPECT_EQ(script.Finish(),
            (std::vector<std::string>{
                "GET /a HTTP/1.1\r\n" + host + "\r\nX-Probe: 1\r\n\r\n",
                "POST /b HTTP/1.1\r\n" + host +
                    "\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"}));
}

TEST(HttpClientTest, ChunkedBodyIsPutTogether) {
  Script script(
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
       "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\n",
       kOk});
  HttpClient client("127.0.0.1", script.port());
  ASSERT_OK_AND_ASSIGN(const HttpResponse got, client.Get("/"));
  EXPECT_EQ(got.body, "abc0123456789");
  ASSERT_OK_AND_ASSIGN(const HttpResponse next, client.Get("/"));
  EXPECT_EQ(next.body, "hi");
}

TEST(HttpClientTest, BodyWithoutLengthLastsAsLongAsTheConnection) {
  Script script({"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it"});
  HttpClient client("127.0.0.1", script.port());
  ASSERT_OK_AND_ASSIGN(const HttpResponse got, client.Get("/"));
  EXPECT_EQ(got.body, "all of it");
}

TEST(HttpClientTest, ClosedConnectionIsOpenedAgain) {
  Script script({"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", kOk});
  HttpClient client("127.0.0.1", script.port());
  ASSERT_OK(client.Get("/"));
  ASSERT_OK_AND_ASSIGN(const HttpResponse got, client.Get("/"));
  EXPECT_EQ(got.body, "hi");
  EXPECT_EQ(client.connections(), 2);
}

TEST(HttpClientTest, ContinueIsNotTheAnswer) {
  Script script({std::string("HTTP/1.1 100 Continue\r\n\r\n") + kOk});
  HttpClient client("127.0.0.1", script.port());
  ASSERT_OK_AND_ASSIGN(const HttpResponse got, client.Get("/"));
  EXPECT_EQ(got.status, 200);
}

TEST(HttpClientTest, RefusedConnectionSentNothing) {
  int port = 0;
  {
    Script script({});
    port = script.port();
  }
  HttpClient client("127.0.0.1", port);
  EXPECT_THAT(client.Get("/"), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(HttpClientTest, ConnectionThatEndsBeforeTheAnswerIsUnknown) {
  Script script({""});
  HttpClient client("127.0.0.1", script.port());
  EXPECT_THAT(client.Post("/", "{}"), StatusIs(absl::StatusCode::kUnknown));
  EXPECT_EQ(script.Finish().size(), 1U);
}

TEST(HttpClientTest, ConnectionThatEndsInTheAnswerIsUnknown) {
  Script script({"HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: close\r\n\r\nhalf"});
  HttpClient client("127.0.0.1", script.port());
  EXPECT_THAT(client.Get("/"), StatusIs(absl::StatusCode::kUnknown));
}

TEST(HttpClientTest, SilentServerMeetsTheDeadline) {
  // The answer has no end.
  Script script({"HTTP/1.1 200 OK\r\n", kOk});
  HttpClient client("127.0.0.1", script.port(), std::chrono::milliseconds(50));
  EXPECT_THAT(client.Get("/"), StatusIs(absl::StatusCode::kDeadlineExceeded));
  HttpClient patient("127.0.0.1", script.port());
  client.Close();
  EXPECT_OK(patient.Get("/"));
}

TEST(HttpClientTest, OtherProtocolIsNotAnAnswer) {
  Script script({"SSH-2.0-x\r\n"});
  HttpClient client("127.0.0.1", script.port());
  EXPECT_THAT(client.Get("/"), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(HttpClientTest, RawBytesGoOutAsTheyAre) {
  Script script({"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"});
  HttpClient client("127.0.0.1", script.port());
  ASSERT_OK_AND_ASSIGN(const HttpResponse got, client.Raw("nonsense\r\n\r\n"));
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(script.Finish(), std::vector<std::string>{"nonsense\r\n\r\n"});
}

}  // namespace
}  // namespace support
