#include "api/resources/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/dispatch/hooked_engine.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using testing::HasSubstr;

constexpr std::string_view kDocument =
    R"({"id":"1","kind":"Cluster","name":"n","spec":{"name":"no","a":[1]},"generation":2,)"
    R"("status":{"conditions":[{"type":"A","status":"True","reason":"x"},)"
    R"({"type":"B","status":"False"}]}})";

// What is shown, or what is wrong.
std::string Shown(const std::string& query) {
  const auto request = MakeRequest("GET", "/x?" + query);
  const auto parsed = FieldSelection::Parse(*request);
  if (const auto* problem = std::get_if<Problem>(&parsed)) {
    EXPECT_EQ(problem->code, ProblemCode::kValidation);
    return problem->detail;
  }
  std::string out;
  std::get<FieldSelection>(parsed).Append(kDocument, out);
  return out;
}

TEST(FieldSelectionTest, ShowsWhatIsAskedForAndTheId) {
  EXPECT_EQ(Shown("fields=kind,name"), R"({"id":"1","kind":"Cluster","name":"n"})");
  EXPECT_EQ(Shown("fields=name&fields=%20generation%20,"),
            R"({"id":"1","name":"n","generation":2})");
  EXPECT_EQ(Shown("fields=spec"), R"({"id":"1","spec":{"name":"no","a":[1]}})");
  EXPECT_EQ(Shown("fields=deleted_time"), R"({"id":"1"})");
}

TEST(FieldSelectionTest, NothingAskedForIsEverything) {
  EXPECT_EQ(Shown(""), kDocument);
  EXPECT_EQ(Shown("fields="), kDocument);
  EXPECT_EQ(Shown("fields=%20,&fields="), kDocument);
}

TEST(FieldSelectionTest, MembersOfConditions) {
  constexpr std::string_view kAll =
      R"({"id":"1","status":{"conditions":[{"type":"A","status":"True","reason":"x"},)"
      R"({"type":"B","status":"False"}]}})";
  for (const char* fields : {"status.conditions", "status.*", "status.conditions.*",
                             "status.conditions.type,status.*"}) {
    EXPECT_EQ(Shown(std::string("fields=") + fields), kAll) << fields;
  }
  EXPECT_EQ(Shown("fields=status.conditions.reason,status.conditions.type"),
            R"({"id":"1","status":{"conditions":[{"type":"A","reason":"x"},{"type":"B"}]}})");
}

TEST(FieldSelectionTest, WhatIsNoFieldIsNamed) {
  for (const char* field : {"status", "spec.a", "Name", "conditions", "status.conditions.x",
                            "status.conditions.", "id.x"}) {
    EXPECT_THAT(Shown(std::string("fields=name,") + field),
                HasSubstr("there is no field '" + std::string(field) + "'"));
  }
}

TEST(FieldSelectionTest, OfVeryManyThatAreNoneOnlySomeAreNamed) {
  std::string query = "fields=x";
  for (int i = 0; i < 1000; ++i) {
    query += ",x";
  }
  const auto parsed = FieldSelection::Parse(*MakeRequest("GET", "/x?" + query));
  EXPECT_EQ(std::get<Problem>(parsed).errors.size(), 20U);
}

}  // namespace
}  // namespace api
