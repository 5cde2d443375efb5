#include "api/spec_schema/validator.h"

#include <gmock/gmock.h>

#include "tests/api/spec_schema/testing.h"

namespace api {
namespace {

using schema_test::Compile;
using schema_test::Json;
using schema_test::Verdict;
using schema_test::VerdictOf;
using testing::HasSubstr;

TEST(ValidatorTest, SaysWhereAndWhat) {
  const char* const schema = R"({
    "type": "object", "required": ["region", "nodes"], "additionalProperties": false,
    "properties": {
      "region": {"type": "string", "minLength": 2, "pattern": "^[a-z-]+$"},
      "size": {"type": "integer", "minimum": 1, "maximum": 10},
      "tier": {"enum": ["small", "large"]},
      "nodes": {"type": "array", "uniqueItems": true, "items": {
        "type": "object", "properties": {"name": {"type": ["string", "null"]}}}}}})";
  EXPECT_EQ(Verdict(schema, R"({"region":"eu-west","nodes":[],"size":10,"tier":"small"})"), "ok");
  EXPECT_EQ(Verdict(schema, R"({"region":"E","size":11,"tier":1,"nodes":[{"name":1}],"x":0})"),
            "spec.region must have at least 2 characters [min_length]\n"
            "spec.size must be at most 10 [max]\n"
            "spec.tier must be one of \"small\", \"large\" [enum]\n"
            "spec.nodes.0.name must be a string or null [format]\n"
            "spec.x is not a property of the schema\n");
  EXPECT_EQ(Verdict(schema, R"({"size":1.5,"nodes":[{},{}]})"),
            "spec.region is required [required]\n"
            "spec.size must be an integer [format]\n"
            "spec.nodes must not have an element twice [unique]\n");
  EXPECT_EQ(Verdict(schema, R"({"region":"EU","nodes":7})"),
            "spec.region must match the pattern ^[a-z-]+$ [pattern]\n"
            "spec.nodes must be an array [format]\n");
}

TEST(ValidatorTest, IsExactWithNumbers) {
  const char* const limit = R"({"maximum": 9007199254740992})";
  EXPECT_EQ(Verdict(limit, "9007199254740992"), "ok");
  EXPECT_EQ(Verdict(limit, "9007199254740993"), "spec must be at most 9007199254740992 [max]\n");
  EXPECT_EQ(Verdict(R"({"const": 18446744073709551615})", "18446744073709551614"),
            "spec must be 18446744073709551615 [enum]\n");
  EXPECT_EQ(Verdict(R"({"multipleOf": 0.01})", "0.07"), "ok");
  EXPECT_EQ(Verdict(R"({"multipleOf": 0.01})", "0.075"), "spec must be a multiple of 0.01\n");
}

TEST(ValidatorTest, TellsAtMostTwentyThings) {
  std::string many = "[0";
  for (int i = 0; i < 100; ++i) {
    many += ",0";
  }
  const auto program = Compile(Json(R"({"items": {"type": "string"}})"));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(CheckAgainst(*program, Json(many + "]"), "spec").size(), kMaxSchemaErrors);
}

TEST(ValidatorTest, NullableIsOfOpenApi30Only) {
  const char* const schema = R"({"type": "string", "enum": ["a"], "nullable": true})";
  EXPECT_EQ(Verdict(schema, "null", SchemaDialect::kOpenApi30), "ok");
  EXPECT_EQ(Verdict(schema, "null"), "spec must be a string [format]\n");
  EXPECT_EQ(Verdict(R"({"nullable": true, "enum": ["a"]})", "null", SchemaDialect::kOpenApi30),
            "spec must be one of \"a\" [enum]\n");
}

TEST(ValidatorTest, FormatsAreDemandedWhereAsked) {
  EXPECT_EQ(Verdict(R"({"format": "date"})", "\"2024-02-30\""),
            "spec must have the format date [format]\n");
  EXPECT_EQ(Verdict(R"({"format": "int32"})", "2147483648"),
            "spec must have the format int32 [format]\n");
  EXPECT_EQ(Verdict(R"({"format": "email"})", "\"nobody\""), "ok");
}

// The same schema is found wrong first where it is not to be told, then where it is.
TEST(ValidatorTest, WhatIsRememberedIsStillTold) {
  const char* const schema = R"({
    "$defs": {"text": {"type": "string"}},
    "properties": {"a": {"anyOf": [{"$ref": "#/$defs/text"}, {"type": "integer"}],
                         "$ref": "#/$defs/text"}}})";
  EXPECT_EQ(Verdict(schema, R"({"a": 1})"), "spec.a must be a string [format]\n");
  EXPECT_EQ(Verdict(schema, R"({"a": true})"),
            "spec.a must be a string [format]\n"
            "spec.a matches none of the alternatives (anyOf)\n");
}

// Each level demands the next one of the same member twice, once in vain: 2^30 ways without a
// memory, which would use up the budget.
TEST(ValidatorTest, SharedSchemasAreRunOnce) {
  std::string defs;
  for (int i = 0; i < 30; ++i) {
    const std::string next = "{\"$ref\": \"#/$defs/d" + std::to_string(i + 1) + "\"}";
    defs += "\"d" + std::to_string(i) +
            "\": {\"anyOf\": [{\"allOf\": [{\"properties\": {\"a\": " + next +
            "}}, false]}, {\"properties\": {\"a\": " + next + "}}]},";
  }
  const JsonValue schema =
      Json("{\"$defs\": {" + defs + R"("d30": {"type": "string"}}, "$ref": "#/$defs/d0"})");
  std::string value = "\"deep\"";
  for (int i = 0; i < 30; ++i) {
    value = "{\"a\": " + value + "}";
  }
  EXPECT_EQ(VerdictOf(schema, Json(value)), "ok");
}

TEST(ValidatorTest, ABudgetEndsSchemasWithoutMeasure) {
  std::string all = "{}";
  for (int i = 0; i < 6000; ++i) {
    all += ",{}";
  }
  const JsonValue schema = Json("{\"items\": {\"allOf\": [" + all + "]}}");
  std::string many = "[0";
  for (int i = 0; i < 400; ++i) {
    many += ",0";
  }
  EXPECT_EQ(VerdictOf(schema, Json(many + "]")), "spec is too large for its schema\n");
  EXPECT_EQ(VerdictOf(schema, Json("[0]")), "ok");
}

TEST(ValidatorTest, RecursionGoesAsDeepAsValuesDo) {
  std::string value = "1";
  for (std::size_t i = 0; i < kMaxJsonDepth; ++i) {
    value = "[" + value + "]";
  }
  const JsonValue schema = Json(R"({"type": ["array", "integer"], "items": {"$ref": "#"}})");
  EXPECT_EQ(VerdictOf(schema, Json(value)), "ok");
  EXPECT_THAT(VerdictOf(Json(R"({"type": "array", "items": {"$ref": "#"}})"), Json(value)),
              HasSubstr(".0.0.0 must be an array"));
}

TEST(ValidatorTest, UnevaluatedMembersAreWhatNoSchemaLookedAt) {
  const char* const schema = R"({
    "$defs": {"a": {"properties": {"a": {}}}},
    "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
    "anyOf": [{"properties": {"b": {"const": 1}}, "required": ["b"]}, {"properties": {"c": {}}}],
    "unevaluatedProperties": false})";
  EXPECT_EQ(Verdict(schema, R"({"a": 1, "b": 1, "c": 1})"), "ok");
  EXPECT_EQ(Verdict(schema, R"({"a": 1, "b": 2, "c": 1})"), "spec.b is not allowed\n");
}

}  // namespace
}  // namespace api
