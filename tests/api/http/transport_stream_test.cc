// Answers that come piece by piece.

#include <atomic>
#include <deque>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/api/http/transport_fixture.h"

namespace api {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

// Gives out what a test puts in.
class Source final : public BodySource {
 public:
  void Start(std::function<void()> wake) override {
    engine::MutexLock lock(mutex_);
    wake_ = std::move(wake);
  }
  Piece Next() override {
    engine::MutexLock lock(mutex_);
    ++asked_;
    if (is_ending_) {
      return {"bye", true};
    }
    if (pieces_.empty()) {
      return endless_ ? Piece{std::string(std::size_t{64} << 10, 'x')} : Piece{};
    }
    Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
  }
  void End() override {
    engine::MutexLock lock(mutex_);
    is_ending_ = true;
  }

  void Put(std::string bytes, bool is_last = false) {
    std::function<void()> wake;
    {
      engine::MutexLock lock(mutex_);
      pieces_.push_back({std::move(bytes), is_last});
      wake = wake_;
    }
    if (wake) {
      wake();
    }
  }
  void MakeEndless() {
    engine::MutexLock lock(mutex_);
    endless_ = true;
  }
  int asked() const {
    engine::MutexLock lock(mutex_);
    return asked_;
  }

 private:
  mutable engine::Mutex mutex_;
  std::function<void()> wake_ ABSL_GUARDED_BY(mutex_);
  std::deque<Piece> pieces_ ABSL_GUARDED_BY(mutex_);
  bool endless_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  int asked_ ABSL_GUARDED_BY(mutex_) = 0;
};

class TransportStreamTest : public TransportTest {
 protected:
  TransportStreamTest() {
    router_.Handle(Method::kGet, "/stream", [this](const RequestPtr&, Responder responder) {
      Response response;
      response.content_type = "text/event-stream";
      response.source = source_;
      responder.Answer(std::move(response));
    });
  }
  // The test lets go of it.
  std::weak_ptr<Source> Release() {
    std::weak_ptr<Source> weak = source_;
    source_.reset();
    return weak;
  }
  bool StreamsBecome(std::size_t count) {
    return Eventually([&] { return transport_->stats().streams == count; });
  }

  std::shared_ptr<Source> source_ = std::make_shared<Source>();
};

TEST_F(TransportStreamTest, PiecesAreChunksAsTheyCome) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/stream");
  const RawAnswer head = client.Read(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("Transfer-Encoding"), "chunked");
  EXPECT_EQ(head.Header("Content-Length"), "");
  EXPECT_EQ(head.Header("Connection"), "close");
  source_->Put("one");
  EXPECT_EQ(client.ReadPast("one\r\n"), "3\r\none\r\n");
  source_->Put(std::string(20, 'y'));
  source_->Put("end", true);
  EXPECT_EQ(client.ReadPast("0\r\n\r\n"),
            "14\r\n" + std::string(20, 'y') + "\r\n3\r\nend\r\n0\r\n\r\n");
  EXPECT_TRUE(client.IsClosedByPeer());
  EXPECT_TRUE(StreamsBecome(0));
}

TEST_F(TransportStreamTest, IsNotParked) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/stream");
  client.Read(true);
  EXPECT_TRUE(StreamsBecome(1));
  EXPECT_EQ(transport_->stats().parked, 0u);
}

TEST_F(TransportStreamTest, OldClientsGetItPlain) {
  Start();
  RawClient client = Connect();
  client.Send("GET /stream HTTP/1.0\r\nHost: test\r\n\r\n");
  EXPECT_EQ(client.Read(true).Header("Transfer-Encoding"), "");
  source_->Put("one");
  source_->Put("two", true);
  EXPECT_EQ(client.ReadPast("two"), "onetwo");
  EXPECT_TRUE(client.IsClosedByPeer());
}

TEST_F(TransportStreamTest, HeadHasNone) {
  Start();
  RawClient client = Connect();
  client.Request("HEAD", "/stream");
  EXPECT_EQ(client.Read(true).status, 200);
  EXPECT_TRUE(client.IsClosedByPeer());
  EXPECT_EQ(source_->asked(), 0);
}

TEST_F(TransportStreamTest, ItsSourceGoesWithTheClient) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/stream");
  client.Read(true);
  const std::weak_ptr<Source> source = Release();
  EXPECT_FALSE(source.expired());
  client.Reset();
  EXPECT_TRUE(Eventually([&] { return source.expired(); }));
  EXPECT_TRUE(StreamsBecome(0));
}

TEST_F(TransportStreamTest, IsAskedOnlyAsFastAsItsClientTakes) {
  Start();
  source_->MakeEndless();
  RawClient slow = Connect();
  slow.Request("GET", "/stream");
  EXPECT_TRUE(Eventually([&] { return transport_->stats().unsent > 0; }));
  RawClient other = Connect();
  other.Request("GET", "/hello");
  EXPECT_EQ(other.Read().status, 200);
  source_->Put("more");
  other.Request("GET", "/hello");
  EXPECT_EQ(other.Read().status, 200);
  EXPECT_LT(source_->asked(), 400) << "what the kernel takes for it is bounded";
  EXPECT_LT(transport_->stats().unsent, std::size_t{1} << 20);
}

TEST_F(TransportStreamTest, AClientThatTakesNothingIsClosed) {
  Start({.write_timeout = milliseconds(20)});
  source_->MakeEndless();
  RawClient client = Connect();
  client.Request("GET", "/stream");
  EXPECT_TRUE(StreamsBecome(1));
  EXPECT_TRUE(StreamsBecome(0));
}

TEST_F(TransportStreamTest, AFastOneLeavesRoomForOthers) {
  Start();
  source_->MakeEndless();
  RawClient fast = Connect();
  fast.Request("GET", "/stream");
  std::atomic<bool> stop = false;
  engine::Thread reader("reader", [&] {
    while (!stop) {
      fast.ReadPast("\r\n");
    }
  });
  RawClient other = Connect();
  for (int i = 0; i < 20; ++i) {
    other.Request("GET", "/hello");
    EXPECT_EQ(other.Read().status, 200);
  }
  stop = true;
  transport_->Stop();
}

TEST_F(TransportStreamTest, ADrainEndsItAtOnce) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/stream");
  client.Read(true);
  ASSERT_TRUE(StreamsBecome(1));
  engine::Thread reader("reader", [&] {
    EXPECT_EQ(client.ReadPast("0\r\n\r\n"), "3\r\nbye\r\n0\r\n\r\n");
    EXPECT_TRUE(client.IsClosedByPeer());
  });
  EXPECT_TRUE(transport_->Drain(engine::Deadline::After(std::chrono::seconds(10))));
}

TEST_F(TransportStreamTest, TheTransportMayStopFirst) {
  Start();
  RawClient client = Connect();
  client.Request("GET", "/stream");
  client.Read(true);
  ASSERT_TRUE(StreamsBecome(1));
  transport_.reset();
  source_->Put("late");
  EXPECT_THAT(client.ReadPast("late"), Not(HasSubstr("late")));
}

}  // namespace
}  // namespace api
