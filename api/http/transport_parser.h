// WireParser: bytes of one HTTP/1.1 request in, a RequestParts out. No sockets.
//
// Beast's parser behind what it leaves to its user: the limit of the head, folded lines, bare
// line feeds, Host, transfer encodings, expectations. One object for one request; One thread;
// never blocks. Part of the transport; nothing else includes it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

#include "api/http/request.h"
#include "api/http/router.h"

namespace api {

struct WireLimits {
  std::size_t max_head = 0;
  std::size_t max_body = 0;
};

class WireParser final : private boost::beast::http::basic_parser<true> {
 public:
  explicit WireParser(const WireLimits& limits);

  enum class State { kHead, kBody, kComplete, kRefused };

  // Reads on. `bytes` starts where the last call stopped taking; returns how many were taken.
  // REQUIRES: state() is kHead or kBody.
  std::size_t Feed(std::string_view bytes);

  State state() const { return state_; }
  // Valid when kRefused; the parts have what was understood until then.
  Refusal refusal() const { return refusal_; }
  const std::string& refusal_detail() const { return refusal_detail_; }

  // The sender waits for `100 Continue` before it sends its body. Valid from kBody on.
  bool expects_continue() const { return expects_continue_; }
  // Whether the sender wants the connection to stay open. Valid when kComplete.
  bool keeps_alive() const { return keep_alive(); }
  bool is_http_1_0() const { return is_http_1_0_; }

  RequestParts TakeParts() { return std::move(parts_); }

 private:
  using ErrorCode = boost::beast::error_code;
  using StringView = boost::beast::string_view;
  template <class T>
  using Optional = boost::optional<T>;

  // Finds the end of the head in `bytes`; 0 when it is not there yet or the head is refused.
  std::size_t ScanHead(std::string_view bytes);
  std::size_t FeedHead(std::string_view bytes);
  std::size_t Put(std::string_view bytes);
  void CheckHead();
  void Refuse(Refusal refusal, std::string detail);
  void RefuseFor(const ErrorCode& error);

  void on_request_impl(boost::beast::http::verb method, StringView method_name, StringView target,
                       int version, ErrorCode& error) override;
  void on_response_impl(int, StringView, int, ErrorCode&) override {}
  void on_field_impl(boost::beast::http::field field, StringView name, StringView value,
                     ErrorCode& error) override;
  void on_header_impl(ErrorCode& error) override;
  void on_body_init_impl(const Optional<std::uint64_t>& length, ErrorCode& error) override;
  std::size_t on_body_impl(StringView body, ErrorCode& error) override;
  void on_chunk_header_impl(std::uint64_t size, StringView extensions, ErrorCode& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, StringView body, ErrorCode& error) override;
  void on_finish_impl(ErrorCode& error) override;

  std::size_t max_head_;
  State state_ = State::kHead;
  RequestParts parts_;
  Refusal refusal_ = Refusal::kBadRequest;
  std::string refusal_detail_;
  bool is_http_1_0_ = false;
  bool head_is_done_ = false;
  bool expects_continue_ = false;
  bool has_content_length_ = false;
  int hosts_ = 0;
  std::optional<std::string> transfer_encoding_;
  std::optional<std::string> expectation_;
  // How far the search for the end of the head has come, and where its current line starts.
  std::size_t scanned_ = 0;
  std::size_t line_start_ = 0;
};

}  // namespace api
