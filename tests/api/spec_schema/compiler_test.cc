#include "api/spec_schema/compiler.h"

#include <gmock/gmock.h>

#include "tests/api/spec_schema/testing.h"

namespace api {
namespace {

using schema_test::Compile;
using schema_test::Json;
using schema_test::Verdict;
using schema_test::VerdictOf;
using testing::HasSubstr;

// Why there is no program. It is not run: one that should have been refused might not end.
std::string Refused(std::string_view schema, SchemaDialect dialect = SchemaDialect::k202012) {
  const JsonValue parsed = Json(schema);
  const auto program = Compile(parsed, dialect);
  return program.ok() ? "compiled"
                      : "refused: " + std::string(program.status().message().data(),
                                                  program.status().message().size());
}

TEST(SchemaCompilerTest, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(Refused(R"({"properties": {"a/b": {"minimum": "5"}}})"),
            "refused: #/properties/a~1b: minimum must be a number");
  EXPECT_EQ(Refused(R"({"items": {"type": "text"}})"),
            "refused: #/items: type must be one of null, boolean, object, array, string, number, "
            "integer");
  EXPECT_EQ(Refused(R"({"anyOf": [{}, {"multipleOf": 0}]})"),
            "refused: #/anyOf/1: multipleOf must be more than 0");
  EXPECT_EQ(Refused(R"({"required": true})"), "refused: #: required must be a list of names");
  EXPECT_EQ(Refused(R"({"minLength": -1})"),
            "refused: #: minLength must be a whole number, 0 or more");
  EXPECT_EQ(Refused(R"({"allOf": []})"), "refused: #: allOf must be a list of schemas");
  EXPECT_EQ(Refused(R"({"properties": {"a": 1}})"),
            "refused: #/properties/a: a schema must be an object");
  EXPECT_EQ(Refused(R"({"exclusiveMinimum": 5})", SchemaDialect::kOpenApi30),
            "refused: #: exclusiveMinimum must be true or false");
  EXPECT_THAT(Refused("{\"pattern\": \"(?=a)\"}"), HasSubstr("look-ahead"));
}

TEST(SchemaCompilerTest, ReferencesStayInTheDocument) {
  EXPECT_THAT(Refused(R"({"$ref": "#/$defs/none"})"), HasSubstr("leads nowhere"));
  EXPECT_THAT(Refused(R"({"$ref": "https://schemas.example/a.json"})"),
              HasSubstr("nothing is fetched"));
  EXPECT_THAT(Refused(R"({"$ref": "other.yaml#/a"})"), HasSubstr("nothing is fetched"));
  EXPECT_THAT(Refused(R"({"$dynamicRef": "#a"})"), HasSubstr("$dynamicRef cannot be used"));
  EXPECT_THAT(Refused(R"({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}})"),
              HasSubstr("is called #x too"));
}

TEST(SchemaCompilerTest, ASchemaThatDemandsItselfIsRefused) {
  EXPECT_THAT(Refused(R"({"$ref": "#"})"), HasSubstr("without end"));
  EXPECT_THAT(Refused(R"({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]},
                                    "b": {"not": {"$ref": "#/$defs/a"}}},
                          "properties": {"x": {"$ref": "#/$defs/a"}}})"),
              HasSubstr("without end"));
  // Of a part of the value it may.
  EXPECT_EQ(Verdict(R"({"properties": {"a": {"$ref": "#"}}})", R"({"a": {"a": {}}})"), "ok");
}

TEST(SchemaCompilerTest, ChainsHaveAnEnd) {
  const auto chain = [](std::size_t length) {
    std::string schema = "{}";
    for (std::size_t i = 1; i < length; ++i) {
      schema = "{\"not\": " + schema + "}";
    }
    return Json(schema);
  };
  EXPECT_TRUE(Compile(chain(kMaxSchemaChain)).ok());
  EXPECT_THAT(VerdictOf(chain(kMaxSchemaChain + 1), JsonValue(0)), HasSubstr("too many schemas"));
}

TEST(SchemaCompilerTest, SchemasAreCounted) {
  const auto wide = [](std::size_t parts) {
    JsonArray list;
    for (std::size_t i = 0; i < parts; ++i) {
      list.emplace_back(JsonObject());
    }
    return JsonValue(JsonObject({{"allOf", list}}));
  };
  EXPECT_TRUE(Compile(wide(kMaxSchemaNodes - 1)).ok());
  EXPECT_THAT(VerdictOf(wide(kMaxSchemaNodes), JsonValue(0)), HasSubstr("are in use"));
}

TEST(SchemaCompilerTest, WhatADialectDoesNotKnowIsARemark) {
  const char* const schema = R"({"const": 1, "patternProperties": {"(": {}}, "if": 1,
                                 "dependentSchemas": 5, "$id": 7})";
  EXPECT_EQ(Verdict(schema, "2", SchemaDialect::kOpenApi30), "ok");
  EXPECT_EQ(Verdict(R"({"$ref": "#/d", "maximum": 1, "d": {"type": "integer"}})", "2",
                    SchemaDialect::kOpenApi30),
            "ok");
}

}  // namespace
}  // namespace api
