#include "api/spec_schema/openapi_document.h"

#include <gmock/gmock.h>

#include "api/spec_schema/validator.h"
#include "tests/api/spec_schema/testing.h"

namespace api {
namespace {

using schema_test::Json;
using testing::HasSubstr;

std::string Why(const std::string& text) {
  const auto document = OpenApiDocument::Parse(text);
  return document.ok()
             ? "ok"
             : std::string(document.status().message().data(), document.status().message().size());
}

constexpr std::string_view kHead = "info: {title: T, version: '1'}\n";

std::string Document(std::string_view version, std::string_view rest) {
  return "openapi: " + std::string(version) + "\n" + std::string(kHead) + std::string(rest);
}

TEST(OpenApiDocumentTest, IsOfAKnownVersion) {
  EXPECT_EQ(Why(Document("3.0.3", "paths: {}")), "ok");
  EXPECT_EQ(Why(Document("3.1.0", "components: {}")), "ok");
  EXPECT_EQ(Why(R"({"openapi":"3.0.0","info":{"title":"T","version":"1"},"paths":{}})"), "ok");
  EXPECT_THAT(Why(Document("2.0.0", "paths: {}")), HasSubstr("openapi must be"));
  EXPECT_THAT(Why(Document("3.1", "paths: {}")), HasSubstr("openapi must be"));
  EXPECT_THAT(Why("swagger: '2.0'"), HasSubstr("not an OpenAPI document"));
  EXPECT_THAT(Why(""), HasSubstr("expected an object"));
  EXPECT_THAT(Why("{\"openapi\": \"3.0.0\","), HasSubstr("at byte"));
}

TEST(OpenApiDocumentTest, HasThePartsThatAreDemanded) {
  EXPECT_THAT(Why(Document("3.0.3", "components: {}")), HasSubstr("paths must be an object"));
  EXPECT_THAT(Why(Document("3.1.0", "")), HasSubstr("neither paths"));
  EXPECT_THAT(Why("openapi: 3.0.3\ninfo: {title: T}\npaths: {}"), HasSubstr("info must have"));
  EXPECT_THAT(Why(Document("3.0.3", "paths: {clusters: {}}")), HasSubstr("start with a slash"));
  EXPECT_THAT(Why(Document("3.0.3", "paths: {/a: 1}")), HasSubstr("must be an object"));
  EXPECT_THAT(Why(Document("3.0.3", "paths: {}\ncomponents: []")), HasSubstr("components"));
  EXPECT_THAT(Why(Document("3.0.3", "paths: {}\ncomponents: {schemas: []}")),
              HasSubstr("components.schemas"));
  EXPECT_THAT(Why(std::string(kMaxOpenApiBytes + 1, ' ')), HasSubstr("larger than"));
}

TEST(OpenApiDocumentTest, CompilesWhatIsAskedFor) {
  const auto document = OpenApiDocument::Parse(Document("3.0.3", R"(paths: {}
components:
  schemas:
    Spec:
      type: object
      required: [region]
      properties:
        region: {$ref: '#/components/schemas/Region'}
    Region: {type: string, nullable: true, enum: [eu, us]}
    Odd: {pattern: '(?=x)'}
)"));
  ASSERT_TRUE(document.ok()) << document.status();
  const auto spec = document->Compile("Spec");
  ASSERT_TRUE(spec.ok() && *spec) << spec.status();
  EXPECT_TRUE(CheckAgainst(**spec, Json(R"({"region": null})"), "spec").empty());
  const auto errors = CheckAgainst(**spec, Json(R"({"region": "mars"})"), "spec");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].path, "spec.region");
  EXPECT_FALSE((*document->Compile("Nothing")).has_value());
  EXPECT_THAT(document->Compile("Odd").status().message(),
              testing::HasSubstr("#/components/schemas/Odd"));
}

TEST(OpenApiDocumentTest, Version31IsThe2020Dialect) {
  const auto document = OpenApiDocument::Parse(Document("3.1.0", R"(components:
  schemas:
    Spec: {type: [object, 'null'], properties: {a: {const: 1}}, unevaluatedProperties: false}
)"));
  ASSERT_TRUE(document.ok()) << document.status();
  const auto spec = document->Compile("Spec");
  ASSERT_TRUE(spec.ok() && *spec) << spec.status();
  EXPECT_TRUE(CheckAgainst(**spec, Json(R"({"a": 1})"), "spec").empty());
  EXPECT_EQ(CheckAgainst(**spec, Json(R"({"a": 2, "b": 1})"), "spec").size(), 1u);
  EXPECT_EQ(CheckAgainst(**spec, Json(R"({"b": 1})"), "spec").size(), 1u);
}

}  // namespace
}  // namespace api
