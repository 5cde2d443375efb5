#include "api/spec_schema/spec_schemas.h"

#include <gmock/gmock.h>

#include "tests/api/spec_schema/testing.h"

namespace api {
namespace {

using projections::EntityDescriptor;
using projections::Registry;
using schema_test::Json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kDocument = R"(openapi: 3.0.3
info: {title: T, version: '1'}
paths: {}
components:
  schemas:
    AppleSpec: {type: object, required: [color]}
    BrokenSpec: {pattern: '('}
)";

Registry Apples(const std::string& schema, bool required) {
  EntityDescriptor apple;
  apple.kind = "Apple";
  apple.plural = "apples";
  apple.spec_schema_name = schema;
  apple.require_spec_schema = required;
  return *Registry::Create({apple});
}

std::string Why(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

TEST(SpecSchemasTest, AKindHasTheSchemaThatItNames) {
  const auto schemas = SpecSchemas::Create(kDocument, Apples("AppleSpec", true));
  ASSERT_TRUE(schemas.ok()) << schemas.status();
  EXPECT_EQ(*schemas->NameFor("Apple"), "AppleSpec");
  EXPECT_EQ(schemas->NameFor("Pear"), nullptr);
  EXPECT_EQ(schemas->Check("Apple", Json("{}")).at(0).path, "spec.color");
  EXPECT_TRUE(schemas->Check("Apple", Json(R"({"color": 1})")).empty());
  EXPECT_TRUE(schemas->Check("Pear", Json("{}")).empty());
  EXPECT_TRUE(SpecSchemas().Check("Apple", Json("{}")).empty());
}

TEST(SpecSchemasTest, AMissingSchemaIsToldOrFatal) {
  const auto schemas = SpecSchemas::Create(kDocument, Apples("PearSpec", false));
  ASSERT_TRUE(schemas.ok()) << schemas.status();
  EXPECT_THAT(schemas->missing(), ElementsAre("PearSpec"));
  EXPECT_THAT(Why(SpecSchemas::Create(kDocument, Apples("PearSpec", true)).status()),
              HasSubstr("kind Apple requires the schema PearSpec"));
}

TEST(SpecSchemasTest, WithoutADocumentNoneMayBeRequired) {
  const auto schemas = SpecSchemas::WithoutDocument(Apples("AppleSpec", false));
  ASSERT_TRUE(schemas.ok()) << schemas.status();
  EXPECT_THAT(schemas->missing(), ElementsAre("AppleSpec"));
  EXPECT_TRUE(SpecSchemas::WithoutDocument(Apples("", false))->missing().empty());
  EXPECT_THAT(Why(SpecSchemas::WithoutDocument(Apples("AppleSpec", true)).status()),
              HasSubstr("kind Apple requires the schema AppleSpec"));
}

TEST(SpecSchemasTest, ASchemaThatCannotBeRunIsRefused) {
  EXPECT_THAT(Why(SpecSchemas::Create(kDocument, Apples("BrokenSpec", false)).status()),
              HasSubstr("#/components/schemas/BrokenSpec: the pattern"));
  EXPECT_FALSE(SpecSchemas::Create("nothing", Apples("", false)).ok());
}

}  // namespace
}  // namespace api
