// What the transport and its connections share. Part of the transport; nothing else includes it.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "api/http/transport.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/base/thread.h"

namespace api {

namespace asio = boost::asio;

// Concrete executors: type-erased ones, strands and per-socket timers cost a third of the speed.
using IoExecutor = asio::io_context::executor_type;
using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, IoExecutor>;
using TcpAcceptor = asio::basic_socket_acceptor<asio::ip::tcp, IoExecutor>;

class Connection;

// `192.0.2.7:80`, `[2001:db8::1]:443`
std::string ShowEndpoint(const asio::ip::tcp::endpoint& endpoint);

// One thread (the I/O thread), except where noted.
class TransportCore final : public std::enable_shared_from_this<TransportCore> {
 public:
  explicit TransportCore(TransportOptions options);
  ~TransportCore();

  // ---- For Transport; from its caller's thread.
  absl::StatusOr<std::string> Listen(std::string_view host_and_port, const Router& router,
                                     std::shared_ptr<const TlsContext> tls);
  void Start();
  bool Drain(engine::Deadline deadline);
  void Stop();

  // ---- Thread-safe.
  void Post(std::function<void()> task);
  bool OnIoThread() const;
  bool WhenReadable(int descriptor, std::function<void()> task);
  TransportStats stats() const;

  // ---- For connections.
  const TransportOptions& options() const { return options_; }
  engine::Duration Now() const { return clock_.SinceBoot(); }
  const engine::Clock& clock() const { return clock_; }
  // `Mon, 30 Nov 2026 15:36:58 GMT`
  const std::string& date() const { return date_; }
  engine::Random& random() { return *random_; }
  bool draining() const { return draining_; }
  bool IsFull() const { return parked_.load(std::memory_order_relaxed) >= options_.max_queue; }
  void CountPark() { parked_.fetch_add(1, std::memory_order_relaxed); }
  void CountUnpark() { parked_.fetch_sub(1, std::memory_order_relaxed); }
  void CountAnswer(bool was_full);
  void CountStream(int change) {
    streams_.fetch_add(static_cast<std::uint64_t>(change), std::memory_order_relaxed);
  }
  // The answers that a connection's client has not taken were `before` bytes and are `now`. May
  // close any connection, the caller's too.
  void CountUnsent(std::size_t before, std::size_t now);
  // The connection has nothing left to answer; `Forget` also frees it.
  void Settled();
  void Forget(const std::shared_ptr<Connection>& connection);

 private:
  struct Listener {
    TcpAcceptor acceptor;
    TcpSocket next;
    const Router* router;
    std::shared_ptr<const TlsContext> tls;  // Null: in the clear.
    bool is_waiting = false;                // For the next tick, because accepting failed.
  };
  class CheapRandom;

  void RunIo();
  bool LookForAnswer();
  void RunTasks();
  void Accept(Listener& listener);
  void OnAccept(Listener& listener);
  void StartTick();
  void OnTick();
  void BeginDrain();
  void TellDrain();
  void CutOffTheSlowest();
  // A connection may leave the set while each of them is told something.
  std::vector<std::shared_ptr<Connection>> Connections() const;

  const TransportOptions options_;
  const engine::Clock& clock_;
  asio::io_context io_{1};
  asio::steady_timer timer_{io_};
  engine::Duration tick_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
  std::size_t settled_ = 0;  // Of these, how many only wait for the peer to close.
  std::string date_;
  std::unique_ptr<engine::Random> random_;
  bool draining_ = false;
  std::size_t awaited_ = 0;  // Descriptors that tasks wait for.
  int vain_looks_ = 0;       // In a row.
  int unlooked_ = 0;         // Times that it sleeps at once.

  std::atomic<std::uint64_t> open_{0};
  std::atomic<std::uint64_t> parked_{0};
  std::atomic<std::uint64_t> streams_{0};
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> turned_away_{0};
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> unsent_{0};
  std::atomic<std::uint64_t> cut_off_{0};

  engine::Mutex mutex_;
  std::vector<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool drained_ ABSL_GUARDED_BY(mutex_) = false;
  engine::CondVar drained_changed_;

  engine::Thread thread_;
};

}  // namespace api
