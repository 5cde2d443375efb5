#include "tests/api/http/raw_client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http/request.h"
#include "engine/base/check.h"

namespace support {
namespace {

constexpr int kPatienceMs = 10000;

}  // namespace

std::string RawAnswer::Header(std::string_view name) const {
  std::string_view rest = head;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(std::min(rest.size(), line.size() + 2));
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos && api::EqualsIgnoreCase(line.substr(0, colon), name)) {
      return std::string(line.substr(colon + 2));
    }
  }
  return "";
}

RawClient::RawClient(std::string_view address) {
  const std::string text(address);
  const std::size_t colon = text.rfind(':');
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(static_cast<std::uint16_t>(std::atoi(text.c_str() + colon + 1)));
  ENGINE_CHECK(inet_pton(AF_INET, text.substr(0, colon).c_str(), &peer.sin_addr) == 1);
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ENGINE_CHECK(socket_ >= 0);
  ENGINE_CHECK(connect(socket_, reinterpret_cast<const sockaddr*>(&peer), sizeof(peer)) == 0);
}

RawClient::~RawClient() {
  if (socket_ >= 0) {
    close(socket_);
  }
}

RawClient::RawClient(RawClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::Request(std::string_view method, std::string_view target, std::string_view headers,
                        std::string_view body) {
  std::string text = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n";
  text += "Host: test\r\n" + std::string(headers);
  if (!body.empty()) {
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return Send(text + "\r\n" + std::string(body));
}

bool RawClient::ReadMore() {
  pollfd wait{socket_, POLLIN, 0};
  if (poll(&wait, 1, kPatienceMs) != 1) {
    return false;
  }
  std::array<char, 65536> bytes;
  const ssize_t size = recv(socket_, bytes.data(), bytes.size(), 0);
  if (size <= 0) {
    return false;
  }
  buffer_.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

RawAnswer RawClient::Read(bool head_only) {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!ReadMore()) {
      return {};
    }
  }
  RawAnswer answer;
  answer.head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  const std::string length = answer.Header("Content-Length");
  const std::size_t size =
      length.empty() || head_only ? 0 : std::strtoull(length.c_str(), nullptr, 10);
  while (buffer_.size() < size) {
    if (!ReadMore()) {
      return {};
    }
  }
  answer.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  answer.status = std::atoi(answer.head.c_str() + answer.head.find(' '));
  return answer;
}

std::string RawClient::ReadPast(std::string_view text) {
  std::size_t found = 0;
  while ((found = buffer_.find(text)) == std::string::npos) {
    if (!ReadMore()) {
      return std::exchange(buffer_, {});
    }
  }
  std::string past = buffer_.substr(0, found + text.size());
  buffer_.erase(0, past.size());
  return past;
}

bool RawClient::IsClosedByPeer() {
  while (true) {
    pollfd wait{socket_, POLLIN, 0};
    if (poll(&wait, 1, kPatienceMs) != 1) {
      return false;
    }
    std::array<char, 4096> bytes;
    const ssize_t size = recv(socket_, bytes.data(), bytes.size(), 0);
    if (size <= 0) {
      return size == 0 || errno == ECONNRESET;
    }
  }
}

void RawClient::EndSending() {
  shutdown(socket_, SHUT_WR);
}

void RawClient::Reset() {
  const linger at_once{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(std::exchange(socket_, -1));
}

}  // namespace support
