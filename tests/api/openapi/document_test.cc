#include "api/openapi/document.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "api/openapi/schemas.h"
#include "tests/support/openapi.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using projections::EntityDescriptor;
using projections::Registry;
using support::OpenApi;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

constexpr std::string_view kId = "01900000-0000-7000-8000-000000000001";

JsonValue Parsed(std::string_view text) {
  const JsonParse parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error.message;
  return parsed.ok() ? *parsed.value : JsonValue();
}

std::string Condition(std::string_view status) {
  return R"({"type":"Reconciled","status":")" + std::string(status) +
         R"(","reason":"r","message":"m","observed_generation":1,)"
         R"("created_time":"2026-01-02T03:04:05Z","last_updated_time":"2026-01-02T03:04:05Z",)"
         R"("last_transition_time":"2026-01-02T03:04:05.123456Z"})";
}

// A cluster as answers show it, with `more` behind its last member.
std::string ClusterDocument(const std::string& more = "", std::string_view status = "False") {
  return R"({"id":")" + std::string(kId) +
         R"(","kind":"Cluster","name":"c","href":"/x","spec":{"any":[1]},"tenancy":{},)"
         R"("generation":1,"created_time":"2026-01-02T03:04:05Z","created_by":"a",)"
         R"("updated_time":"2026-01-02T03:04:05Z","updated_by":"a",)"
         R"("status":{"conditions":[)" +
         Condition(status) + "]}" + more + "}";
}

class OpenApiDocumentTest : public testing::Test {
 protected:
  support::SeenAnswer Shown(const std::string& body) {
    return {"GET",
            "/api/hyperfleet/v1/clusters/" + std::string(kId),
            200,
            {{"content-type", "application/json"}, {"x-request-id", "r"}, {"etag", "\"1-0\""}},
            body};
  }

  const OpenApi stock_{OpenApiDocument(Registry::Stock(), "1.2.3")};
};

TEST_F(OpenApiDocumentTest, IsAnOpenApiDocument) {
  EXPECT_THAT(stock_.CheckDocument(), IsEmpty());
}

TEST_F(OpenApiDocumentTest, HasEveryOperationOfAKind) {
  const std::vector<std::string> operations = stock_.Operations();
  for (const std::string path : {"/api/hyperfleet/v1/resources", "/api/hyperfleet/v1/nodepools",
                                 "/api/hyperfleet/v1/clusters/{parent_id}/nodepools"}) {
    EXPECT_THAT(operations, IsSupersetOf({"GET " + path, "POST " + path, "GET " + path + "/{id}",
                                          "PATCH " + path + "/{id}", "DELETE " + path + "/{id}",
                                          "POST " + path + "/{id}/force-delete"}));
  }
  EXPECT_THAT(operations, Contains("GET /api/hyperfleet"));
}

TEST_F(OpenApiDocumentTest, SaysWhatAKindDemands) {
  const JsonValue& schemas = stock_.document().at("components").at("schemas");
  const JsonValue& name = schemas.at("NodePoolCreateRequest").at("properties").at("name");
  EXPECT_EQ(name.at("minLength").as_int64(), 3);
  EXPECT_EQ(name.at("maxLength").as_int64(), 15);
  EXPECT_EQ(schemas.at("VersionCreateRequest").at("properties").at("name").at("maxLength"), 100);
  const auto requires_owner = [&schemas](std::string_view kind) {
    return std::ranges::find(schemas.at(kind).at("required").as_array(),
                             JsonValue("owner_references")) !=
           schemas.at(kind).at("required").as_array().end();
  };
  EXPECT_TRUE(requires_owner("NodePool"));
  EXPECT_FALSE(requires_owner("Cluster"));
  EXPECT_EQ(stock_.document().at("info").at("version"), "1.2.3");
}

TEST_F(OpenApiDocumentTest, AChildWithoutItsParentIsOnlyRefused) {
  const JsonObject& responses = stock_.document()
                                    .at("paths")
                                    .at("/api/hyperfleet/v1/nodepools")
                                    .at("post")
                                    .at("responses")
                                    .as_object();
  EXPECT_TRUE(responses.contains("422"));
  EXPECT_FALSE(responses.contains("201"));
}

TEST_F(OpenApiDocumentTest, OddKindsMakeAGoodDocumentToo) {
  std::vector<EntityDescriptor> entities;
  for (const std::string kind :
       {"A", "AList", "a/b <c>", "a_b _c_", "Resource", "ProblemDetails", "API", "A_2"}) {
    EntityDescriptor entity;
    entity.kind = kind;
    entity.plural = "plural" + std::to_string(entities.size());
    entity.spec_schema_name = "A";
    entities.push_back(entity);
  }
  ASSERT_OK_AND_ASSIGN(const Registry registry, Registry::Create(std::move(entities)));
  EXPECT_THAT(OpenApi(OpenApiDocument(registry, "1")).CheckDocument(), IsEmpty());
}

TEST(UniqueNamesTest, NoTwoAreTheSame) {
  UniqueNames names;
  EXPECT_EQ(names.Take("A/B"), "A_B");
  EXPECT_EQ(names.Take("A_B"), "A_B_2");
  EXPECT_EQ(names.Take("A_B_2"), "A_B_2_2");
}

// The checks themselves: what the behaviour cases rest on.

TEST_F(OpenApiDocumentTest, AnAnswerThatIsAsDocumentedPasses) {
  EXPECT_THAT(stock_.CheckAnswer(Shown(ClusterDocument())), IsEmpty());
  EXPECT_THAT(stock_.CheckAnswer(Shown(ClusterDocument(R"(,"labels":{"a":"b"})"))), IsEmpty());
}

TEST_F(OpenApiDocumentTest, AnAnswerThatDiffersDoesNot) {
  const auto wrongs = [this](const std::string& body) { return stock_.CheckAnswer(Shown(body)); };
  EXPECT_THAT(wrongs("{"), ElementsAre(HasSubstr("no JSON")));
  EXPECT_THAT(wrongs("{}"), ElementsAre(HasSubstr("required")));
  EXPECT_THAT(wrongs("[]"), ElementsAre(HasSubstr("type")));
  EXPECT_THAT(wrongs(ClusterDocument(R"(,"extra":1)")), ElementsAre("/extra: is not documented"));
  EXPECT_THAT(wrongs(ClusterDocument(R"(,"labels":{"a":1})")),
              ElementsAre(HasSubstr("/labels/a: type")));
  EXPECT_THAT(wrongs(ClusterDocument(R"(,"deleted_time":"yesterday")")),
              ElementsAre(HasSubstr("/deleted_time: format")));
  EXPECT_THAT(wrongs(ClusterDocument("", "Maybe")),
              ElementsAre(HasSubstr("/status/conditions/0/status: enum")));
}

TEST_F(OpenApiDocumentTest, StatusHeadersAndTypeAreLookedAt) {
  support::SeenAnswer answer = Shown(ClusterDocument());
  answer.status = 201;
  EXPECT_THAT(stock_.CheckAnswer(answer), ElementsAre("the status is not documented"));
  answer = Shown(ClusterDocument());
  answer.headers["content-type"] = "text/plain";
  EXPECT_THAT(stock_.CheckAnswer(answer), ElementsAre(HasSubstr("'text/plain'")));
  answer = Shown(ClusterDocument());
  answer.headers.erase("x-request-id");
  EXPECT_THAT(stock_.CheckAnswer(answer), ElementsAre(HasSubstr("X-Request-ID is missing")));
  answer = Shown(ClusterDocument());
  answer.path += "/more";
  EXPECT_THAT(stock_.CheckAnswer(answer), Not(IsEmpty()));
  answer = Shown(ClusterDocument());
  answer.method = "PUT";
  EXPECT_THAT(stock_.CheckAnswer(answer), Not(IsEmpty()));
}

TEST_F(OpenApiDocumentTest, ABadDocumentIsFound) {
  const auto document_with = [](const std::string& operation, const std::string& schema) {
    return OpenApi(
               Parsed(
                   R"({"openapi":"3.0.3","info":{"title":"t","version":"1"},"tags":[{"name":"t"}],)"
                   R"("paths":{"/a/{id}":{"get":)" +
                   operation + R"(}},"components":{"schemas":{"S":)" + schema + "}}}"))
        .CheckDocument();
  };
  const std::string good =
      R"({"operationId":"x","tags":["t"],"parameters":[{"name":"id","in":"path","required":true,)"
      R"("schema":{"type":"string"}}],"responses":{"200":{"description":"d","content":)"
      R"({"application/json":{"schema":{"$ref":"#/components/schemas/S"}}}}}})";
  EXPECT_THAT(document_with(good, R"({"type":"string"})"), IsEmpty());
  EXPECT_THAT(document_with(good, R"({"type":"strang"})"), Not(IsEmpty()));
  EXPECT_THAT(document_with(good, R"({"type":"array"})"), Not(IsEmpty()));
  EXPECT_THAT(document_with(good, R"({"type":"string","oneOf":[]})"), Not(IsEmpty()));
  EXPECT_THAT(document_with(good, R"({"type":"string","pattern":"("})"), Not(IsEmpty()));
  EXPECT_THAT(document_with(good, R"({"type":"object","required":["a"]})"), Not(IsEmpty()));
  EXPECT_THAT(document_with(good, R"({"$ref":"#/components/schemas/T"})"), Not(IsEmpty()));
  const auto replaced = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{R"("name":"id")", R"("name":"ie")"},
        {R"("required":true)", R"("required":false)"},
        {R"("tags":["t"])", R"("tags":["u"])"},
        {R"("description":"d")", R"("summary":"d")"},
        {R"("200")", R"("ok")"},
        {"schemas/S", "schemas/T"}}) {
    EXPECT_THAT(document_with(replaced(from, to), R"({"type":"string"})"), Not(IsEmpty())) << from;
  }
}

}  // namespace
}  // namespace api
