#include "api/http/gzip.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <zlib.h>

namespace api {
namespace {

constexpr std::size_t kLeastBody = std::size_t{1} << 10;
constexpr std::size_t kMostBody = std::size_t{1} << 20;
constexpr int kLevel = 1;                    // Fastest: JSON shrinks to a fifth even so.
constexpr int kGzipWindow = MAX_WBITS + 16;  // zlib's way to ask for a gzip frame.
constexpr int kMemoryLevel = 8;              // zlib's default.

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Whether `q=0`, `q=0.0`, ... is among the parameters: everything else is above zero.
bool IsRefused(std::string_view parameters) {
  const std::size_t q = parameters.find("q=");
  if (q == std::string_view::npos) {
    return false;
  }
  const std::string_view weight = Trim(parameters.substr(q + 2));
  return weight.starts_with('0') && weight.find_first_of("123456789") == std::string_view::npos;
}

bool IsGzip(std::string_view coding) {
  return std::ranges::equal(coding, std::string_view("gzip"), {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
}

std::optional<std::string> Gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return std::nullopt;
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  // zlib takes its input as mutable but does not change it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int ended = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return ended == Z_STREAM_END ? std::optional(std::move(packed)) : std::nullopt;
}

}  // namespace

bool AcceptsGzip(std::string_view accept_encoding) {
  std::optional<bool> any;
  while (!accept_encoding.empty()) {
    const std::size_t comma = accept_encoding.find(',');
    const std::string_view item = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(comma == std::string_view::npos ? accept_encoding.size()
                                                                  : comma + 1);
    const std::size_t semicolon = item.find(';');
    const std::string_view coding = Trim(item.substr(0, semicolon));
    const bool wanted =
        semicolon == std::string_view::npos || !IsRefused(item.substr(semicolon + 1));
    if (IsGzip(coding)) {
      return wanted;
    }
    if (coding == "*") {
      any = wanted;
    }
  }
  return any.value_or(false);
}

void CompressFor(const Request& request, Response& response) {
  if (response.body.size() < kLeastBody || response.body.size() > kMostBody) {
    return;
  }
  response.With("Vary", "Accept-Encoding");
  const auto accepted = request.Header("Accept-Encoding");
  if (!accepted.has_value() || !AcceptsGzip(*accepted)) {
    return;
  }
  if (auto packed = Gzip(response.body); packed.has_value()) {
    response.body = *std::move(packed);
    response.With("Content-Encoding", "gzip");
  }
}

}  // namespace api
