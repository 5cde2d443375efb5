// What is wrong with a request is said, and nothing of it reaches the journal.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;

std::string Nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST_P(BadInputCases, NothingOfItReachesTheJournal) {
  struct Bad {
    std::string what;
    std::string body;
    int status;
    std::string code;
  };
  const std::string open = R"({"kind":"Cluster","name":"bad-input","spec":)";
  const std::vector<Bad> cases = {
      {"no JSON", "{", 400, "VAL-006"},
      {"duplicate keys", open + R"({"a":1,"a":2}})", 400, "VAL-006"},
      {"duplicate members", open + R"({},"name":"bad-input"})", 400, "VAL-006"},
      {"too deep", open + "{\"a\":" + Nested(63) + "}}", 400, "VAL-006"},
      {"integer over 64 bits", open + R"({"a":18446744073709551616}})", 400, "VAL-006"},
      {"lone surrogate", open + R"({"a":"\ud800"}})", 400, "VAL-006"},
      {"not UTF-8", open + "{\"a\":\"\xFF\"}}", 400, "VAL-006"},
      {"trailing bytes", open + "{}} x", 400, "VAL-006"},
      {"NUL", open + R"({"a":"\u0000"}})", 400, "VAL-000"},
      {"a record over 1 MiB", open + "{\"a\":\"" + std::string(1 << 20, 'x') + "\"}}", 413,
       "VAL-008"},
      {"a body over the limit", open + "{\"a\":\"" + std::string(kMaxBody, 'x') + "\"}}", 413,
       "VAL-008"},
  };
  const std::uint64_t tx = Tx();
  for (const Bad& bad : cases) {
    const Answer refused = Call("POST", kBase + "/clusters", bad.body);
    EXPECT_EQ(refused.status, bad.status) << bad.what;
    EXPECT_EQ(refused.Header("content-type"), "application/problem+json") << bad.what;
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-" + bad.code) << bad.what;
  }
  EXPECT_EQ(Tx(), tx);
}

TEST_P(BadInputCases, ASpecMayBeAsDeepAsTheLimit) {
  const std::string id = Text(MakeCluster(FreshName("deep-"), "{\"a\":" + Nested(62) + "}"), "id");
  EXPECT_THAT(Get(kBase + "/clusters/" + id).body, HasSubstr(Nested(62)));
}

TEST_P(BadInputCases, UnknownRoutesAreNotFound) {
  const Answer resource = Get(kBase + "/nothing");
  EXPECT_EQ(resource.status, 404);
  EXPECT_EQ(resource.Header("content-type"), "application/problem+json");
  EXPECT_EQ(Text(resource.Json(), "code"), "HYPERFLEET-NTF-000");
  EXPECT_EQ(Text(resource.Json(), "trace_id"), "");
  const Answer control = Get("/api/v1/nothing");
  EXPECT_EQ(control.status, 404);
  EXPECT_EQ(Text(control.Json(), "error"), "not found");
}

TEST_P(BadInputCases, ProblemsNameTheCallersTrace) {
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  const Headers parent = {{"traceparent", "00-" + trace + "-b7ad6b7169203331-01"}};
  struct Refused {
    std::string method;
    std::string target;
    std::string body;
    int status;
  };
  // By a read, a list, a rule, a body and the router.
  const std::vector<Refused> refused = {
      {"GET", "/clusters/nothing", "", 404},    {"GET", "/clusters?page=0", "", 400},
      {"DELETE", "/clusters/nothing", "", 404}, {"POST", "/clusters", "{", 400},
      {"PUT", "/clusters", "{}", 405},
  };
  for (const Refused& request : refused) {
    const Answer answer = Call(request.method, kBase + request.target, request.body, parent);
    EXPECT_EQ(answer.status, request.status);
    EXPECT_EQ(Text(answer.Json(), "trace_id"), trace) << request.status;
    EXPECT_EQ(answer.Header("x-request-id").size(), 36u);
  }
  const Answer malformed = Call("GET", kBase + "/clusters/nothing", "",
                                {{"traceparent", "00-" + trace}, {"X-Request-ID", "mine.1"}});
  EXPECT_EQ(Text(malformed.Json(), "trace_id"), "mine.1");
  EXPECT_EQ(malformed.Header("x-request-id"), "mine.1");
}

TEST_P(BadInputCases, WrongMethodsNameTheRightOnes) {
  const Answer put = Call("PUT", kBase + "/clusters", "{}");
  EXPECT_EQ(put.status, 405);
  EXPECT_EQ(Text(put.Json(), "code"), "HYPERFLEET-NTF-004");
  EXPECT_EQ(put.Header("allow"), "GET, HEAD, POST");
  const Answer one = Call("POST", kBase + "/clusters/some-id", "{}");
  EXPECT_EQ(one.status, 405);
  EXPECT_EQ(one.Header("allow"), "GET, HEAD, PATCH, DELETE");
  const Answer root = Call("PUT", "/api/hyperfleet", "{}");
  EXPECT_EQ(root.status, 405);
  EXPECT_EQ(root.Header("content-type"), "application/problem+json");
  EXPECT_EQ(Text(root.Json(), "code"), "HYPERFLEET-NTF-004");
  EXPECT_EQ(root.Header("allow"), "GET, HEAD");
  const Answer control = Call("DELETE", "/api/v1/killswitch");
  EXPECT_EQ(control.status, 405);
  EXPECT_EQ(control.Header("allow"), "GET, HEAD");
}

TEST_P(BadInputCases, NoAnswerNamesTheDatabase) {
  for (const std::string& target :
       {kBase + "/clusters?order=pg_sleep(10)", kBase + "/clusters/%27%20or%201=1",
        kBase + "/clusters/%27%3B%20drop%20table", kBase + "/resources?kind=%27"}) {
    const Answer refused = Get(target);
    EXPECT_GE(refused.status, 400);
    EXPECT_LT(refused.status, 500) << target;
    EXPECT_EQ(refused.body.find("SQLSTATE"), std::string::npos);
    EXPECT_EQ(refused.body.find("pq:"), std::string::npos);
  }
}

}  // namespace
}  // namespace cases
