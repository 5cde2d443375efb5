// The public JSON Schema suite, draft 4 and 2020-12, but for what is excluded by name below.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/spec_schema/compiler.h"
#include "api/spec_schema/validator.h"

namespace api {
namespace {

namespace fs = std::filesystem;

struct Exclusion {
  std::string_view file;
  std::string_view schema;  // The start of its description; empty: all of the file.
  std::string_view why;
};

constexpr std::string_view kNoFetching =
    "the schema refers to another document; nothing is fetched at run time";
constexpr std::string_view kNoDynamicScope =
    "$dynamicRef means another schema on each way to it; what is remembered about a value, which "
    "makes the time linear, would not be true of it. Refused by name";
constexpr std::string_view kNoVocabularies =
    "a metaschema of its own that switches keywords off; OpenAPI documents have none";
constexpr auto kExcluded = std::to_array<Exclusion>({
    {"draft4/refRemote.json", "", kNoFetching},
    {"draft4/definitions.json", "validate definition against metaschema", kNoFetching},
    {"draft4/ref.json", "remote ref, containing refs itself", kNoFetching},
    {"draft2020-12/refRemote.json", "", kNoFetching},
    {"draft2020-12/defs.json", "validate definition against metaschema", kNoFetching},
    {"draft2020-12/ref.json", "remote ref, containing refs itself", kNoFetching},
    {"draft2020-12/dynamicRef.json", "", kNoDynamicScope},
    {"draft2020-12/unevaluatedItems.json", "unevaluatedItems with $dynamicRef", kNoDynamicScope},
    {"draft2020-12/unevaluatedProperties.json", "unevaluatedProperties with $dynamicRef",
     kNoDynamicScope},
    {"draft2020-12/vocabulary.json", "schema that uses custom metaschema", kNoVocabularies},
});

bool IsExcluded(const std::string& file, std::string_view schema) {
  return std::ranges::any_of(kExcluded, [&](const Exclusion& exclusion) {
    return exclusion.file == file && schema.starts_with(exclusion.schema);
  });
}

fs::path SuiteFolder() {
  const char* const data = std::getenv("HALO_TEST_DATA");
  const fs::path root =
      data != nullptr ? fs::path(data) : fs::path(HALO_SOURCE_ROOT) / ".." / "shared" / "data";
  return root / "json-schema" / "tests";
}

std::string TextOf(const JsonValue& object, std::string_view key) {
  return std::string(object.get_object().at(key).as_string());
}

// What a file of the suite came to.
struct Tally {
  int tests = 0;
  int excluded = 0;
};

void RunSchema(const std::string& file, const JsonValue& group, const SchemaOptions& options,
               Tally& tally) {
  const auto& tests = group.get_object().at("tests").get_array();
  const std::string description = TextOf(group, "description");
  if (IsExcluded(file, description)) {
    tally.excluded += static_cast<int>(tests.size());
    return;
  }
  const JsonValue& schema = group.get_object().at("schema");
  SchemaIndex index(schema);
  const SchemaPlace root{&schema, "", "#"};
  const absl::Status added = index.Add(root, options.dialect);
  const auto program = CompileSchema(index, root, options);
  ASSERT_TRUE(added.ok() && program.ok())
      << file << ", " << description << ": " << added << " " << program.status();
  for (const JsonValue& test : tests) {
    const auto errors = CheckAgainst(*program, test.get_object().at("data"), "it");
    EXPECT_EQ(errors.empty(), test.get_object().at("valid").get_bool())
        << file << ", " << description << ", " << TextOf(test, "description") << ": "
        << (errors.empty() ? "accepted" : errors.front().message);
    ++tally.tests;
  }
}

// The parser refuses NUL in texts before any schema sees it; another control character serves.
std::string WithoutNul(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\u0000", at)) != std::string::npos;) {
    text[at + 5] = '1';
  }
  return text;
}

Tally RunFile(const fs::path& folder, const std::string& file, const SchemaOptions& options) {
  Tally tally;
  std::ifstream in(folder / file, std::ios::binary);
  const std::string text = WithoutNul({std::istreambuf_iterator<char>(in), {}});
  const JsonParse parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << file << ": " << parsed.error.message;
  if (parsed.ok()) {
    for (const JsonValue& group : parsed.value->get_array()) {
      RunSchema(file, group, options, tally);
    }
  }
  return tally;
}

Tally RunDraft(const fs::path& folder, const std::string& draft, SchemaDialect dialect) {
  Tally all;
  for (const auto& entry : fs::directory_iterator(folder / draft)) {
    if (entry.path().extension() == ".json") {
      const Tally one = RunFile(folder, draft + "/" + entry.path().filename().string(), {dialect});
      all.tests += one.tests;
      all.excluded += one.excluded;
    }
  }
  return all;
}

class SchemaSuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(folder_)) {
      GTEST_SKIP() << "no suite in " << folder_ << "; set HALO_TEST_DATA";
    }
  }

  const fs::path folder_ = SuiteFolder();
};

TEST_F(SchemaSuiteTest, Draft4) {
  const Tally tally = RunDraft(folder_, "draft4", SchemaDialect::kDraft4);
  EXPECT_GT(tally.tests, 580);
  EXPECT_LT(tally.excluded, 30);
}

TEST_F(SchemaSuiteTest, Draft202012) {
  const Tally tally = RunDraft(folder_, "draft2020-12", SchemaDialect::k202012);
  EXPECT_GT(tally.tests, 1200);
  EXPECT_LT(tally.excluded, 90);
}

// Not demanded of anybody by the drafts; these we hold.
TEST_F(SchemaSuiteTest, OptionalParts) {
  for (const std::string file :
       {"draft4/optional/non-bmp-regex.json", "draft4/optional/float-overflow.json",
        "draft4/optional/format/date-time.json", "draft4/optional/id.json"}) {
    RunFile(folder_, file, {SchemaDialect::kDraft4, true});
  }
  for (const std::string file :
       {"draft2020-12/optional/non-bmp-regex.json", "draft2020-12/optional/float-overflow.json",
        "draft2020-12/optional/ecmascript-regex.json", "draft2020-12/optional/anchor.json",
        "draft2020-12/optional/id.json", "draft2020-12/optional/no-schema.json",
        "draft2020-12/optional/unknownKeyword.json",
        "draft2020-12/optional/refOfUnknownKeyword.json",
        "draft2020-12/optional/format/date-time.json", "draft2020-12/optional/format/date.json",
        "draft2020-12/optional/format/unknown.json"}) {
    RunFile(folder_, file, {SchemaDialect::k202012, true});
  }
}

}  // namespace
}  // namespace api
