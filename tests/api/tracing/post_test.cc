#include "api/tracing/post.h"

#include <gmock/gmock.h>

#include "api/tracing/otlp.h"
#include "tests/support/collector.h"

namespace api {
namespace {

using testing::HasSubstr;

class PostTest : public testing::Test {
 protected:
  Posted Post() { return PostSpans(options_, OtlpJson({}, {&span_, 1}), stop_); }

  support::Collector collector_;
  CollectorOptions options_{.url = collector_.url() + "/v1/traces",
                            .headers = {{"X-Tenant", "us"}}};
  const Span span_{.trace_id = std::string(32, 'a'), .span_id = std::string(16, 'b'), .name = "x"};
  std::atomic<bool> stop_{false};
};

TEST_F(PostTest, ABatchIsTaken) {
  const Posted posted = Post();
  EXPECT_EQ(posted.outcome, Posted::Outcome::kTaken) << posted.why;
  EXPECT_EQ(posted.rejected, 0U);
  ASSERT_EQ(collector_.spans().size(), 1U);
  EXPECT_EQ(collector_.spans()[0].Text("name"), "x");
  EXPECT_EQ(collector_.Header("Content-Type"), "application/json");
  EXPECT_EQ(collector_.Header("X-Tenant"), "us");
}

TEST_F(PostTest, OfAPartIsSaidHowMuch) {
  collector_.Set(200, R"({"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}})");
  const Posted posted = Post();
  EXPECT_EQ(posted.outcome, Posted::Outcome::kTaken);
  EXPECT_EQ(posted.rejected, 1U);
  EXPECT_EQ(posted.why, "too old");
}

TEST_F(PostTest, OverloadPassesAndRefusalsDoNot) {
  for (const int status : {429, 502, 503, 504}) {
    collector_.Set(status);
    EXPECT_EQ(Post().outcome, Posted::Outcome::kTryAgain) << status;
  }
  for (const int status : {301, 400, 401, 404, 413, 500}) {
    collector_.Set(status);
    EXPECT_EQ(Post().outcome, Posted::Outcome::kRefused) << status;
  }
  collector_.Set(503, "{}", "7");
  const Posted posted = Post();
  EXPECT_EQ(posted.wait, std::chrono::seconds(7));
  EXPECT_THAT(posted.why, HasSubstr("answered 503"));
}

TEST_F(PostTest, NobodyThereIsWorthAnotherTry) {
  options_.url = "http://127.0.0.1:1/v1/traces";
  const Posted posted = Post();
  EXPECT_EQ(posted.outcome, Posted::Outcome::kTryAgain);
  EXPECT_THAT(posted.why, HasSubstr("127.0.0.1:1"));
}

TEST_F(PostTest, OtherWaysThanHttpAreNotGone) {
  options_.url = "file:///etc/hostname";
  EXPECT_NE(Post().outcome, Posted::Outcome::kTaken);
}

}  // namespace
}  // namespace api
