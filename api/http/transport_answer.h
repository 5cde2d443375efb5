// The status line and headers of an answer. Part of the transport; nothing else includes it.
//
// Thread-safe; never blocks.

#pragma once

#include <string>
#include <string_view>

#include "api/http/request.h"
#include "api/http/response.h"

namespace api {

// What the transport itself adds to an answer.
struct AnswerFrame {
  std::string_view date;            // `Mon, 30 Nov 2026 15:36:58 GMT`
  std::string_view common_headers;  // Of the family: complete lines.
  bool keeps_alive = true;
  bool is_http_1_0 = false;
};

// Appends everything up to and with the empty line. Headers of `response` that hold a CR, LF or
// NUL are left out: they would write further headers.
void AppendAnswerHead(const Request& request, const Response& response, const AnswerFrame& frame,
                      std::string& out);

// False for answers to HEAD and for 204 and 304.
bool AnswerHasBody(const Request& request, int status);

}  // namespace api
