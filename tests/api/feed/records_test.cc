// What the cases cannot bring about: compaction and damage.

#include <gmock/gmock.h>

#include "api/feed/routes.h"
#include "api/http/problem.h"
#include "engine/compactor.h"
#include "tests/api/dispatch/operators.h"
#include "tests/api/feed/feed_fixture.h"

namespace api {
namespace {

using dispatch_test::HookedEngine;
using dispatch_test::MakeRequest;
using dispatch_test::Slot;
using feed_test::Half;
using feed_test::Writer;
using testing::HasSubstr;

class RecordsTest : public testing::Test {
 protected:
  RecordsTest() {
    router_.AddFamily(ControlFamily());
    Writer(engine_.journal()).Write(0, 10);
    half_.emplace(engine_);
    dispatcher_.emplace(router_, half_->store(), workers_, operators_.admission(),
                        [](const std::function<void()>& task) { task(); });
    AddFeedRoutes(*dispatcher_, half_->feed());
  }
  Response Ask(const std::string& query) {
    Slot slot;
    router_.Dispatch(MakeRequest("GET", "/api/v1/streams/resources/records" + query,
                                 {{"Authorization", "Bearer token"}}),
                     slot.MakeResponder());
    return slot.Wait();
  }

  HookedEngine engine_;
  Router router_;
  dispatch_test::Operators operators_;
  std::optional<Half> half_;
  std::optional<Dispatcher> dispatcher_;
  Workers workers_{1, 8};
};

TEST_F(RecordsTest, BelowTheFloorTheyAreGone) {
  engine::Compactor compactor(engine_.journal(), {});
  ASSERT_OK(
      compactor.RaiseTo(schemas::kResourcesStream, engine::Position{5}, std::chrono::seconds(30)));
  EXPECT_EQ(Ask("?from=4").status, 410);
  EXPECT_EQ(Ask("?from=5").status, 200);
  const Response whole = Ask("");
  EXPECT_THAT(whole.body, HasSubstr(R"("records":[{"stream":"resources","position":5,)"));
  EXPECT_THAT(whole.body, HasSubstr(R"("floor":5,"head":10})"));
}

TEST_F(RecordsTest, ADamagedOneIsNotShown) {
  engine_.SetOnRows([](std::vector<engine::Record>& rows) { rows.front().at.micros += 1; });
  const Response refused = Ask("");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("damaged"));
}

}  // namespace
}  // namespace api
