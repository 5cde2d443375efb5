// Reads that take long are answered by workers: the I/O thread goes on.

#include <string>

#include <gmock/gmock.h>

#include "api/server/server.h"
#include "engine/memory/memory.h"
#include "schemas/streams.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using dispatch_test::Slot;

constexpr char kChannels[] = "/api/hyperfleet/v1/channels";

// Whether this thread dispatches requests, as the I/O thread does.
thread_local bool dispatches = false;

class LongReadsTest : public testing::Test {
 protected:
  LongReadsTest() {
    auto server = Server::Start(*engine_, {});
    EXPECT_OK(server);
    server_ = *std::move(server);
  }

  void Make(const std::string& name, std::size_t bytes = 0) {
    Slot slot;
    server_->router().Dispatch(
        MakeRequest("POST", kChannels, {},
                    R"({"kind":"Channel","name":")" + name + R"(","spec":{"a":")" +
                        std::string(bytes, 'x') + "\"}}"),
        slot.MakeResponder());
    ASSERT_EQ(slot.Wait().status, 201);
  }

  struct Read {
    Response response;
    bool here = false;  // Answered by the thread that dispatched it.
  };
  Read Get(const std::string& query) {
    struct Seen {
      engine::Mutex mutex;
      engine::CondVar answered;
      std::optional<Read> read ABSL_GUARDED_BY(mutex);
    };
    const auto seen = std::make_shared<Seen>();
    dispatches = true;
    server_->router().Dispatch(
        MakeRequest("GET", std::string(kChannels) + "?freshness=cached&" + query),
        Responder([seen](Response response) {
          engine::MutexLock lock(seen->mutex);
          seen->read = Read{std::move(response), dispatches};
          seen->answered.SignalAll();
        }));
    dispatches = false;
    engine::MutexLock lock(seen->mutex);
    while (!seen->read) {
      seen->answered.Wait(seen->mutex);
    }
    return *seen->read;
  }

  const std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
  std::unique_ptr<Server> server_;
};

TEST_F(LongReadsTest, AnotherOrderOfALongListIsMadeByAWorker) {
  for (int i = 0; i < 1000; ++i) {
    Make("c" + std::to_string(1000 + i));
  }
  EXPECT_TRUE(Get("order=name&size=1").here);
  Make("b");
  const Read ordered = Get("order=name&size=1");
  EXPECT_FALSE(ordered.here);
  EXPECT_EQ(ordered.response.status, 200);
  EXPECT_THAT(ordered.response.body, testing::HasSubstr("\"name\":\"b\""));
  EXPECT_THAT(ordered.response.body, testing::HasSubstr("\"total\":1001"));
  EXPECT_TRUE(Get("size=1").here);
}

TEST_F(LongReadsTest, ALargePageIsWrittenDownByAWorker) {
  for (const std::string name : {"a", "b", "c"}) {
    Make(name, 400 << 10);
  }
  EXPECT_TRUE(Get("size=2").here);
  const Read large = Get("size=3");
  EXPECT_FALSE(large.here);
  EXPECT_GT(large.response.body.size(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace api
