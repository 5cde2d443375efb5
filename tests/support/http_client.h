// HttpClient: a small HTTP/1.1 client for tests, which knows what may have happened on a failure.
//
// Written on a bare socket on purpose: a test of the server must see the bytes that went over the
// wire, not what a forgiving library makes of them.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/deadline.h"

namespace support {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 0;
  std::string reason;
  std::map<std::string, std::string> headers;  // Names in lower case; of doubles the last one.
  std::string body;

  // The value of a header, its name in lower case; empty when there is none.
  std::string Header(const std::string& name) const;
};

struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";
  std::string body = {};
  // Host is added, and for a body Content-Length and `Content-Type: application/json`, unless
  // given here.
  HttpHeaders headers = {};
};

// Keeps one connection alive and connects again when the last answer closed it, or when the
// server has closed it since: that is looked for before a request is sent, and a request is never
// sent twice. One thread. Every call blocks, at most for the deadline given at construction, and
// fails with
//   kUnavailable      nothing was sent: no connection
//   kUnknown          the request may have been received; the connection broke before the answer
//   kDeadlineExceeded as kUnknown, but the deadline passed
//   kDataLoss         the answer is not HTTP/1.1
// after which the next call connects anew.
class HttpClient {
 public:
  // `host` is a numeric address or a name.
  HttpClient(std::string host, int port, engine::Duration deadline = std::chrono::seconds(30));
  // Of `http://host:port`, as servers print it.
  explicit HttpClient(const std::string& url, engine::Duration deadline = std::chrono::seconds(30));
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  absl::StatusOr<HttpResponse> Get(const std::string& path, const HttpHeaders& headers = {});
  absl::StatusOr<HttpResponse> Post(const std::string& path, const std::string& body,
                                    const HttpHeaders& headers = {});
  absl::StatusOr<HttpResponse> Put(const std::string& path, const std::string& body,
                                   const HttpHeaders& headers = {});
  absl::StatusOr<HttpResponse> Patch(const std::string& path, const std::string& body,
                                     const HttpHeaders& headers = {});
  absl::StatusOr<HttpResponse> Delete(const std::string& path, const HttpHeaders& headers = {});
  absl::StatusOr<HttpResponse> Call(const HttpRequest& request);

  // Sends `bytes` as they are and reads one answer; for requests that are wrong on purpose.
  absl::StatusOr<HttpResponse> Raw(const std::string& bytes);

  // Closes the connection; the next call opens another.
  void Close();

  // How many connections were opened so far.
  int connections() const { return connections_; }

 private:
  absl::StatusOr<HttpResponse> Exchange(const std::string& bytes, bool to_head);
  absl::Status Connect(engine::Deadline deadline);
  absl::Status Write(std::string_view bytes, engine::Deadline deadline);
  // Adds what the server sent next to `buffer_`. False at the end of the connection.
  absl::StatusOr<bool> ReadMore(engine::Deadline deadline);
  absl::StatusOr<HttpResponse> ReadResponse(bool to_head, engine::Deadline deadline);
  absl::Status ReadBody(HttpResponse& response, engine::Deadline deadline);
  absl::Status ReadChunks(std::string& body, engine::Deadline deadline);
  // The next line without its end, or the next `size` bytes, taken from the connection.
  absl::StatusOr<std::string> TakeLine(engine::Deadline deadline);
  absl::StatusOr<std::string> Take(std::size_t size, engine::Deadline deadline);

  std::string host_;
  int port_;
  engine::Duration deadline_;
  int fd_ = -1;
  int connections_ = 0;
  std::string buffer_;
};

}  // namespace support
