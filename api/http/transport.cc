#include "api/http/transport.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include <absl/strings/str_format.h>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <fcntl.h>

#include "api/http/host_and_port.h"
#include "api/http/transport_connection.h"
#include "api/http/transport_core.h"
#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"

namespace api {
namespace {

using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Descriptor = asio::posix::basic_stream_descriptor<IoExecutor>;

// The core whose I/O thread this is.
thread_local const TransportCore* current_core = nullptr;

// As RFC 9110 5.6.7 wants the Date header.
std::string HttpDate(engine::Timestamp now) {
  const std::time_t seconds = static_cast<std::time_t>(now.micros / 1000000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return absl::StrFormat("%s, %02d %s %04d %02d:%02d:%02d GMT",
                         kDays[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                         kMonths[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900,
                         parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// How often waits are looked at: a quarter of the shortest one, within reason.
engine::Duration TickOf(const TransportOptions& options) {
  const engine::Duration shortest =
      std::min({options.head_timeout, options.read_timeout, options.idle_timeout,
                options.write_timeout, engine::Duration(std::chrono::seconds(2))});
  return std::max(shortest / 4, engine::Duration(std::chrono::milliseconds(5)));
}

}  // namespace

std::string ShowEndpoint(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? absl::StrFormat("[%s]:%d", address, endpoint.port())
                                    : absl::StrFormat("%s:%d", address, endpoint.port());
}

// Random bytes for request ids, fetched many at a time: ids need to differ, they are no secrets.
class TransportCore::CheapRandom final : public engine::Random {
 public:
  void Fill(char* out, std::size_t size) override {
    if (size > buffer_.size()) {
      return engine::SystemRandom().Fill(out, size);
    }
    if (buffer_.size() - used_ < size) {
      engine::SystemRandom().Fill(buffer_.data(), buffer_.size());
      used_ = 0;
    }
    std::memcpy(out, buffer_.data() + used_, size);
    used_ += size;
  }

 private:
  std::array<char, 4096> buffer_{};
  std::size_t used_ = buffer_.size();
};

TransportCore::TransportCore(TransportOptions options)
    : options_(options),
      clock_(options.clock == nullptr ? engine::SystemClock() : *options.clock),
      tick_(TickOf(options)),
      date_(HttpDate(clock_.Now())),
      random_(std::make_unique<CheapRandom>()) {}

TransportCore::~TransportCore() = default;

// ---- Tasks --------------------------------------------------------------------------------------

bool TransportCore::OnIoThread() const {
  return current_core == this;
}

void TransportCore::Post(std::function<void()> task) {
  bool is_first = false;
  {
    engine::MutexLock lock(mutex_);
    if (stopped_) {
      return;  // The task ends with this call's argument, outside the lock.
    }
    is_first = tasks_.empty();
    tasks_.push_back(std::move(task));
  }
  if (is_first) {
    asio::post(io_, [this] { RunTasks(); });
  }
}

void TransportCore::RunTasks() {
  std::vector<std::function<void()>> tasks;
  {
    engine::MutexLock lock(mutex_);
    tasks.swap(tasks_);
  }
  for (std::function<void()>& task : tasks) {
    try {
      task();
    } catch (const std::exception& e) {
      engine::Log(engine::Severity::kError, "task threw on the I/O thread", {{"what", e.what()}});
    }
    task = nullptr;  // What it held goes before the next one runs.
  }
}

// A processor that has nothing to do takes longer to wake up than a database near by to answer. So
// while something is awaited the thread looks for it a little longer, and lets whoever has work go
// first. Where that was in vain several times, it looks but now and then.
bool TransportCore::LookForAnswer() {
  constexpr engine::Duration kLongest = std::chrono::microseconds(50);
  constexpr int kVainLooks = 8;
  constexpr int kPause = 64;
  if (awaited_ == 0) {
    return false;
  }
  if (unlooked_ > 0) {
    --unlooked_;
    return false;
  }
  const engine::Duration until = engine::SystemClock().SinceBoot() + kLongest;
  while (engine::SystemClock().SinceBoot() < until) {
    std::this_thread::yield();
    if (io_.poll() > 0) {
      vain_looks_ = 0;
      return true;
    }
  }
  ++vain_looks_;
  unlooked_ = vain_looks_ < kVainLooks ? 0 : kPause;
  return false;
}

void TransportCore::RunIo() {
  current_core = this;
  const auto work = asio::make_work_guard(io_);
  while (!io_.stopped()) {
    try {
      if (io_.poll() == 0 && !LookForAnswer()) {
        io_.run_one();
      }
    } catch (const std::exception& e) {
      engine::Log(engine::Severity::kError, "the I/O thread caught an exception",
                  {{"what", e.what()}});
    }
  }
  current_core = nullptr;
}

// A descriptor of our own, which nobody closes behind the event loop's back.
bool TransportCore::WhenReadable(int descriptor, std::function<void()> task) {
  ENGINE_CHECK(OnIoThread());
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) {
    return false;
  }
  const auto watched = std::make_shared<Descriptor>(io_, own);
  ++awaited_;
  watched->async_wait(Descriptor::wait_read,
                      [this, watched, task = std::move(task)](const ErrorCode& error) {
                        --awaited_;
                        if (!error) {
                          task();
                        }
                      });
  return true;
}

// ---- Listening ----------------------------------------------------------------------------------

absl::StatusOr<std::string> TransportCore::Listen(std::string_view host_and_port,
                                                  const Router& router,
                                                  std::shared_ptr<const TlsContext> tls) {
  const std::optional<HostAndPort> parts = SplitHostAndPort(host_and_port);
  if (!parts) {
    return absl::InvalidArgumentError(absl::StrFormat("not HOST:PORT: %s", host_and_port));
  }
  ErrorCode error;
  tcp::resolver resolver(io_);
  const auto found = resolver.resolve(parts->host, parts->port, tcp::resolver::passive, error);
  if (error || found.empty()) {
    return absl::UnavailableError(
        absl::StrFormat("cannot resolve %s: %s", parts->host, error.message()));
  }
  const tcp::endpoint endpoint = found.begin()->endpoint();
  auto listener = std::make_unique<Listener>(
      Listener{TcpAcceptor(io_), TcpSocket(io_), &router, std::move(tls), false});
  TcpAcceptor& acceptor = listener->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) {
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrFormat("cannot listen on %s: %s", ShowEndpoint(endpoint), error.message()));
  }
  std::string address = ShowEndpoint(acceptor.local_endpoint());
  listeners_.push_back(std::move(listener));
  return address;
}

void TransportCore::Accept(Listener& listener) {
  listener.acceptor.async_accept(listener.next, [this, &listener](const ErrorCode& error) {
    if (draining_ || error == asio::error::operation_aborted) {
      return;
    }
    if (error) {
      // Mostly too many open files: accepting at once would fail again at once.
      engine::Log(engine::Severity::kWarning, "cannot accept a connection",
                  {{"error", error.message()}});
      listener.is_waiting = true;
      return;
    }
    OnAccept(listener);
    Accept(listener);
  });
}

void TransportCore::OnAccept(Listener& listener) {
  TcpSocket socket = std::move(listener.next);
  accepted_.fetch_add(1, std::memory_order_relaxed);
  if (connections_.size() >= options_.max_connections) {
    turned_away_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::unique_ptr<TlsSession> tls = listener.tls == nullptr ? nullptr : listener.tls->Accept();
  if (listener.tls != nullptr && tls == nullptr) {
    return;  // No memory for it, and in the clear is not what was promised.
  }
  ErrorCode error;
  socket.non_blocking(true, error);
  socket.set_option(tcp::no_delay(true), error);
  const auto connection =
      std::make_shared<Connection>(*this, *listener.router, std::move(socket), std::move(tls));
  connections_.insert(connection);
  open_.store(connections_.size(), std::memory_order_relaxed);
  connection->Start();
}

void TransportCore::Start() {
  StartTick();
  for (const auto& listener : listeners_) {
    Accept(*listener);
  }
  thread_ = engine::Thread("io", [this] { RunIo(); });
}

// ---- Time ---------------------------------------------------------------------------------------

void TransportCore::StartTick() {
  timer_.expires_after(tick_);
  timer_.async_wait([this](const ErrorCode& error) {
    if (!error) {
      OnTick();
      StartTick();
    }
  });
}

void TransportCore::OnTick() {
  date_ = HttpDate(clock_.Now());
  const engine::Duration now = Now();
  for (const auto& connection : Connections()) {
    connection->OnTick(now);
  }
  for (const auto& listener : listeners_) {
    if (!draining_ && std::exchange(listener->is_waiting, false)) {
      Accept(*listener);
    }
  }
}

// ---- Ending -------------------------------------------------------------------------------------

void TransportCore::CountAnswer(bool was_refused) {
  requests_.fetch_add(1, std::memory_order_relaxed);
  if (was_refused) {
    refused_.fetch_add(1, std::memory_order_relaxed);
  }
}

void TransportCore::CountUnsent(std::size_t before, std::size_t now) {
  unsent_.fetch_add(now - before, std::memory_order_relaxed);
  if (now > before) {
    CutOffTheSlowest();
  }
}

void TransportCore::CutOffTheSlowest() {
  while (
      !GUARD("http.max_unsent", unsent_.load(std::memory_order_relaxed) <= options_.max_unsent)) {
    std::shared_ptr<Connection> slowest;
    std::size_t waiting = 0;
    for (const auto& connection : connections_) {
      if (connection->unsent() > 0) {
        ++waiting;
        if (slowest == nullptr || connection->waits_until() < slowest->waits_until()) {
          slowest = connection;
        }
      }
    }
    if (waiting < 2) {
      return;  // An answer that is too large by itself is sent all the same.
    }
    cut_off_.fetch_add(1, std::memory_order_relaxed);
    slowest->CutOff();
  }
}

std::vector<std::shared_ptr<Connection>> TransportCore::Connections() const {
  return {connections_.begin(), connections_.end()};
}

void TransportCore::Settled() {
  ++settled_;
  TellDrain();
}

void TransportCore::Forget(const std::shared_ptr<Connection>& connection) {
  if (connection->is_settled()) {
    --settled_;
  }
  connections_.erase(connection);
  open_.store(connections_.size(), std::memory_order_relaxed);
  TellDrain();
}

void TransportCore::TellDrain() {
  if (draining_ && settled_ == connections_.size()) {
    engine::MutexLock lock(mutex_);
    drained_ = true;
    drained_changed_.SignalAll();
  }
}

void TransportCore::BeginDrain() {
  draining_ = true;
  for (const auto& listener : listeners_) {
    ErrorCode ignored;
    listener->acceptor.close(ignored);
  }
  for (const auto& connection : Connections()) {
    connection->Drain();
  }
  TellDrain();
}

bool TransportCore::Drain(engine::Deadline deadline) {
  ENGINE_CHECK(!OnIoThread());
  Post([this] { BeginDrain(); });
  engine::MutexLock lock(mutex_);
  while (!drained_ && !stopped_) {
    if (!drained_changed_.WaitUntil(mutex_, deadline)) {
      return drained_;
    }
  }
  return drained_;
}

void TransportCore::Stop() {
  ENGINE_CHECK(!OnIoThread());
  std::vector<std::function<void()>> tasks;
  {
    engine::MutexLock lock(mutex_);
    stopped_ = true;
    tasks.swap(tasks_);
    drained_changed_.SignalAll();
  }
  tasks.clear();
  io_.stop();
  thread_.Join();
  for (const auto& connection : connections_) {
    connection->Abort();
  }
  connections_.clear();
  listeners_.clear();
}

TransportStats TransportCore::stats() const {
  TransportStats stats;
  stats.connections = open_.load(std::memory_order_relaxed);
  stats.parked = parked_.load(std::memory_order_relaxed);
  stats.streams = streams_.load(std::memory_order_relaxed);
  stats.accepted = accepted_.load(std::memory_order_relaxed);
  stats.turned_away = turned_away_.load(std::memory_order_relaxed);
  stats.requests = requests_.load(std::memory_order_relaxed);
  stats.refused = refused_.load(std::memory_order_relaxed);
  stats.unsent = unsent_.load(std::memory_order_relaxed);
  stats.cut_off = cut_off_.load(std::memory_order_relaxed);
  return stats;
}

// ---- Transport ----------------------------------------------------------------------------------

Transport::Transport(TransportOptions options) : core_(std::make_shared<TransportCore>(options)) {}

Transport::~Transport() {
  Stop();
}

absl::StatusOr<std::string> Transport::Listen(std::string_view host_and_port, const Router& router,
                                              std::shared_ptr<const TlsContext> tls) {
  return core_->Listen(host_and_port, router, std::move(tls));
}

void Transport::Start() {
  core_->Start();
}

void Transport::Post(std::function<void()> task) {
  core_->Post(std::move(task));
}

bool Transport::OnIoThread() const {
  return core_->OnIoThread();
}

bool Transport::WhenReadable(int descriptor, std::function<void()> task) {
  return core_->WhenReadable(descriptor, std::move(task));
}

bool Transport::Drain(engine::Deadline deadline) {
  return core_->Drain(deadline);
}

void Transport::Stop() {
  core_->Stop();
}

TransportStats Transport::stats() const {
  return core_->stats();
}

}  // namespace api
