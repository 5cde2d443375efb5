#include "api/http/transport_answer.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace api {
namespace {

std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";  // The phrase may be empty; nobody may rely on it.
  }
}

// A header that would end its line, and with it let its value write further headers, is not sent.
bool IsOneLine(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

void AppendNumber(std::size_t number, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void AppendLine(std::string_view name, std::string_view value, std::string& out) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

}  // namespace

bool AnswerHasBody(const Request& request, int status) {
  return request.method() != Method::kHead && status != 204 && status != 304;
}

void AppendAnswerHead(const Request& request, const Response& response, const AnswerFrame& frame,
                      std::string& out) {
  out += "HTTP/1.1 ";
  AppendNumber(static_cast<std::size_t>(response.status), out);
  out.push_back(' ');
  out += Reason(response.status);
  out += "\r\n";
  AppendLine("Date", frame.date, out);
  AppendLine("X-Request-ID", request.id(), out);
  if (!response.content_type.empty() && IsOneLine(response.content_type)) {
    AppendLine("Content-Type", response.content_type, out);
  }
  if (response.source != nullptr) {
    // Without a length the end of the connection is the end of the body.
    if (!frame.is_http_1_0 && AnswerHasBody(request, response.status)) {
      AppendLine("Transfer-Encoding", "chunked", out);
    }
  } else if (response.status != 204 && response.status != 304) {
    out += "Content-Length: ";
    AppendNumber(response.body.size(), out);
    out += "\r\n";
  }
  if (!frame.keeps_alive) {
    AppendLine("Connection", "close", out);
  } else if (frame.is_http_1_0) {
    AppendLine("Connection", "keep-alive", out);
  }
  out += frame.common_headers;
  for (const HeaderField& field : response.headers) {
    if (IsOneLine(field.name) && IsOneLine(field.value)) {
      AppendLine(field.name, field.value, out);
    }
  }
  out += "\r\n";
}

}  // namespace api
