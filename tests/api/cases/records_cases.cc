// The records of a stream.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_P(RecordsCases, ArePagedAndDecoded) {
  for (int i = 0; i < 3; ++i) {
    MakeChannel(FreshName("paged"));
  }
  std::uint64_t expected = 1;
  std::string target = "/api/v1/streams/resources/records?limit=2";
  for (int pages = 0; pages < 1000; ++pages) {
    const Answer answer = AsAdmin("GET", target);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const api::JsonValue page = answer.Json();
    for (const api::JsonValue& record : Member(page, "records").as_array()) {
      EXPECT_EQ(Text(record, "position"), std::to_string(expected++));
      EXPECT_EQ(Text(record, "stream"), "resources");
      EXPECT_THAT(Text(Member(record, "record"), "type"), testing::StartsWith("resource"));
    }
    if (Text(page, "next").empty()) {
      EXPECT_GE(expected, std::stoull(Text(page, "head")) + 1);
      break;
    }
    target = "/api/v1/streams/resources/records?limit=2&from=" + Text(page, "next");
  }
  EXPECT_GT(expected, 3u);
}

TEST_P(RecordsCases, ThoseOfTheAuditAreItsEntries) {
  MakeChannel(FreshName("audited"));
  const Answer answer = AsAdmin("GET", "/api/v1/streams/audit/records?from=1&limit=1");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const api::JsonValue page = answer.Json();
  EXPECT_EQ(Text(Member(Member(page, "records").as_array().at(0), "record"), "seq"), "1");
}

TEST_P(RecordsCases, BehindTheEndThereAreNone) {
  const Answer answer = AsAdmin("GET", "/api/v1/streams/resources/records?from=99999999");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"("records":[])"));
}

TEST_P(RecordsCases, RefuseWhatCannotBe) {
  const std::string path = "/api/v1/streams/resources/records";
  for (const std::string query : {"from=0", "from=x", "from=-1", "limit=0", "limit=1001"}) {
    EXPECT_EQ(AsAdmin("GET", path + "?" + query).status, 400) << query;
  }
  EXPECT_EQ(AsAdmin("GET", "/api/v1/streams/nothing/records").status, 404);
  EXPECT_EQ(Get(path).status, 401);
}

}  // namespace
}  // namespace cases
