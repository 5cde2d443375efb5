// TransportTest: a transport on a free port, and a lot where handlers leave their responders.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/http/problem.h"
#include "api/http/transport.h"
#include "engine/base/mutex.h"
#include "tests/api/http/raw_client.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace api {

using support::RawAnswer;
using support::RawClient;

inline bool Eventually(const std::function<bool()>& condition) {
  return support::WaitFor(condition, engine::Deadline::After(std::chrono::seconds(10)));
}

// Where handlers leave their responders, for the test to answer them from its own thread.
class Lot {
 public:
  void Park(RequestPtr request, Responder responder) {
    engine::MutexLock lock(mutex_);
    parked_.emplace_back(std::move(request), std::move(responder));
    changed_.SignalAll();
  }

  // Waits until `count` are there and takes them.
  std::vector<std::pair<RequestPtr, Responder>> Take(std::size_t count) {
    engine::MutexLock lock(mutex_);
    while (parked_.size() < count) {
      changed_.Wait(mutex_);
    }
    return std::exchange(parked_, {});
  }

  void AnswerAll(std::size_t count) {
    for (auto& [request, responder] : Take(count)) {
      responder.Answer(TextResponse(200, "late " + std::string(request->path())));
    }
  }

 private:
  engine::Mutex mutex_;
  engine::CondVar changed_;
  std::vector<std::pair<RequestPtr, Responder>> parked_ ABSL_GUARDED_BY(mutex_);
};

class TransportTest : public testing::Test {
 protected:
  TransportTest() {
    router_.AddFamily(ControlFamily());
    router_.AddFamily(HyperfleetFamily());
    router_.Handle(Method::kGet, "/hello", [](const RequestPtr& request, Responder responder) {
      responder.Answer(TextResponse(200, "hello " + std::string(request->Query("n").value_or(""))));
    });
    router_.Handle(Method::kPost, "/api/hyperfleet/v1/echo",
                   [](const RequestPtr& request, Responder responder) {
                     responder.Answer(TextResponse(200, std::string(request->body())));
                   });
    router_.Handle(Method::kGet, "/park/{n}", [this](RequestPtr request, Responder responder) {
      lot_.Park(std::move(request), std::move(responder));
    });
    router_.Handle(Method::kGet, "/readyz",
                   [](const RequestPtr&, Responder responder) {
                     responder.Answer(TextResponse(200, "ready"));
                   },
                   {.never_refused = true});
  }

  void Start(TransportOptions options = {}) {
    transport_ = std::make_unique<Transport>(options);
    ASSERT_OK_AND_ASSIGN(address_, transport_->Listen("127.0.0.1:0", router_));
    transport_->Start();
  }

  RawClient Connect() { return RawClient(address_); }

  // Sends `bytes` on a fresh connection and expects `status`, then the end of the connection.
  void ExpectRefused(const std::string& bytes, int status) {
    RawClient client = Connect();
    client.Send(bytes);
    EXPECT_EQ(client.Read().status, status) << bytes;
    EXPECT_TRUE(client.IsClosedByPeer()) << bytes;
  }

  bool ParkedBecomes(std::size_t count) {
    return Eventually([&] { return transport_->stats().parked == count; });
  }

  Lot lot_;
  Router router_;
  std::unique_ptr<Transport> transport_;
  std::string address_;
};

}  // namespace api
