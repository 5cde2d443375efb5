// Requests that wait for their answers, and what becomes of them at the end.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "engine/base/thread.h"
#include "tests/api/http/transport_fixture.h"
#include "tests/support/logs.h"

namespace api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

using TransportParkTest = TransportTest;

// ---- Parked requests ----------------------------------------------------------------------------

std::size_t EntryCount(const std::string& directory) {
  const std::filesystem::directory_iterator entries(directory);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

std::size_t ThreadCount() {
  return EntryCount("/proc/self/task");
}

TEST_F(TransportParkTest, AThousandParkedRequestsNeedNoMoreThreadsThanTen) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
  Start();
  std::vector<RawClient> clients;
  const auto park_until = [&](std::size_t count) {
    while (clients.size() < count) {
      clients.push_back(Connect());
      clients.back().Request("GET", "/park/" + std::to_string(clients.size()));
    }
    return ParkedBecomes(count);
  };
  ASSERT_TRUE(park_until(10));
  const std::size_t threads = ThreadCount();
  ASSERT_TRUE(park_until(1000));
  EXPECT_EQ(ThreadCount(), threads);
  engine::Thread answerer("answerer", [&] { lot_.AnswerAll(1000); });
  for (std::size_t i = 0; i < clients.size(); ++i) {
    ASSERT_EQ(clients[i].Read().body, "late /park/" + std::to_string(i + 1));
  }
  EXPECT_TRUE(ParkedBecomes(0));
}

// ---- Answers that nobody takes ------------------------------------------------------------------

// More than the kernel buffers for a connection of the loopback.
constexpr std::size_t kLarge = std::size_t{32} << 20;

TEST_F(TransportParkTest, TheSlowestClientMakesRoom) {
  router_.Handle(Method::kGet, "/large", [](const RequestPtr&, Responder responder) {
    responder.Answer(TextResponse(200, std::string(kLarge, 'x')));
  });
  Start({.max_unsent = kLarge + kLarge / 4});
  RawClient slow = Connect();
  slow.Request("GET", "/large");
  ASSERT_TRUE(Eventually([&] { return transport_->stats().unsent > 0; }));
  RawClient next = Connect();
  next.Request("GET", "/large");
  ASSERT_TRUE(Eventually([&] { return transport_->stats().cut_off > 0; }));
  EXPECT_EQ(next.Read().body.size(), kLarge);
  EXPECT_EQ(transport_->stats().cut_off, 1u);
  EXPECT_TRUE(slow.IsClosedByPeer());
  EXPECT_TRUE(Eventually([&] { return transport_->stats().unsent == 0; }));
  EXPECT_THAT(support::LogLines(), testing::Contains(HasSubstr("cut off")));
}

TEST_F(TransportParkTest, AnAnswerOverTheBoundIsSentWhenItIsTheOnlyOne) {
  router_.Handle(Method::kGet, "/large", [](const RequestPtr&, Responder responder) {
    responder.Answer(TextResponse(200, std::string(kLarge, 'x')));
  });
  Start({.max_unsent = 1});
  RawClient client = Connect();
  client.Request("GET", "/large");
  ASSERT_TRUE(Eventually([&] { return transport_->stats().unsent > 0; }));
  EXPECT_EQ(client.Read().body.size(), kLarge);
  EXPECT_EQ(transport_->stats().cut_off, 0u);
}

TEST_F(TransportParkTest, FullQueueRefusesAllButWhatIsNeverRefused) {
  Start({.max_queue = 2});
  std::vector<RawClient> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(Connect());
    clients.back().Request("GET", "/park/1");
  }
  ASSERT_TRUE(ParkedBecomes(2));
  RawClient client = Connect();
  client.Request("GET", "/park/3");
  const RawAnswer refused = client.Read();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.Header("Retry-After"), "1");
  EXPECT_EQ(transport_->stats().refused, 1U);
  client.Request("GET", "/readyz");
  EXPECT_EQ(client.Read().body, "ready");
  lot_.AnswerAll(2);
  ASSERT_TRUE(ParkedBecomes(0));
  client.Request("GET", "/hello");
  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(TransportParkTest, ClientThatGoesAwayFreesItsPlace) {
  Start({.max_queue = 2});
  {
    RawClient reset = Connect();
    RawClient closed = Connect();
    reset.Request("GET", "/park/1");
    closed.Request("GET", "/park/2");
    ASSERT_TRUE(ParkedBecomes(2));
    reset.Reset();
  }
  ASSERT_TRUE(ParkedBecomes(0));
  auto parked = lot_.Take(2);
  EXPECT_TRUE(parked[0].second.Gone());
  EXPECT_TRUE(parked[1].second.Gone());
  RawClient client = Connect();
  client.Request("GET", "/hello");
  EXPECT_EQ(client.Read().status, 200);
  for (auto& [request, responder] : parked) {
    responder.Answer(TextResponse(200, "to nobody"));
  }
  EXPECT_TRUE(Eventually([&] { return transport_->stats().connections == 1; }));
}

TEST_F(TransportParkTest, ClientThatOnlyEndsSendingGetsItsAnswers) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/park/1");
  client.Request("GET", "/hello");
  client.EndSending();
  lot_.AnswerAll(1);
  EXPECT_EQ(client.Read().body, "late /park/1");
  EXPECT_EQ(client.Read().body, "hello ");
  EXPECT_TRUE(client.IsClosedByPeer());
}

TEST_F(TransportParkTest, UnansweredRequestsAre500) {
  support::ExpectErrorLogs();
  router_.Handle(Method::kPost, "/api/hyperfleet/v1/throw",
                 [](const RequestPtr&, Responder) { throw std::runtime_error("a bug"); });
  Start();
  RawClient client = Connect();
  client.Request("POST", "/api/hyperfleet/v1/throw");
  const RawAnswer thrown = client.Read();
  EXPECT_EQ(thrown.status, 500);
  EXPECT_THAT(thrown.body, HasSubstr("HYPERFLEET-INT-001"));
  EXPECT_THAT(thrown.body, HasSubstr(R"("outcome":"unknown")"));
  client.Request("GET", "/park/1");
  lot_.Take(1);  // And drops it, on this thread.
  EXPECT_EQ(client.Read().status, 500);
}

TEST_F(TransportParkTest, AnswersMayComeAfterTheTransportIsGone) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/park/1");
  auto parked = lot_.Take(1);
  transport_.reset();
  EXPECT_TRUE(parked[0].second.Gone());
  parked[0].second.Answer(TextResponse(200, "too late"));
  EXPECT_TRUE(client.IsClosedByPeer());
}

// Its event loop has descriptors of its own: they stay open as long as anything of it is left.
TEST_F(TransportParkTest, NothingIsLeftOfATransportThatStopsBeforeItsClients) {
  const std::size_t before = EntryCount("/proc/self/fd");
  {
    Start();
    RawClient idle = Connect();
    idle.Request("GET", "/hello");
    EXPECT_EQ(idle.Read().status, 200);
    RawClient parked = Connect();
    parked.Request("GET", "/park/1");
    const auto unanswered = lot_.Take(1);
    transport_.reset();
  }
  EXPECT_EQ(EntryCount("/proc/self/fd"), before);
}

TEST_F(TransportParkTest, TasksRunOnTheIoThreadInOrder) {
  Transport transport({});
  engine::Mutex mutex;
  engine::CondVar done;
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    if (i == 500) {
      transport.Start();
    }
    transport.Post([&, i] {
      engine::MutexLock lock(mutex);
      EXPECT_TRUE(transport.OnIoThread());
      order.push_back(i);
      done.SignalAll();
    });
  }
  EXPECT_FALSE(transport.OnIoThread());
  engine::MutexLock lock(mutex);
  while (order.size() < 1000) {
    done.Wait(mutex);
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(TransportParkTest, ObserverSeesEveryAnswer) {
  std::atomic<int> ok{0};
  std::atomic<int> unknown{0};
  router_.SetObserver([&](const Request& request, int status, double seconds) {
    EXPECT_GE(seconds, 0);
    ok += status == 200 && request.route_label() == "/park/-" ? 1 : 0;
    unknown += status == 404 && request.route_label().empty() ? 1 : 0;
  });
  Start();
  RawClient client = Connect();
  client.Request("GET", "/park/17");
  client.Request("GET", "/nothing");
  lot_.AnswerAll(1);
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(client.Read().status, 404);
  EXPECT_EQ(ok, 1);
  EXPECT_EQ(unknown, 1);
}

// ---- Draining -----------------------------------------------------------------------------------

TEST_F(TransportParkTest, DrainAnswersWhatIsInFlightAndClosesTheRest) {
  Start();
  RawClient idle = Connect();
  idle.Request("GET", "/hello");
  EXPECT_EQ(idle.Read().status, 200);
  RawClient busy = Connect();
  busy.Request("GET", "/park/1");
  ASSERT_TRUE(ParkedBecomes(1));
  bool was_clean = false;
  engine::Thread drainer(
      "drainer", [&] { was_clean = transport_->Drain(engine::Deadline::After(seconds(20))); });
  EXPECT_TRUE(idle.IsClosedByPeer());
  lot_.AnswerAll(1);
  const RawAnswer answer = busy.Read();
  EXPECT_EQ(answer.body, "late /park/1");
  EXPECT_EQ(answer.Header("Connection"), "close");
  drainer.Join();
  EXPECT_TRUE(was_clean);
  EXPECT_TRUE(busy.IsClosedByPeer());
}

TEST_F(TransportParkTest, DrainGivesUpAtItsDeadline) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/park/1");
  ASSERT_TRUE(ParkedBecomes(1));
  EXPECT_FALSE(transport_->Drain(engine::Deadline::After(milliseconds(20))));
  transport_->Stop();
  EXPECT_TRUE(client.IsClosedByPeer());
  lot_.AnswerAll(1);
}

}  // namespace
}  // namespace api
