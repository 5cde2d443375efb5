#include "tests/nemesis/crowd.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace nemesis {
namespace {

// A client is a file of ours, and a process may have only 1024 unless it asks for more.
void AllowManyFiles() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

// Of `http://127.0.0.1:port`.
int PortOf(const std::string& url) {
  return std::atoi(url.c_str() + url.rfind(':') + 1);
}

int BeginToConnect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    EXPECT_EQ(errno, EINPROGRESS);
  }
  return fd;
}

}  // namespace

Crowd::Crowd(const std::string& url, const std::string& path, const support::HttpHeaders& headers,
             int count) {
  AllowManyFiles();
  request_ = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  for (const auto& [name, value] : headers) {
    request_.append(name).append(": ").append(value).append("\r\n");
  }
  request_ += "\r\n";
  for (int i = 0; i < count; ++i) {
    clients_.push_back({.fd = BeginToConnect(PortOf(url))});
  }
}

Crowd::~Crowd() {
  for (const Client& client : clients_) {
    close(client.fd);
  }
}

void Crowd::Send(Client& client) const {
  const ssize_t sent =
      send(client.fd, request_.data() + client.sent, request_.size() - client.sent, MSG_NOSIGNAL);
  if (sent >= 0) {
    client.sent += static_cast<std::size_t>(sent);
  } else if (errno != EAGAIN && errno != EINPROGRESS) {
    client.ended = true;
  }
}

void Crowd::Receive(Client& client) {
  char bytes[4096];
  const ssize_t got = recv(client.fd, bytes, sizeof bytes, 0);
  if (got > 0) {
    client.received.append(bytes, static_cast<std::size_t>(got));
  } else if (got == 0 || errno != EAGAIN) {
    client.ended = true;
  }
}

bool Crowd::Step(bool only_send, engine::Deadline deadline) {
  std::vector<pollfd> waiting;
  std::vector<Client*> whose;
  for (Client& client : clients_) {
    const bool sends = client.sent < request_.size();
    if (!client.ended && (sends || !only_send)) {
      waiting.push_back(
          {.fd = client.fd, .events = static_cast<short>(sends ? POLLOUT : POLLIN), .revents = 0});
      whose.push_back(&client);
    }
  }
  constexpr int kStepMs = 100;
  poll(waiting.data(), waiting.size(), kStepMs);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i].revents != 0) {
      whose[i]->sent < request_.size() ? Send(*whose[i]) : Receive(*whose[i]);
    }
  }
  return !deadline.HasPassed();
}

bool Crowd::SendAll(engine::Deadline deadline) {
  const auto sent = [this](const Client& client) { return client.sent == request_.size(); };
  while (!std::ranges::all_of(clients_, sent)) {
    if (!Step(true, deadline)) {
      return false;
    }
  }
  return true;
}

std::vector<CrowdAnswer> Crowd::Wait(engine::Deadline deadline) {
  while (!std::ranges::all_of(clients_, &Client::ended) && Step(false, deadline)) {
  }
  std::vector<CrowdAnswer> answers;
  std::ranges::transform(clients_, std::back_inserter(answers), [](const Client& client) {
    constexpr std::size_t kStatusAt = sizeof("HTTP/1.1 ") - 1;
    const bool any = client.received.size() > kStatusAt;
    return CrowdAnswer{any ? std::atoi(client.received.c_str() + kStatusAt) : 0, client.received};
  });
  return answers;
}

int ToldOf(const std::string& kill, const std::vector<CrowdAnswer>& answers) {
  int told = 0;
  for (const CrowdAnswer& answer : answers) {
    const bool knows = answer.text.find("\"" + kill + "\"") != std::string::npos;
    EXPECT_TRUE(answer.status == 503 || (answer.status == 200 && knows))
        << answer.status << ": " << answer.text;
    told += knows ? 1 : 0;
  }
  return told;
}

}  // namespace nemesis
