#include "api/http/router.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/http/problem.h"
#include "api/json/parser.h"
#include "tests/support/logs.h"

namespace api {
namespace {

using testing::HasSubstr;

std::string HeaderOf(const Response& response, std::string_view name) {
  for (const HeaderField& field : response.headers) {
    if (EqualsIgnoreCase(field.name, name)) {
      return field.value;
    }
  }
  return "";
}

// The text that a problem or error body has under `key`.
std::string Member(const Response& response, std::string_view key) {
  const JsonParse parse = ParseJson(response.body);
  EXPECT_TRUE(parse.ok()) << response.body;
  const JsonValue* const value = parse.value->as_object().if_contains(key);
  return value == nullptr ? "none" : std::string(value->as_string());
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    router_.AddFamily(ControlFamily());
    router_.AddFamily(HyperfleetFamily());
  }

  // A route that answers its name, its label and its variables.
  void Add(Method method, const std::string& pattern, RouteOptions options = {}) {
    router_.Handle(
        method, pattern,
        [](const RequestPtr& request, Responder responder) {
          responder.Answer(TextResponse(200, std::string(request->route()) + " " +
                                                 std::string(request->route_label()) + " " +
                                                 std::string(request->PathParameter("id")) + "," +
                                                 std::string(request->PathParameter("sub"))));
        },
        options);
  }

  Response Send(std::string method, std::string target, bool overloaded = false) {
    RequestParts parts;
    parts.method = std::move(method);
    parts.target = std::move(target);
    parts.id = "the-id";
    std::optional<Response> answer;
    router_.Dispatch(std::make_shared<Request>(std::move(parts)),
                     Responder([&answer](Response response) { answer = std::move(response); }),
                     overloaded);
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(Response{});
  }

  Router router_;
};

TEST_F(RouterTest, MatchesLiteralsBeforeVariables) {
  Add(Method::kGet, "/a/{id}");
  Add(Method::kGet, "/a/fixed");
  Add(Method::kGet, "/a/fixed/{id}/x");
  Add(Method::kGet, "/a/{id}/{sub}");
  EXPECT_EQ(Send("GET", "/a/1").body, "/a/{id} /a/- 1,");
  EXPECT_EQ(Send("GET", "/a/fixed").body, "/a/fixed /a/fixed ,");
  EXPECT_EQ(Send("GET", "/a/fixed/2").body, "/a/{id}/{sub} /a/-/- fixed,2");
  EXPECT_EQ(Send("GET", "/a/fixed/2/x").body, "/a/fixed/{id}/x /a/fixed/-/x 2,");
}

TEST_F(RouterTest, StripsOneTrailingSlash) {
  Add(Method::kGet, "/a/{id}");
  Add(Method::kGet, "/");
  EXPECT_EQ(Send("GET", "/a/1/").status, 200);
  EXPECT_EQ(Send("GET", "/a/1//").status, 404);
  EXPECT_EQ(Send("GET", "//a/1").status, 404);
  EXPECT_EQ(Send("GET", "/a/").status, 404);
  EXPECT_EQ(Send("GET", "/").status, 200);
}

TEST_F(RouterTest, DecodesVariablesAfterSplitting) {
  Add(Method::kGet, "/a/{id}");
  EXPECT_EQ(Send("GET", "/a/x%2Fy%20z").body, "/a/{id} /a/- x/y z,");
  EXPECT_EQ(Send("GET", "/%61/1?q=1").body, "/a/{id} /a/- 1,");
}

TEST_F(RouterTest, AnswersHeadWhereGetIs) {
  Add(Method::kGet, "/a");
  Add(Method::kPost, "/b");
  EXPECT_EQ(Send("HEAD", "/a").status, 200);
  EXPECT_EQ(Send("HEAD", "/b").status, 405);
}

TEST_F(RouterTest, ProblemFamilyRefusesWithProblems) {
  Add(Method::kGet, "/api/hyperfleet/v1/clusters/{id}");
  Add(Method::kPatch, "/api/hyperfleet/v1/clusters/{id}");
  const Response unknown = Send("GET", "/api/hyperfleet/v1/nothing");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.content_type, "application/problem+json");
  EXPECT_EQ(HeaderOf(unknown, "Vary"), "Authorization");
  EXPECT_EQ(Member(unknown, "code"), "HYPERFLEET-NTF-000");
  EXPECT_EQ(Member(unknown, "title"), "Endpoint Not Found");
  EXPECT_EQ(Member(unknown, "type"), "https://api.hyperfleet.io/errors/not-found");
  EXPECT_EQ(Member(unknown, "instance"), "/api/hyperfleet/v1/nothing");
  EXPECT_EQ(Member(unknown, "trace_id"), "");
  const Response wrong = Send("PUT", "/api/hyperfleet/v1/clusters/1");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(HeaderOf(wrong, "Allow"), "GET, HEAD, PATCH");
  EXPECT_EQ(Member(wrong, "code"), "HYPERFLEET-NTF-004");
  EXPECT_EQ(Member(wrong, "trace_id"), "the-id");
  const Response unheard = Send("BREW", "/api/hyperfleet/v1/clusters/1");
  EXPECT_EQ(unheard.status, 501);
  EXPECT_EQ(Member(unheard, "code"), "HYPERFLEET-INT-003");
  EXPECT_EQ(Member(unheard, "outcome"), "none");
  const Response bad = Send("GET", "/api/hyperfleet/v1/clusters/%00");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(Member(bad, "code"), "HYPERFLEET-VAL-006");
}

TEST_F(RouterTest, ControlFamilyRefusesWithErrors) {
  Add(Method::kPost, "/api/v1/killswitch/{id}/kill");
  const Response unknown = Send("GET", "/api/v1/nothing");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.content_type, "application/json");
  EXPECT_EQ(unknown.body, R"({"error":"not found"})");
  const Response wrong = Send("GET", "/api/v1/killswitch/a/kill");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(HeaderOf(wrong, "Allow"), "POST");
  EXPECT_EQ(Send("BREW", "/api/v1/x").status, 501);
  EXPECT_EQ(Send("GET", "/elsewhere").body, R"({"error":"not found"})");
  EXPECT_THAT(router_.FamilyOf("/api/v1/x").common_headers, HasSubstr("Cache-Control: no-store"));
  EXPECT_THAT(router_.FamilyOf("/x").common_headers, HasSubstr("X-Frame-Options: DENY"));
  EXPECT_EQ(router_.FamilyOf("/api/hyperfleet/v1/x").common_headers, "Cache-Control: no-store\r\n");
}

TEST_F(RouterTest, ThePrefixItselfIsOfItsFamily) {
  Add(Method::kGet, "/api/hyperfleet");
  EXPECT_EQ(Send("PUT", "/api/hyperfleet").content_type, "application/problem+json");
  EXPECT_EQ(Send("PUT", "/api/hyperfleet/").content_type, "application/problem+json");
  EXPECT_EQ(Send("GET", "/api/hyperfleeting").content_type, "application/json");
  EXPECT_EQ(Send("GET", "/api").body, R"({"error":"not found"})");
}

TEST_F(RouterTest, ListsItsRoutes) {
  Add(Method::kPost, "/a/{id}/b");
  Add(Method::kGet, "/a/{id}");
  Add(Method::kDelete, "/a/{id}");
  Add(Method::kGet, "/");
  std::vector<std::string> routes;
  for (const RouteName& route : router_.Routes()) {
    routes.push_back(std::string(MethodName(route.method)) + " " + route.pattern);
  }
  EXPECT_THAT(routes,
              testing::ElementsAre("GET /", "GET /a/{id}", "DELETE /a/{id}", "POST /a/{id}/b"));
}

TEST_F(RouterTest, OverloadRefusesWhatMayBeRefused) {
  Add(Method::kGet, "/readyz", {.never_refused = true});
  Add(Method::kPost, "/api/v1/x");
  Add(Method::kGet, "/api/hyperfleet/v1/x");
  EXPECT_EQ(Send("GET", "/readyz", true).status, 200);
  const Response control = Send("POST", "/api/v1/x", true);
  EXPECT_EQ(control.status, 503);
  EXPECT_EQ(HeaderOf(control, "Retry-After"), "1");
  EXPECT_EQ(Member(control, "outcome"), "none");
  const Response problem = Send("GET", "/api/hyperfleet/v1/x", true);
  EXPECT_EQ(Member(problem, "code"), "HYPERFLEET-SVC-001");
  EXPECT_THAT(problem.body, Not(HasSubstr("outcome"))) << "a read did nothing anyway";
}

TEST_F(RouterTest, HandlerThatThrowsCountsAsUnanswered) {
  support::ExpectErrorLogs();
  router_.Handle(Method::kGet, "/bang",
                 [](const RequestPtr&, Responder) { throw std::runtime_error("bang"); });
  EXPECT_EQ(Send("GET", "/bang").status, 500);
}

TEST(ResponderTest, DroppedResponderAnswers500) {
  std::optional<Response> answer;
  {
    Responder dropped([&answer](Response response) { answer = std::move(response); });
  }
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 500);
}

TEST(ResponderTest, AssignmentDropsWhatWasHeld) {
  int first = 0;
  int second = 0;
  Responder held([&first](const Response& response) { first = response.status; });
  held = Responder([&second](const Response& response) { second = response.status; });
  EXPECT_EQ(first, 500);
  held.Answer(JsonResponse(204, ""));
  EXPECT_EQ(second, 204);
}

TEST(ProblemTest, HasTheFieldsOfTheFamily) {
  RequestParts parts;
  parts.target = "/api/hyperfleet/v1/clusters?x=1";
  parts.id = "the-id";
  const Request request(std::move(parts));
  Problem problem;
  problem.code = ProblemCode::kValidation;
  problem.detail = "missing mandatory condition";
  problem.errors = {{"name", "too \"short\"", "ab", "min_length"}, {"spec", "absent", {}, ""}};
  problem.status = 422;
  const Response response = ProblemResponse(request, problem);
  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(response.body, HasSubstr(R"("status":422,)"));
  EXPECT_THAT(response.body, HasSubstr(R"("detail":"missing mandatory condition",)"));
  EXPECT_THAT(response.body, HasSubstr(R"("instance":"/api/hyperfleet/v1/clusters",)"));
  EXPECT_THAT(response.body,
              HasSubstr(R"("errors":[{"field":"name","message":"too \"short\"","value":"ab",)"
                        R"("constraint":"min_length"},{"field":"spec","message":"absent"}])"));
  EXPECT_THAT(response.body, Not(HasSubstr("outcome")));
}

TEST(ProblemTest, EveryCodeHasItsRow) {
  EXPECT_EQ(ProblemCodeName(ProblemCode::kPayloadTooLarge), "HYPERFLEET-VAL-008");
  EXPECT_EQ(ProblemStatus(ProblemCode::kPayloadTooLarge), 413);
  EXPECT_EQ(ProblemCodeName(ProblemCode::kGone), "HYPERFLEET-NTF-005");
  EXPECT_EQ(ProblemStatus(ProblemCode::kVersionConflict), 412);
  EXPECT_EQ(ProblemCodeName(ProblemCode::kKeyReused), "HYPERFLEET-CNF-004");
  EXPECT_EQ(ProblemCodeName(ProblemCode::kUnavailable), "HYPERFLEET-SVC-001");
  EXPECT_EQ(ProblemStatus(ProblemCode::kTimeout), 504);
}

TEST(ProblemTest, ControlErrorsCarryTheOutcome) {
  EXPECT_EQ(ControlError(409, "already killed").body, R"({"error":"already killed"})");
  EXPECT_EQ(ControlError(503, "store away", Outcome::kUnknown).body,
            R"({"error":"store away","outcome":"unknown"})");
}

}  // namespace
}  // namespace api
