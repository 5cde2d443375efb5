// Watches over HTTP.

#include <gmock/gmock.h>

#include "api/json/parser.h"
#include "api/server/server.h"
#include "engine/base/thread.h"
#include "engine/compactor.h"
#include "tests/api/feed/feed_fixture.h"
#include "tests/api/http/raw_client.h"
#include "tests/support/http_client.h"
#include "tests/support/logs.h"

namespace api {
namespace {

using dispatch_test::HookedEngine;
using feed_test::Writer;
using support::HttpClient;
using support::HttpResponse;
using support::RawAnswer;
using support::RawClient;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kAdmin[] = "Authorization: Bearer token\r\n";

class WatchTest : public testing::Test {
 protected:
  std::unique_ptr<Server> StartServer(FeedOptions feed = {}, IdentityOptions identity = {}) {
    ServerOptions options;
    options.identity = std::move(identity);
    options.listen = "127.0.0.1:0";
    options.feed = feed;
    options.drain_grace = std::chrono::milliseconds(1);
    options.admin_tokens = *AdminTokens::Parse("ops:token");
    return *Server::Start(engine_, std::move(options));
  }
  // The answer's head, where it is a stream.
  static RawAnswer Open(RawClient& client, const std::string& query,
                        const std::string& headers = kAdmin) {
    client.Request("GET", "/api/v1/watch" + query, headers);
    return client.Read(true);
  }
  static HttpResponse Ask(const Server& server, const std::string& query,
                          const support::HttpHeaders& headers = {}) {
    HttpClient client("http://" + server.address());
    const auto response = client.Call({.path = "/api/v1/watch" + query, .headers = headers});
    EXPECT_OK(response);
    return response.value_or(HttpResponse{});
  }

  HookedEngine engine_;
};

TEST_F(WatchTest, ShowsWhatIsDoneOnAnyServer) {
  const auto one = StartServer();
  const auto two = StartServer();
  RawClient client(two->address());
  const RawAnswer head = Open(client, "?streams=resources,killswitch");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("Content-Type"), "text/event-stream");
  EXPECT_EQ(head.Header("Cache-Control"), "no-store");
  EXPECT_THAT(head.Header("X-Halo-Cursor"), Not(""));
  HttpClient operator_client("http://" + one->address());
  ASSERT_OK(operator_client.Call({.method = "POST",
                                  .path = "/api/v1/experiments/exp/kill",
                                  .body = R"({"reason":"bad"})",
                                  .headers = {{"Authorization", "Bearer token"}}}));
  const std::string event = client.ReadPast("}\n\n");
  EXPECT_THAT(event, HasSubstr(R"(data: {"position":1,"tx":1,"stream":"killswitch")"));
  EXPECT_THAT(event, HasSubstr(R"("type":"kill","record":{"name":"exp","state":"killed")"));
}

TEST_F(WatchTest, AClientGoesOnWhereItWas) {
  const auto server = StartServer();
  Writer writer(engine_.journal());
  RawClient first(server->address());
  const std::string start = Open(first, "").Header("X-Halo-Cursor");
  writer.Write(0, 3);
  const std::string seen = first.ReadPast("\"key\":\"id-2\"");
  const std::string id = seen.substr(seen.rfind("id: ") + 4,
                                     seen.find('\n', seen.rfind("id: ")) - seen.rfind("id: ") - 4);
  RawClient second(server->address());
  EXPECT_EQ(Open(second, "", "Last-Event-ID: " + id + "\r\n").status, 200);
  EXPECT_THAT(second.ReadPast("}\n\n"), HasSubstr("\"key\":\"id-3\""));
  RawClient third(server->address());
  EXPECT_EQ(Open(third, "?cursor=" + start).status, 200);
  EXPECT_THAT(third.ReadPast("}\n\n"), HasSubstr("\"key\":\"id-1\""));
  RawClient fourth(server->address());
  EXPECT_EQ(Open(fourth, "?cursor=" + start, "Last-Event-ID: " + id + "\r\n").status, 200);
  EXPECT_THAT(fourth.ReadPast("}\n\n"), HasSubstr("\"key\":\"id-3\"")) << "what it saw last counts";
}

TEST_F(WatchTest, RefusesWhatCannotBe) {
  const auto server = StartServer();
  const support::HttpHeaders admin = {{"Authorization", "Bearer token"}};
  EXPECT_EQ(Ask(*server, "?streams=nothing", admin).status, 400);
  EXPECT_EQ(Ask(*server, "?streams=resources,", admin).status, 400);
  EXPECT_EQ(Ask(*server, "?streams=audit", admin).status, 400);
  EXPECT_EQ(Ask(*server, "?cursor=1", admin).status, 400);
  EXPECT_EQ(Ask(*server, "?cursor=", admin).status, 400);
  EXPECT_EQ(Ask(*server, "?streams=killswitch").status, 401);
  EXPECT_EQ(Ask(*server, "?streams=resources,killswitch").status, 401);
  const HttpResponse error = Ask(*server, "?streams=killswitch");
  EXPECT_THAT(error.body, StartsWith(R"({"error":)"));
  RawClient client(server->address());
  const std::string narrow = Open(client, "?streams=resources").Header("X-Halo-Cursor");
  EXPECT_EQ(Ask(*server, "?streams=killswitch&cursor=" + narrow, admin).status, 400);
}

TEST_F(WatchTest, ACursorWhoseHistoryIsGoneIsGone) {
  const auto server = StartServer();
  RawClient client(server->address());
  const std::string start = Open(client, "").Header("X-Halo-Cursor");
  Writer(engine_.journal()).Write(0, 10);
  client.ReadPast("\"key\":\"id-10\"");
  engine::Compactor compactor(engine_.journal(), {});
  ASSERT_OK(
      compactor.RaiseTo(schemas::kResourcesStream, engine::Position{5}, std::chrono::seconds(30)));
  const auto fresh = StartServer();
  EXPECT_EQ(Ask(*fresh, "?cursor=" + start).status, 410);
}

TEST_F(WatchTest, TenantsSeeTheirOwnComeAndGo) {
  IdentityOptions identity;
  identity.tenant.enabled = true;
  identity.tenant.dimensions = {{"X-Org", "org", true}};
  const auto server = StartServer({}, identity);
  HttpClient client("http://" + server->address());
  const auto change = [&](const std::string& org, const std::string& method,
                          const std::string& path, const std::string& body) {
    const auto answer = client.Call({.method = method,
                                     .path = "/api/hyperfleet/v1/channels" + path,
                                     .body = body,
                                     .headers = {{"X-Org", org}}});
    EXPECT_OK(answer);
    const JsonParse parsed = ParseJson(answer->body);
    EXPECT_TRUE(parsed.ok()) << answer->body;
    return std::string(parsed.value->as_object().at("id").as_string());
  };
  EXPECT_EQ(Ask(*server, "").status, 403) << "nobody's";
  EXPECT_THAT(Ask(*server, "").body, StartsWith(R"({"error":)"));
  RawClient acme(server->address());
  const std::string start = Open(acme, "", "X-Org: acme\r\n").Header("X-Halo-Cursor");
  const std::string body = R"({"kind":"Channel","spec":{},"name":")";
  const std::string theirs = change("other", "POST", "", body + "theirs\"}");
  change("other", "DELETE", "/" + theirs, "");
  const std::string ours = change("acme", "POST", "", body + "ours\"}");
  change("acme", "DELETE", "/" + ours, "");
  const std::string live = acme.ReadPast("\"removal\"");
  EXPECT_THAT(live, HasSubstr(ours));
  EXPECT_THAT(live, Not(HasSubstr(theirs)));
  EXPECT_THAT(live, Not(HasSubstr("\"tx\"")));
  // The same from the journal, on a server that was not there.
  const auto fresh = StartServer({}, identity);
  RawClient late(fresh->address());
  EXPECT_EQ(Open(late, "?cursor=" + start, "X-Org: acme\r\n").status, 200);
  const std::string read = late.ReadPast("\"removal\"");
  EXPECT_THAT(read, HasSubstr(ours));
  EXPECT_THAT(read, Not(HasSubstr(theirs)));
}

TEST_F(WatchTest, TooManyAreRefused) {
  support::ExpectErrorLogs();
  const auto server = StartServer({.max_watches = 1});
  RawClient client(server->address());
  EXPECT_EQ(Open(client, "").status, 200);
  const HttpResponse refused = Ask(*server, "");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.Header("retry-after"), Not(""));
}

TEST_F(WatchTest, ADrainEndsAllOfThemAtOnce) {
  const auto server = StartServer();
  RawClient client(server->address());
  Open(client, "");
  engine::Thread reader("reader", [&] {
    EXPECT_THAT(client.ReadPast("0\r\n\r\n"), HasSubstr("event: end\n"));
    EXPECT_TRUE(client.IsClosedByPeer());
  });
  EXPECT_TRUE(server->Drain(support::Soon()));
}

TEST_F(WatchTest, IdleOnesAskTheStoreNothing) {
  const auto server = StartServer({.heartbeat = std::chrono::milliseconds(1)});
  RawClient client(server->address());
  Open(client, "");
  client.ReadPast(": nothing new");
  EXPECT_THAT(server->store().recent().generation(), 0u);
  HttpClient scraper("http://" + server->address());
  const auto metrics = scraper.Get("/metrics");
  ASSERT_OK(metrics);
  EXPECT_THAT(metrics->body, HasSubstr("halo_watches 1\n"));
  EXPECT_THAT(metrics->body, HasSubstr("halo_watch_reads_total 0\n"));
}

}  // namespace
}  // namespace api
