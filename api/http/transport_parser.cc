#include "api/http/transport_parser.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

#include "engine/base/guard.h"

namespace api {
namespace {

namespace http = boost::beast::http;

// A chunk's header line, or the trailers, may be this long.
constexpr std::size_t kMaxChunkHeader = 4096;

std::string ToString(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

WireParser::WireParser(const WireLimits& limits) : max_head_(limits.max_head) {
  eager(true);
  // The head was measured before it is parsed; this bounds trailers.
  header_limit(static_cast<std::uint32_t>(limits.max_head + 1));
  if (!GUARD("http.max_body", false)) {
    body_limit(limits.max_body);
  }
}

void WireParser::Refuse(Refusal refusal, std::string detail) {
  if (state_ != State::kRefused) {
    state_ = State::kRefused;
    refusal_ = refusal;
    refusal_detail_ = std::move(detail);
  }
}

std::size_t WireParser::Feed(std::string_view bytes) {
  if (state_ == State::kHead) {
    return FeedHead(bytes);
  }
  return Put(bytes);
}

std::size_t WireParser::FeedHead(std::string_view bytes) {
  // Empty lines before a request are skipped, as RFC 9112 2.2 advises.
  std::size_t skipped = 0;
  while (scanned_ == 0 && bytes.substr(skipped).starts_with("\r\n")) {
    skipped += 2;
  }
  bytes.remove_prefix(skipped);
  const std::size_t size = ScanHead(bytes);
  return size == 0 ? skipped : skipped + Put(bytes);
}

// The whole head is waited for before Beast sees it: it would unfold folded lines silently.
std::size_t WireParser::ScanHead(std::string_view bytes) {
  while (true) {
    if (line_start_ > 0 && line_start_ < bytes.size() &&
        (bytes[line_start_] == ' ' || bytes[line_start_] == '\t')) {
      Refuse(Refusal::kBadRequest, "Folded header lines are not supported");
      return 0;
    }
    const std::size_t feed = bytes.find('\n', scanned_);
    if (std::min(feed, bytes.size()) > max_head_) {
      Refuse(Refusal::kHeadTooLarge,
             absl::StrFormat("Request line and headers are over %d bytes", max_head_));
      return 0;
    }
    if (feed == std::string_view::npos) {
      scanned_ = bytes.size();
      return 0;
    }
    if (feed == 0 || bytes[feed - 1] != '\r') {
      Refuse(Refusal::kBadRequest, "A header line does not end in CR LF");
      return 0;
    }
    if (feed - 1 == line_start_) {
      return feed + 1;
    }
    scanned_ = feed + 1;
    line_start_ = feed + 1;
  }
}

std::size_t WireParser::Put(std::string_view bytes) {
  std::size_t taken = 0;
  while (state_ != State::kComplete && state_ != State::kRefused) {
    ErrorCode error;
    taken += put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
    if (state_ == State::kRefused || state_ == State::kComplete) {
      break;
    }
    if (error == http::error::need_more) {
      if (bytes.size() - taken > kMaxChunkHeader) {
        Refuse(Refusal::kBadRequest, "Malformed chunk");
      }
      break;
    }
    if (error) {
      RefuseFor(error);
    } else if (taken == bytes.size()) {
      break;
    }
  }
  return taken;
}

void WireParser::RefuseFor(const ErrorCode& error) {
  if (error == http::error::body_limit) {
    Refuse(Refusal::kPayloadTooLarge, "The request body is too large");
  } else if (error == http::error::header_limit) {
    Refuse(Refusal::kHeadTooLarge, "The trailers are too large");
  } else if (error == http::error::bad_version) {
    Refuse(Refusal::kVersion, "Only HTTP/1.0 and HTTP/1.1 are spoken here");
  } else {
    Refuse(Refusal::kBadRequest, "Malformed HTTP request: " + error.message());
  }
}

// ---- What Beast's parser calls ------------------------------------------------------------------

void WireParser::on_request_impl(http::verb, StringView method_name, StringView target, int version,
                                 ErrorCode&) {
  parts_.method = ToString(method_name);
  parts_.target = ToString(target);
  is_http_1_0_ = version == 10;
}

void WireParser::on_field_impl(http::field field, StringView name, StringView value, ErrorCode&) {
  if (head_is_done_) {
    return;  // A trailer: nothing may slip in behind the checks of the head.
  }
  parts_.headers.push_back({ToString(name), ToString(value)});
  if (field == http::field::host) {
    ++hosts_;
  } else if (field == http::field::content_length) {
    has_content_length_ = true;
  } else if (field == http::field::transfer_encoding) {
    // More than one is as unknown as `gzip, chunked`.
    transfer_encoding_ = transfer_encoding_ ? "several" : ToString(value);
  } else if (field == http::field::expect) {
    expectation_ = ToString(value);
  }
}

void WireParser::on_header_impl(ErrorCode& error) {
  head_is_done_ = true;
  state_ = State::kBody;
  CheckHead();
  if (state_ == State::kRefused) {
    error = http::error::bad_value;  // Stops the parser; the refusal is what counts.
  }
}

void WireParser::CheckHead() {
  if (hosts_ > 1 || (hosts_ == 0 && !is_http_1_0_)) {
    return Refuse(Refusal::kBadRequest, hosts_ == 0 ? "The Host header is missing"
                                                    : "There is more than one Host header");
  }
  if (transfer_encoding_) {
    if (has_content_length_ || is_http_1_0_) {
      return Refuse(Refusal::kBadRequest, "Transfer-Encoding is not possible here");
    }
    if (!GUARD("http.known_encoding", EqualsIgnoreCase(*transfer_encoding_, "chunked"))) {
      return Refuse(Refusal::kUnknownEncoding, "Only the transfer encoding chunked is known");
    }
  }
  if (expectation_ && !is_http_1_0_) {
    if (!EqualsIgnoreCase(*expectation_, "100-continue")) {
      return Refuse(Refusal::kExpectationFailed, "Only Expect: 100-continue is known");
    }
    expects_continue_ = true;
  }
}

void WireParser::on_body_init_impl(const Optional<std::uint64_t>& length, ErrorCode&) {
  // A promise of many bytes is not worth as much memory before they come.
  constexpr std::uint64_t kReserve = 64 << 10;
  parts_.body.reserve(static_cast<std::size_t>(std::min(length.value_or(0), kReserve)));
}

std::size_t WireParser::on_body_impl(StringView body, ErrorCode&) {
  parts_.body.append(body.data(), body.size());
  return body.size();
}

void WireParser::on_chunk_header_impl(std::uint64_t, StringView, ErrorCode&) {}

std::size_t WireParser::on_chunk_body_impl(std::uint64_t, StringView body, ErrorCode&) {
  parts_.body.append(body.data(), body.size());
  return body.size();
}

void WireParser::on_finish_impl(ErrorCode&) {
  state_ = State::kComplete;
}

}  // namespace api
