// RawClient: a TCP connection that sends exactly the bytes a test gives it.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace support {

// An answer as it came over the wire.
struct RawAnswer {
  int status = 0;    // 0: the connection ended or 10 s passed before a whole answer.
  std::string head;  // Status line and headers, without the empty line.
  std::string body;

  // The value of the first header of that name (any case); "" when there is none.
  std::string Header(std::string_view name) const;
};

// One thread. Calls block for 10 s at most. Move-only.
class RawClient {
 public:
  // `address` is HOST:PORT of the loopback.
  explicit RawClient(std::string_view address);
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  RawClient& operator=(RawClient&&) = delete;

  // False when the peer has closed.
  bool Send(std::string_view bytes);
  // `method target`, Host, and `headers` (complete lines with CRLF); a body brings its length.
  bool Request(std::string_view method, std::string_view target, std::string_view headers = "",
               std::string_view body = "");
  // The next answer. `head_only`: it has no body, whatever its Content-Length says.
  RawAnswer Read(bool head_only = false);
  // Everything up to the end of the next `text`; what there is when it does not come.
  std::string ReadPast(std::string_view text);
  // Whether the peer closes within 10 s; what it still sends is dropped.
  bool IsClosedByPeer();
  // Sends FIN; answers can still be read.
  void EndSending();
  // Closes with a reset, as a client that dies does.
  void Reset();

 private:
  bool ReadMore();

  int socket_ = -1;
  std::string buffer_;
};

}  // namespace support
