#include "tests/support/http_client.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/status_macros.h"

namespace support {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<std::size_t> ParseSize(const std::string& text, int base) {
  std::size_t size = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, size, base);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(size) : std::nullopt;
}

absl::Status NotHttp(const std::string& what) {
  return absl::DataLossError(absl::StrFormat("not an HTTP/1.1 answer: %s", what));
}

// Blocks until `fd` is ready for `events`.
absl::Status Await(int fd, short events, engine::Deadline deadline) {
  while (true) {
    pollfd poller = {.fd = fd, .events = events, .revents = 0};
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(
        std::min<engine::Duration>(deadline.Remaining(), std::chrono::hours(1)));
    if (poll(&poller, 1, static_cast<int>(wait.count())) > 0) {
      return absl::OkStatus();
    }
    if (deadline.HasPassed()) {
      return absl::DeadlineExceededError("no answer in time");
    }
  }
}

bool Has(const HttpHeaders& headers, const std::string& name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return Lower(header.first) == name; });
}

}  // namespace

std::string HttpResponse::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

HttpClient::HttpClient(std::string host, int port, engine::Duration deadline)
    : host_(std::move(host)), port_(port), deadline_(deadline) {}

HttpClient::HttpClient(const std::string& url, engine::Duration deadline)
    : port_(80), deadline_(deadline) {
  constexpr std::string_view kScheme = "http://";
  std::string rest = url.rfind(kScheme, 0) == 0 ? url.substr(kScheme.size()) : url;
  rest = rest.substr(0, rest.find('/'));
  const std::size_t colon = rest.rfind(':');
  host_ = rest.substr(0, colon);
  if (colon != std::string::npos) {
    port_ = static_cast<int>(ParseSize(rest.substr(colon + 1), 10).value_or(0));
  }
}

HttpClient::~HttpClient() {
  Close();
}

void HttpClient::Close() {
  if (fd_ >= 0) {
    close(fd_);
    fd_ = -1;
  }
  buffer_.clear();
}

absl::StatusOr<HttpResponse> HttpClient::Get(const std::string& path, const HttpHeaders& headers) {
  return Call({.method = "GET", .path = path, .headers = headers});
}

absl::StatusOr<HttpResponse> HttpClient::Post(const std::string& path, const std::string& body,
                                              const HttpHeaders& headers) {
  return Call({.method = "POST", .path = path, .body = body, .headers = headers});
}

absl::StatusOr<HttpResponse> HttpClient::Put(const std::string& path, const std::string& body,
                                             const HttpHeaders& headers) {
  return Call({.method = "PUT", .path = path, .body = body, .headers = headers});
}

absl::StatusOr<HttpResponse> HttpClient::Patch(const std::string& path, const std::string& body,
                                               const HttpHeaders& headers) {
  return Call({.method = "PATCH", .path = path, .body = body, .headers = headers});
}

absl::StatusOr<HttpResponse> HttpClient::Delete(const std::string& path,
                                                const HttpHeaders& headers) {
  return Call({.method = "DELETE", .path = path, .headers = headers});
}

absl::StatusOr<HttpResponse> HttpClient::Call(const HttpRequest& request) {
  std::string head = request.method + " " + request.path + " HTTP/1.1\r\n";
  if (!Has(request.headers, "host")) {
    head += absl::StrFormat("Host: %s:%d\r\n", host_, port_);
  }
  const bool has_body = !request.body.empty() || request.method == "POST" ||
                        request.method == "PUT" || request.method == "PATCH";
  if (has_body && !Has(request.headers, "content-length") &&
      !Has(request.headers, "transfer-encoding")) {
    head += absl::StrFormat("Content-Length: %d\r\n", request.body.size());
  }
  if (has_body && !Has(request.headers, "content-type")) {
    head += "Content-Type: application/json\r\n";
  }
  for (const auto& [name, value] : request.headers) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
  return Exchange(head + "\r\n" + request.body, request.method == "HEAD");
}

absl::StatusOr<HttpResponse> HttpClient::Raw(const std::string& bytes) {
  return Exchange(bytes, false);
}

absl::StatusOr<HttpResponse> HttpClient::Exchange(const std::string& bytes, bool to_head) {
  const engine::Deadline deadline = engine::Deadline::After(deadline_);
  // Readable before anything was asked: the server has closed it.
  if (fd_ >= 0 && Await(fd_, POLLIN, engine::Deadline::After(engine::Duration::zero())).ok()) {
    Close();
  }
  if (fd_ < 0) {
    RETURN_IF_ERROR(Connect(deadline));
  }
  // A server that refuses a request early answers and stops reading, so a failed write is not
  // the end: the answer may be there.
  const absl::Status written = Write(bytes, deadline);
  absl::StatusOr<HttpResponse> response = ReadResponse(to_head, deadline);
  if (!response.ok() || !written.ok() || Lower(response->Header("connection")) == "close") {
    Close();
  }
  return response;
}

absl::Status HttpClient::Connect(engine::Deadline deadline) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(port_);
  if (getaddrinfo(host_.c_str(), port.c_str(), &hints, &found) != 0) {
    return absl::UnavailableError(absl::StrFormat("no address for %s", host_));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    return absl::UnavailableError(absl::StrFormat("socket: %s", std::strerror(errno)));
  }
  int error = 0;
  if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
    error = errno;
    if (error == EINPROGRESS && Await(fd, POLLOUT, deadline).ok()) {
      socklen_t size = sizeof(error);
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  if (error != 0) {
    close(fd);
    return absl::UnavailableError(
        absl::StrFormat("connect to %s:%d: %s", host_, port_, std::strerror(error)));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  fd_ = fd;
  ++connections_;
  return absl::OkStatus();
}

absl::Status HttpClient::Write(std::string_view bytes, engine::Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      RETURN_IF_ERROR(Await(fd_, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return absl::UnknownError(absl::StrFormat("send: %s", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HttpClient::ReadMore(engine::Deadline deadline) {
  char bytes[16384];
  while (true) {
    RETURN_IF_ERROR(Await(fd_, POLLIN, deadline));
    const ssize_t got = recv(fd_, bytes, sizeof(bytes), 0);
    if (got >= 0) {
      buffer_.append(bytes, static_cast<std::size_t>(got));
      return got > 0;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return absl::UnknownError(absl::StrFormat("receive: %s", std::strerror(errno)));
    }
  }
}

absl::StatusOr<std::string> HttpClient::TakeLine(engine::Deadline deadline) {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    ASSIGN_OR_RETURN(const bool more, ReadMore(deadline));
    if (!more) {
      return absl::UnknownError("the connection ended before the answer did");
    }
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

absl::StatusOr<std::string> HttpClient::Take(std::size_t size, engine::Deadline deadline) {
  while (buffer_.size() < size) {
    ASSIGN_OR_RETURN(const bool more, ReadMore(deadline));
    if (!more) {
      return absl::UnknownError("the connection ended before the answer did");
    }
  }
  std::string taken = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return taken;
}

absl::StatusOr<HttpResponse> HttpClient::ReadResponse(bool to_head, engine::Deadline deadline) {
  HttpResponse response;
  do {
    response = HttpResponse();
    ASSIGN_OR_RETURN(const std::string status, TakeLine(deadline));
    const auto code =
        ParseSize(status.substr(0, 12).substr(std::min<std::size_t>(9, status.size())), 10);
    if (status.rfind("HTTP/1.1 ", 0) != 0 || !code || *code < 100 || *code > 599) {
      return NotHttp(status);
    }
    response.status = static_cast<int>(*code);
    response.reason = status.size() > 13 ? status.substr(13) : "";
    while (true) {
      ASSIGN_OR_RETURN(const std::string line, TakeLine(deadline));
      if (line.empty()) {
        break;
      }
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) {
        return NotHttp(line);
      }
      response.headers[Lower(line.substr(0, colon))] = Trimmed(line.substr(colon + 1));
    }
    // 1xx is followed by the answer proper.
  } while (response.status < 200);
  if (!to_head && response.status != 204 && response.status != 304) {
    RETURN_IF_ERROR(ReadBody(response, deadline));
  }
  return response;
}

absl::Status HttpClient::ReadBody(HttpResponse& response, engine::Deadline deadline) {
  if (Lower(response.Header("transfer-encoding")) == "chunked") {
    return ReadChunks(response.body, deadline);
  }
  if (response.headers.count("content-length") > 0) {
    const std::string given = response.Header("content-length");
    const auto size = ParseSize(given, 10);
    if (!size) {
      return NotHttp("content-length " + given);
    }
    ASSIGN_OR_RETURN(response.body, Take(*size, deadline));
    return absl::OkStatus();
  }
  // Neither length nor chunks: the body lasts as long as the connection.
  bool more = true;
  while (more) {
    ASSIGN_OR_RETURN(more, ReadMore(deadline));
  }
  response.body.swap(buffer_);
  Close();
  return absl::OkStatus();
}

absl::Status HttpClient::ReadChunks(std::string& body, engine::Deadline deadline) {
  while (true) {
    ASSIGN_OR_RETURN(const std::string line, TakeLine(deadline));
    const auto size = ParseSize(Trimmed(line.substr(0, line.find(';'))), 16);
    if (!size) {
      return NotHttp("chunk size " + line);
    }
    if (*size == 0) {
      break;
    }
    ASSIGN_OR_RETURN(const std::string chunk, Take(*size, deadline));
    body += chunk;
    ASSIGN_OR_RETURN(const std::string end, TakeLine(deadline));
    if (!end.empty()) {
      return NotHttp("no end of chunk");
    }
  }
  // Trailers end with an empty line too.
  std::string trailer = "-";
  while (!trailer.empty()) {
    ASSIGN_OR_RETURN(trailer, TakeLine(deadline));
  }
  return absl::OkStatus();
}

}  // namespace support
