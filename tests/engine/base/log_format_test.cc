#include "engine/base/log_format.h"

#include <functional>

#include <gmock/gmock.h>

#include "tests/support/logs.h"

namespace engine {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// The last line that `log` writes in this format.
std::string LineIn(LogFormat format, const std::function<void()>& log) {
  SetLogFormat(std::move(format));
  log();
  SetLogFormat({});
  const std::vector<std::string> lines = support::LogLines();
  return lines.empty() ? std::string() : lines.back();
}

const LogFormat kNamed = {.component = "api", .version = "1.2", .hostname = "pod-1"};

TEST(LogFormatTest, EveryLineSaysWhoWroteIt) {
  const std::string line =
      LineIn(kNamed, [] { Log(Severity::kWarning, "slow", {{"attempt", 3}, {"done", true}}); });
  EXPECT_THAT(line, StartsWith(R"({"timestamp":")"));
  EXPECT_THAT(line, EndsWith(R"("level":"warn","message":"slow","component":"api",)"
                             R"("version":"1.2","hostname":"pod-1","attempt":3,"done":true})"));
  EXPECT_THAT(LineIn({}, [] { Log(Severity::kInfo, "m"); }), Not(HasSubstr("component")));
}

TEST(LogFormatTest, TextHasItsPartsInBrackets) {
  LogFormat format = kNamed;
  format.is_text = true;
  const std::string line = LineIn(format, [] {
    Log(Severity::kWarning, "not reached", {{"host", "db"}, {"why", "no route"}, {"left", 2}});
  });
  EXPECT_THAT(line, MatchesRegex("[0-9T:.-]+Z WARN \\[api\\] \\[1.2\\] \\[pod-1\\] not reached "
                                 "host=db why=\"no route\" left=2"));
}

TEST(LogFormatTest, NoTextMakesASecondLineOrASecondField) {
  const std::string line = LineIn({.is_text = true}, [] {
    Log(Severity::kInfo, "a\nb", {{"path", "x\ny level=info"}, {"empty", ""}, {"quote", "a\"b"}});
  });
  EXPECT_THAT(line, EndsWith(R"("a\u000ab" path="x\u000ay level=info" empty="" quote="a\"b")"));
}

TEST(LogFormatTest, TextsUnderTheNameOfASecretAreMasked) {
  for (const bool is_text : {false, true}) {
    const std::string line =
        LineIn({.is_text = is_text, .masked_fields = {"password", "token"}}, [] {
          Log(Severity::kInfo, "m",
              {{"DB_Password", "hush"}, {"access_token", "hush"}, {"tokens", 7}, {"user", "anna"}});
        });
    EXPECT_THAT(line, Not(HasSubstr("hush")));
    EXPECT_THAT(line, HasSubstr("***REDACTED***"));
    EXPECT_THAT(line, HasSubstr("anna"));
    EXPECT_THAT(line, HasSubstr("7"));
  }
}

TEST(LogFormatTest, FieldsCanBeCollected) {
  const std::vector<LogField> fields = {{"a", 1}, {"b", "two"}};
  EXPECT_THAT(LineIn({}, [&] { LogFields(Severity::kInfo, "m", fields); }),
              EndsWith(R"("a":1,"b":"two"})"));
}

}  // namespace
}  // namespace engine
