#include "tests/support/fault_proxy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include <absl/strings/str_format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/status_macros.h"
#include "tests/support/pg_messages.h"

namespace support {
namespace {

constexpr std::size_t kReadSize = 65536;

int UnixSocket() {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  return address;
}

engine::Duration Clock() {
  return engine::SystemClock().SinceBoot();
}

// Reads what is there. False at the end of the stream.
bool Read(int fd, std::string& out) {
  char bytes[kReadSize];
  const ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
  if (got > 0) {
    out.append(bytes, static_cast<std::size_t>(got));
  }
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// Writes as much as goes and takes it from `bytes`. False when nobody reads any more.
bool Write(int fd, std::string& bytes) {
  const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent > 0) {
    bytes.erase(0, static_cast<std::size_t>(sent));
  }
  return sent >= 0 || errno == EAGAIN || errno == EINTR;
}

}  // namespace

struct FaultProxy::Connection {
  struct Delayed {
    PgMessage message;
    engine::Duration due;
  };

  Connection(int client_fd, int server_fd) : client(client_fd), server(server_fd) {}
  ~Connection() {
    CloseClient();
    close(server);
  }
  void CloseClient() {
    if (client >= 0) {
      close(client);
      client = -1;
    }
  }
  // The client is gone at once; the server reads what it was sent and then the end.
  void CutOff() {
    CloseClient();
    to_server.clear();
    EndServer();
  }
  void EndServer() {
    client_ended = true;
    server_told = true;
    shutdown(server, SHUT_WR);
  }

  int client;
  int server;
  PgMessages messages;
  std::deque<Delayed> to_server;
  std::string to_client;
  bool client_ended = false;
  bool server_told = false;  // That the client has ended.
  bool server_ended = false;
  bool cut_at_end_of_request = false;
};

FaultProxy::FaultProxy(std::unique_ptr<PrivateDirectory> directory, std::string server_path,
                       int port)
    : directory_(std::move(directory)), server_path_(std::move(server_path)), port_(port) {}

absl::StatusOr<std::unique_ptr<FaultProxy>> FaultProxy::Start(const std::string& socket_directory,
                                                              int port) {
  ASSIGN_OR_RETURN(std::unique_ptr<PrivateDirectory> directory, PrivateDirectory::Make());
  std::unique_ptr<FaultProxy> proxy(new FaultProxy(
      std::move(directory), absl::StrFormat("%s/.s.PGSQL.%d", socket_directory, port), port));
  RETURN_IF_ERROR(proxy->Listen());
  FaultProxy* const raw = proxy.get();
  proxy->thread_ = engine::Thread("fault-proxy", [raw] { raw->Run(); });
  return proxy;
}

FaultProxy::~FaultProxy() {
  {
    engine::MutexLock lock(mutex_);
    faults_.ended = true;
  }
  Wake();
  thread_.Join();
  close(listener_);
  close(wake_fd_);
}

absl::Status FaultProxy::Listen() {
  const sockaddr_un address =
      AddressOf(absl::StrFormat("%s/.s.PGSQL.%d", directory_->path(), port_));
  listener_ = UnixSocket();
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_, 128) != 0 || wake_fd_ < 0) {
    return absl::InternalError(absl::StrFormat("fault proxy: %s", std::strerror(errno)));
  }
  return absl::OkStatus();
}

std::string FaultProxy::Through(const std::string& url) const {
  constexpr std::string_view kHost = "host=";
  const std::size_t begin = url.find(kHost) + kHost.size();
  return url.substr(0, begin) + directory_->path() + url.substr(url.find('&', begin));
}

void FaultProxy::CutNextCommit(Cut cut) {
  engine::MutexLock lock(mutex_);
  faults_.cut_armed = true;
  faults_.cut = cut;
}

void FaultProxy::CutAll() {
  engine::MutexLock lock(mutex_);
  faults_.cut_all = true;
  Wake();
  while (faults_.cut_all) {
    changed_.Wait(mutex_);
  }
}

void FaultProxy::Hold(Direction direction) {
  engine::MutexLock lock(mutex_);
  faults_.holding = false;
  faults_.hold_to_server |= direction != Direction::kToClient;
  faults_.hold_to_client |= direction != Direction::kToServer;
  Wake();
}

void FaultProxy::Release() {
  engine::MutexLock lock(mutex_);
  faults_.hold_to_server = false;
  faults_.hold_to_client = false;
  faults_.holding = false;
  Wake();
}

void FaultProxy::Delay(engine::Duration delay) {
  engine::MutexLock lock(mutex_);
  faults_.holding = false;
  faults_.delay = delay;
  Wake();
}

int FaultProxy::cuts() const {
  return Now().cuts;
}

bool FaultProxy::WaitUntilHolding(engine::Deadline deadline) const {
  engine::MutexLock lock(mutex_);
  while (!faults_.holding) {
    if (!changed_.WaitUntil(mutex_, deadline) && deadline.HasPassed()) {
      return faults_.holding;
    }
  }
  return true;
}

void FaultProxy::Wake() const {
  const std::uint64_t one = 1;
  // Full only when it will be read anyway.
  [[maybe_unused]] const ssize_t ignored = write(wake_fd_, &one, sizeof(one));
}

FaultProxy::Faults FaultProxy::Now() const {
  engine::MutexLock lock(mutex_);
  return faults_;
}

bool FaultProxy::TakeCut(Cut cut) {
  engine::MutexLock lock(mutex_);
  if (!faults_.cut_armed || faults_.cut != cut) {
    return false;
  }
  faults_.cut_armed = false;
  ++faults_.cuts;
  return true;
}

void FaultProxy::Run() {
  Connections connections;
  for (Faults faults = Now(); !faults.ended; faults = Now()) {
    if (faults.cut_all) {
      connections.clear();
      engine::MutexLock lock(mutex_);
      faults_.cut_all = false;
      changed_.SignalAll();
    }
    Accept(connections);
    for (const auto& connection : connections) {
      Forward(*connection, faults);
    }
    std::erase_if(connections, [&](const auto& connection) {
      const bool told = connection->client < 0 || !faults.hold_to_client;
      return connection->server_ended && connection->to_client.empty() && told;
    });
    Wait(connections, faults);
  }
}

void FaultProxy::Accept(Connections& connections) {
  int client = -1;
  while ((client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
    const sockaddr_un address = AddressOf(server_path_);
    const int server = UnixSocket();
    if (server < 0 ||
        connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      // As a server that is not there: the client sees its connection end.
      close(server);
      close(client);
      continue;
    }
    connections.push_back(std::make_unique<Connection>(client, server));
  }
}

void FaultProxy::Wait(const Connections& connections, const Faults& faults) const {
  std::vector<pollfd> polled = {{listener_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
  engine::Duration wait = std::chrono::hours(1);
  const auto want = [&](int fd, bool in, bool out) {
    if (fd >= 0 && (in || out)) {
      polled.push_back({fd, static_cast<short>((in ? POLLIN : 0) | (out ? POLLOUT : 0)), 0});
    }
  };
  for (const auto& connection : connections) {
    const bool waiting = !connection->to_server.empty() && !faults.hold_to_server;
    const engine::Duration until =
        waiting ? connection->to_server.front().due - Clock() : engine::Duration::max();
    if (until > engine::Duration::zero()) {
      wait = std::min(wait, until);
    }
    want(connection->client, !connection->client_ended,
         !connection->to_client.empty() && !faults.hold_to_client);
    want(connection->server, connection->to_client.empty() && !connection->server_ended,
         waiting && until <= engine::Duration::zero());
  }
  poll(polled.data(), polled.size(),
       static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()));
  std::uint64_t woken = 0;
  [[maybe_unused]] const ssize_t ignored = read(wake_fd_, &woken, sizeof(woken));
}

void FaultProxy::Forward(Connection& connection, const Faults& faults) {
  std::string arrived;
  if (!connection.client_ended && !Read(connection.client, arrived)) {
    connection.client_ended = true;
  }
  for (PgMessage& message : connection.messages.Feed(arrived)) {
    connection.to_server.push_back({std::move(message), Clock() + faults.delay});
  }
  if (!faults.hold_to_server) {
    ForwardToServer(connection, faults);
  }
  if (!connection.to_server.empty()) {
    engine::MutexLock lock(mutex_);
    faults_.holding = true;
    changed_.SignalAll();
  }
  if (connection.to_client.empty() && !connection.server_ended) {
    connection.server_ended = !Read(connection.server, connection.to_client);
  }
  const bool unread =
      connection.client < 0 || (!faults.hold_to_client && !connection.to_client.empty() &&
                                !Write(connection.client, connection.to_client));
  if (unread) {
    connection.to_client.clear();
  }
}

void FaultProxy::ForwardToServer(Connection& connection, const Faults& faults) {
  while (!connection.to_server.empty()) {
    Connection::Delayed& next = connection.to_server.front();
    if (faults.delay > engine::Duration::zero() && next.due > Clock()) {
      return;
    }
    // Asked once a message, also when it goes out in pieces.
    const bool commits = std::exchange(next.message.commits, false);
    if (commits && TakeCut(Cut::kBefore)) {
      return connection.CutOff();
    }
    if (commits && TakeCut(Cut::kAfter)) {
      connection.cut_at_end_of_request = true;
      connection.CloseClient();
      connection.client_ended = true;
    }
    if (!Write(connection.server, next.message.bytes)) {
      return connection.CutOff();
    }
    if (!next.message.bytes.empty()) {
      return;
    }
    const bool cut = connection.cut_at_end_of_request && next.message.ends_request;
    connection.to_server.pop_front();
    if (cut) {
      return connection.CutOff();
    }
  }
  if (connection.client_ended && !connection.server_told) {
    connection.EndServer();
  }
}

}  // namespace support
