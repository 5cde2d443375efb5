#include "api/http/transport.h"

#include <chrono>
#include <cstddef>
#include <string>

#include "engine/base/thread.h"
#include "tests/api/http/transport_fixture.h"

namespace api {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// ---- Answers ------------------------------------------------------------------------------------

TEST_F(TransportTest, AnswersOnAConnectionThatStaysOpen) {
  Start();
  RawClient client = Connect();
  for (int i = 0; i < 3; ++i) {
    client.Request("GET", "/hello?n=" + std::to_string(i), "X-Request-ID: my-id\r\n");
    const RawAnswer answer = client.Read();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello " + std::to_string(i));
    EXPECT_EQ(answer.Header("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(answer.Header("X-Request-ID"), "my-id");
    EXPECT_EQ(answer.Header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.Header("Connection"), "");
    EXPECT_THAT(answer.Header("Date"), testing::EndsWith(" GMT"));
  }
  EXPECT_EQ(transport_->stats().requests, 3U);
  EXPECT_EQ(transport_->stats().connections, 1U);
}

TEST_F(TransportTest, HeadHasTheHeadersOfGetAndNoBody) {
  Start();
  RawClient client = Connect();
  client.Request("HEAD", "/hello");
  client.Request("GET", "/hello");
  const RawAnswer head = client.Read(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("Content-Length"), "6");
  EXPECT_EQ(client.Read().body, "hello ");
}

TEST_F(TransportTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  RawClient client = Connect();
  std::string many;
  for (int i = 0; i < 500; ++i) {
    many += "GET " + std::string(i == 100 ? "/park/1" : "/hello?n=" + std::to_string(i)) +
            " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  engine::Thread sender("sender", [&] { client.Send(many); });
  lot_.AnswerAll(1);
  for (int i = 0; i < 500; ++i) {
    const std::string wanted = i == 100 ? "late /park/1" : "hello " + std::to_string(i);
    ASSERT_EQ(client.Read().body, wanted);
  }
}

TEST_F(TransportTest, RequestsMayComeByteByByte) {
  Start();
  RawClient client = Connect();
  const std::string text =
      "\r\nPOST /api/hyperfleet/v1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nAuthorization: trailer\r\n\r\n"
      "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const char byte : text) {
    ASSERT_TRUE(client.Send(std::string_view(&byte, 1)));
  }
  EXPECT_EQ(client.Read().body, "abcde");
  EXPECT_EQ(client.Read().body, "hello ");
}

TEST_F(TransportTest, LargeBodiesPassBothWays) {
  Start();
  std::string body(std::size_t{8} << 20, 'x');
  for (std::size_t i = 0; i < body.size(); i += 997) {
    body[i] = static_cast<char>('a' + i % 26);
  }
  RawClient client = Connect();
  engine::Thread sender("sender", [&] {
    client.Request("POST", "/api/hyperfleet/v1/echo", "", body);
    client.Request("GET", "/hello");
  });
  EXPECT_TRUE(client.Read().body == body);
  EXPECT_EQ(client.Read().body, "hello ");
}

TEST_F(TransportTest, Http10ClosesUnlessAskedToStay) {
  Start();
  RawClient client = Connect();
  client.Send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /hello HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.Read().Header("Connection"), "keep-alive");
  EXPECT_EQ(client.Read().Header("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByPeer());
}

TEST_F(TransportTest, HeadersThatWouldSplitTheAnswerAreLeftOut) {
  router_.Handle(Method::kGet, "/split", [](const RequestPtr&, Responder responder) {
    Response response = TextResponse(200, "x");
    response.With("X-Bad", "a\r\nSet-Cookie: b").With("X-Good", "c");
    responder.Answer(std::move(response));
  });
  Start();
  RawClient client = Connect();
  client.Request("GET", "/split");
  const RawAnswer answer = client.Read();
  EXPECT_EQ(answer.Header("X-Good"), "c");
  EXPECT_THAT(answer.head, Not(HasSubstr("Set-Cookie")));
}

TEST_F(TransportTest, ListenersHaveTheirOwnRouters) {
  Router other;
  other.Handle(Method::kGet, "/metrics", [](const RequestPtr&, Responder responder) {
    responder.Answer(TextResponse(200, "metrics"));
  });
  Transport transport({});
  ASSERT_OK_AND_ASSIGN(const std::string first, transport.Listen("127.0.0.1:0", router_));
  ASSERT_OK_AND_ASSIGN(const std::string second, transport.Listen("127.0.0.1:0", other));
  transport.Start();
  RawClient client(second);
  client.Request("GET", "/metrics");
  client.Request("GET", "/hello");
  EXPECT_EQ(client.Read().body, "metrics");
  EXPECT_EQ(client.Read().status, 404);
  RawClient main_client(first);
  main_client.Request("GET", "/metrics");
  EXPECT_EQ(main_client.Read().status, 404);
}

TEST_F(TransportTest, ListenSaysWhatIsWrong) {
  Start();
  Transport transport({});
  EXPECT_THAT(transport.Listen("nonsense", router_),
              support::StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(transport.Listen("127.0.0.1:70000", router_),
              support::StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(transport.Listen(address_, router_),
              support::StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot listen")));
}

// ---- Refusals -----------------------------------------------------------------------------------

TEST_F(TransportTest, BadFramingIs400AndTheEnd) {
  Start();
  const std::string get = "GET /hello HTTP/1.1\r\n";
  const std::string post = "POST /api/hyperfleet/v1/echo HTTP/1.1\r\nHost: x\r\n";
  ExpectRefused(get + "\r\n", 400);                           // no Host
  ExpectRefused(get + "Host: a\r\nHost: a\r\n\r\n", 400);     // two
  ExpectRefused(get + "Host: a\r\nX: b\r\n c\r\n\r\n", 400);  // folded
  ExpectRefused("GET /hello HTTP/1.1\nHost: a\n\n", 400);     // bare line feeds
  ExpectRefused(get + "Host : a\r\n\r\n", 400);               // space before the colon
  ExpectRefused(get + "Host: a\r\nX: a" + std::string(1, '\0') + "\r\n\r\n", 400);
  ExpectRefused("nonsense\r\n\r\n", 400);
  ExpectRefused(post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
  ExpectRefused(post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400);
  ExpectRefused(post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", 400);
  ExpectRefused(post + "Content-Length: +3\r\n\r\nabc", 400);
  ExpectRefused(post + "Content-Length: -3\r\n\r\nabc", 400);
  ExpectRefused(post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400);
  ExpectRefused(post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcXY\r\n0\r\n\r\n", 400);
  ExpectRefused("GET /hello HTTP/2.0\r\nHost: a\r\n\r\n", 505);
}

TEST_F(TransportTest, OtherEncodingsAndExpectationsAreRefused) {
  Start();
  const std::string post = "POST /api/hyperfleet/v1/echo HTTP/1.1\r\nHost: x\r\n";
  ExpectRefused(post + "Transfer-Encoding: gzip\r\n\r\n", 501);
  ExpectRefused(post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501);
  ExpectRefused(post + "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", 501);
  ExpectRefused(post + "Expect: miracles\r\nContent-Length: 1\r\n\r\n", 417);
}

TEST_F(TransportTest, LongHeadsAre431) {
  Start();
  const std::string start = "GET /hello HTTP/1.1\r\nHost: x\r\n";
  ExpectRefused(start + "X: " + std::string(40000, 'a'), 431);
  ExpectRefused("GET /" + std::string(40000, 'a') + " HTTP/1.1\r\n", 431);
  RawClient client = Connect();
  client.Send(start + "X: " + std::string(32000, 'a') + "\r\n\r\n");
  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(TransportTest, RefusalsSayWhatIsWrong) {
  Start({.max_body = 1000});
  const std::string post = "POST /api/hyperfleet/v1/echo HTTP/1.1\r\nHost: x\r\n";
  const auto body = [this](const std::string& request) {
    RawClient client = Connect();
    client.Send(request);
    return client.Read().body;
  };
  EXPECT_THAT(body(post + "Content-Length: 1001\r\n\r\n"),
              HasSubstr("\"The request body is too large\""));
  EXPECT_THAT(body(post + "X: a\r\n b\r\n\r\n"),
              HasSubstr("\"Folded header lines are not supported\""));
  EXPECT_THAT(body("GET /hello HTTP/1.1\r\nHost: x\r\nX: " + std::string(40000, 'a')),
              HasSubstr("\"Request line and headers are over 32768 bytes\""));
  EXPECT_THAT(body("GET /hello HTTP/2.0\r\nHost: x\r\n\r\n"),
              HasSubstr("\"Only HTTP/1.0 and HTTP/1.1 are spoken here\""));
}

TEST_F(TransportTest, LargeBodiesAre413BeforeTheyAreRead) {
  Start({.max_body = 1000});
  const std::string post = "POST /api/hyperfleet/v1/echo HTTP/1.1\r\nHost: x\r\n";
  RawClient client = Connect();
  client.Send(post + "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n" +
              "Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n");
  const RawAnswer answer = client.Read();
  EXPECT_EQ(answer.status, 413);
  EXPECT_THAT(answer.body, HasSubstr("\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\""));
  EXPECT_EQ(answer.Header("Content-Type"), "application/problem+json");
  EXPECT_THAT(answer.body, HasSubstr("HYPERFLEET-VAL-008"));
  EXPECT_TRUE(client.IsClosedByPeer());
  ExpectRefused(post + "Content-Length: 99999999999999\r\n\r\n" + std::string(5000, 'x'), 413);
  ExpectRefused(post + "Transfer-Encoding: chunked\r\n\r\n3e8\r\n" + std::string(1000, 'x') +
                    "\r\n1\r\nx\r\n0\r\n\r\n",
                413);
  RawClient fits = Connect();
  fits.Request("POST", "/api/hyperfleet/v1/echo", "", std::string(1000, 'x'));
  EXPECT_EQ(fits.Read().status, 200);
}

TEST_F(TransportTest, ContinueIsSentToWhoWaitsForIt) {
  Start();
  RawClient client = Connect();
  client.Send(
      "POST /api/hyperfleet/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
      "Expect: 100-Continue\r\n\r\n");
  EXPECT_EQ(client.Read().status, 100);
  client.Send("abc");
  EXPECT_EQ(client.Read().body, "abc");
}

TEST_F(TransportTest, SlowSendersAre408) {
  Start({.head_timeout = milliseconds(60), .read_timeout = milliseconds(90)});
  RawClient head = Connect();
  head.Send("GET /api/hyperfleet/v1/x HT");
  EXPECT_EQ(head.Read().status, 408);
  EXPECT_TRUE(head.IsClosedByPeer());
  RawClient body = Connect();
  body.Send("POST /api/hyperfleet/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
  const RawAnswer answer = body.Read();
  EXPECT_EQ(answer.status, 408);
  EXPECT_THAT(answer.body, HasSubstr("HYPERFLEET-VAL-006"));
}

TEST_F(TransportTest, IdleConnectionsAreClosed) {
  Start({.idle_timeout = milliseconds(60)});
  RawClient fresh = Connect();
  EXPECT_TRUE(fresh.IsClosedByPeer());
  RawClient used = Connect();
  used.Request("GET", "/hello");
  EXPECT_EQ(used.Read().status, 200);
  EXPECT_TRUE(used.IsClosedByPeer());
}

TEST_F(TransportTest, AnswersNobodyReadsAreGivenUp) {
  Start({.max_body = std::size_t{64} << 20, .write_timeout = milliseconds(60)});
  RawClient client = Connect();
  client.Request("POST", "/api/hyperfleet/v1/echo", "", std::string(std::size_t{32} << 20, 'x'));
  EXPECT_TRUE(Eventually([&] { return transport_->stats().connections == 0; }));
}

TEST_F(TransportTest, FamiliesRefuseInTheirManner) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/api/hyperfleet/v1/nothing");
  const RawAnswer problem = client.Read();
  EXPECT_EQ(problem.status, 404);
  EXPECT_EQ(problem.Header("Content-Type"), "application/problem+json");
  EXPECT_EQ(problem.Header("Vary"), "Authorization");
  client.Request("DELETE", "/api/hyperfleet/v1/echo");
  const RawAnswer wrong = client.Read();
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.Header("Allow"), "POST");
  client.Request("GET", "/api/v1/nothing");
  const RawAnswer control = client.Read();
  EXPECT_EQ(control.status, 404);
  EXPECT_EQ(control.body, R"({"error":"not found"})");
  EXPECT_EQ(control.Header("Cache-Control"), "no-store");
  EXPECT_EQ(control.Header("X-Frame-Options"), "DENY");
  client.Request("BREW", "/hello");
  EXPECT_EQ(client.Read().status, 501);
  client.Request("GET", "/hello?x=%00");
  EXPECT_EQ(client.Read().status, 400);
  client.Request("GET", "/hello");
  EXPECT_EQ(client.Read().status, 200) << "none of these ends the connection";
}

TEST_F(TransportTest, ConnectionsAreCapped) {
  Start({.max_connections = 2});
  RawClient first = Connect();
  RawClient second = Connect();
  first.Request("GET", "/hello");
  second.Request("GET", "/hello");
  EXPECT_EQ(first.Read().status, 200);
  EXPECT_EQ(second.Read().status, 200);
  RawClient third = Connect();
  EXPECT_TRUE(third.IsClosedByPeer());
  EXPECT_EQ(transport_->stats().turned_away, 1U);
}

}  // namespace
}  // namespace api
