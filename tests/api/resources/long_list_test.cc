// Lists that take long: what goes on beside them, and how they end. A list asks the clock of its
// request now and then, so that clock is where a test holds it.

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "api/control/routes.h"
#include "api/resources/routes.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/api/dispatch/operators.h"

namespace api {
namespace {

using dispatch_test::HeaderOf;
using dispatch_test::MakeRequest;
using dispatch_test::Slot;
using testing::HasSubstr;

constexpr char kChannels[] = "/api/hyperfleet/v1/channels";
constexpr char kLongSearch[] = "/api/hyperfleet/v1/channels?search=spec.x%3D1";
constexpr int kResources = 1100;  // More than a list looks at on the I/O thread.
const HeaderField kAdmin = {"Authorization", "Bearer token"};

// Says what it is told to say.
class HandClock final : public engine::Clock {
 public:
  explicit HandClock(std::function<engine::Duration()> since_boot)
      : since_boot_(std::move(since_boot)) {}

  engine::Timestamp Now() const override { return {1}; }
  engine::Duration SinceBoot() const override { return since_boot_(); }

 private:
  const std::function<engine::Duration()> since_boot_;
};

class LongListTest : public testing::Test {
 protected:
  void SetUp() override {
    router_.AddFamily(HyperfleetFamily());
    router_.AddFamily(ControlFamily());
    ASSERT_OK_AND_ASSIGN(store_, Store::Open(engine_, projections::MainProjections(),
                                             projections::AuditProjections(), {}));
    dispatcher_.emplace(router_, *store_, workers_, operators_.admission(),
                        [](const std::function<void()>& task) { task(); });
    AddResourceRoutes(*dispatcher_, registry_, schemas_, reconciliations_);
    AddControlRoutes(*dispatcher_);
    for (int i = 0; i < kResources; ++i) {
      ASSERT_EQ(Make("c" + std::to_string(i), "{\"x\":" + std::to_string(i % 2) + "}").status, 201);
    }
  }

  Response Ask(const std::string& method, const std::string& target, const std::string& body = "") {
    Slot slot;
    router_.Dispatch(MakeRequest(method, target, {kAdmin}, body), slot.MakeResponder());
    return slot.Wait();
  }
  Response Make(const std::string& name, const std::string& spec) {
    return Ask("POST", kChannels,
               R"({"kind":"Channel","name":")" + name + R"(","spec":)" + spec + "}");
  }
  // A request for the long list that has 30 seconds of `clock`.
  static std::shared_ptr<Request> LongSearch(const HandClock& clock) {
    RequestParts parts;
    parts.target = kLongSearch;
    parts.headers = {{"Host", "halo.example"}, kAdmin};
    parts.deadline = engine::Deadline::After(std::chrono::seconds(30), clock);
    return std::make_shared<Request>(std::move(parts));
  }

  dispatch_test::HookedEngine engine_;
  Router router_;
  dispatch_test::Operators operators_;
  const projections::Registry registry_ = projections::Registry::Stock();
  SpecSchemas schemas_;
  Reconciliations reconciliations_;
  std::unique_ptr<Store> store_;
  Workers workers_{2, 16};
  std::optional<Dispatcher> dispatcher_;
};

// As many as there are workers, and more, are held in the middle of their work. What must not wait
// for them is answered all the same: small writes, writes that a worker has to read, and what is
// proven.
TEST_F(LongListTest, DelaysNoWriteAndNoProvenRead) {
  std::latch looking(1);
  std::latch release(1);
  std::atomic<bool> armed = false;
  std::atomic<int> looks = 0;
  const HandClock clock([&]() -> engine::Duration {
    if (armed && ++looks == 2) {
      looking.count_down();
      release.wait();
    }
    return engine::Duration::zero();
  });
  std::vector<Slot> searches(3);
  std::vector<std::shared_ptr<Request>> requests;
  for (int i = 0; i < 3; ++i) {
    requests.push_back(LongSearch(clock));
  }
  armed = true;
  for (int i = 0; i < 3; ++i) {
    router_.Dispatch(requests[static_cast<std::size_t>(i)],
                     searches[static_cast<std::size_t>(i)].MakeResponder());
  }
  looking.wait();
  EXPECT_EQ(Make("small", "{}").status, 201);
  const std::string large = R"({"text":")" + std::string(200 << 10, 'x') + R"("})";
  EXPECT_EQ(Make("large", large).status, 201);
  const Response proven = Ask("GET", "/api/v1/killswitch");
  EXPECT_EQ(proven.status, 200) << proven.body;
  for (Slot& search : searches) {
    EXPECT_FALSE(search.Answered());
  }
  release.count_down();
  for (Slot& search : searches) {
    const Response found = search.Wait();
    EXPECT_EQ(found.status, 200);
    EXPECT_THAT(found.body, HasSubstr("\"total\":550"));
  }
}

TEST_F(LongListTest, EndsAtTheDeadlineOfItsRequest) {
  std::atomic<int> looks = 0;
  // Time passes while the list is made.
  const HandClock clock(
      [&looks] { return ++looks == 3 ? std::chrono::seconds(31) : std::chrono::seconds(0); });
  Slot slot;
  router_.Dispatch(LongSearch(clock), slot.MakeResponder());  // The first look.
  const Response ended = slot.Wait();
  EXPECT_EQ(ended.status, 503);
  EXPECT_EQ(HeaderOf(ended, "Retry-After"), "1");
  EXPECT_THAT(ended.body, HasSubstr("HYPERFLEET-SVC-001"));
  EXPECT_THAT(ended.body, HasSubstr("took longer than a request may"));
  EXPECT_EQ(looks, 3);
}

TEST_F(LongListTest, EndsWhenItsClientHasGone) {
  // Goes away when the list has begun.
  class GoingSink final : public AnswerSink {
   public:
    void Answer(Response response) override {
      status = response.status;
      done.count_down();
    }
    void Abandon() override { done.count_down(); }
    bool Gone() const override { return asked++ > 0; }
    mutable std::atomic<int> asked = 0;
    std::atomic<int> status = 0;
    std::latch done{1};
  };
  const HandClock clock([] { return engine::Duration::zero(); });
  const auto sink = std::make_shared<GoingSink>();
  router_.Dispatch(LongSearch(clock), Responder(sink));
  sink->done.wait();
  EXPECT_EQ(sink->status, 503);  // Nobody reads it.
  EXPECT_EQ(sink->asked, 2);
}

}  // namespace
}  // namespace api
