// What a server answers against the document that it serves, judged by a validator of others. The
// behaviour cases do the same with ours (tests/support/json_schema.h): one of the two would notice
// where the other reads a schema wrongly.

#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "api/json/parser.h"
#include "tests/outside/outside.h"
#include "tests/support/halo_server.h"
#include "tests/support/status_matchers.h"

namespace outside {
namespace {

using support::HaloServer;
using support::TestStore;
using testing::Contains;
using testing::ContainsRegex;
using testing::IsEmpty;

struct Judgement {
  std::int64_t checked = 0;
  std::vector<std::string> operations;
  std::vector<std::string> violations;
};

std::vector<std::string> Texts(const api::JsonValue& list) {
  std::vector<std::string> texts;
  for (const api::JsonValue& text : list.as_array()) {
    texts.emplace_back(text.as_string());
  }
  return texts;
}

class AnswersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Has("ajv") || !Has("ajv-formats")) {
      GTEST_SKIP() << kMissing;
    }
  }

  // answers.mjs over a server that has nothing yet.
  static Judgement Judge(const TestStore& store, bool tamper) {
    const auto server = HaloServer::Start(store, {"--max-body", "65536"});
    EXPECT_OK(server);
    if (!server.ok()) {
      return {};
    }
    const std::string token = HaloServer::Admin().front().second.substr(sizeof("Bearer"));
    const auto ran = support::RunProcess(
        {.argv = {"node", Path("answers.mjs"),
                  absl::StrFormat(R"({"url":"%s","token":"%s","tamper":%s})", (*server)->url(),
                                  token, tamper ? "true" : "false")}},
        engine::Deadline::After(std::chrono::minutes(5)));
    EXPECT_OK(ran);
    EXPECT_OK((*server)->Stop());
    const api::JsonParse said = api::ParseJson(ran.ok() ? ran->out : "");
    EXPECT_TRUE(said.ok()) << (ran.ok() ? ran->err : "");
    if (!said.ok()) {
      return {};
    }
    return {said.value->at("checked").as_int64(), Texts(said.value->at("operations")),
            Texts(said.value->at("violations"))};
  }
};

TEST_F(AnswersTest, FitTheDocumentOnFiles) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  const Judgement judgement = Judge(*store, false);
  EXPECT_THAT(judgement.violations, IsEmpty());
  EXPECT_GE(judgement.checked, 60);
  EXPECT_GE(judgement.operations.size(), 25U);
}

TEST_F(AnswersTest, FitTheDocumentOnPostgres) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnPostgres());
  EXPECT_THAT(Judge(*store, false).violations, IsEmpty());
}

// So that silence means something.
TEST_F(AnswersTest, DoNotFitAnotherDocument) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  const std::vector<std::string> violations = Judge(*store, true).violations;
  EXPECT_THAT(violations, Contains(ContainsRegex("^POST .*/clusters: .*additional properties")));
  EXPECT_THAT(violations, Contains(ContainsRegex("^PUT .*/statuses: .*must be integer")));
  EXPECT_THAT(violations, Contains(ContainsRegex("^POST .*/channels: 409 is not documented")));
}

}  // namespace
}  // namespace outside
