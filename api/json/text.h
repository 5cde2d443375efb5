// AppendJsonText: a JSON string with its quotes, in the shortest spelling (RFC 8785 3.2.2.2).
//
// `\b \t \n \f \r \" \\` have their two-character escapes, other controls `\u00xx`; everything
// else stands for itself. Bytes that are not UTF-8 become U+FFFD. Thread-safe; never blocks.

#pragma once

#include <string>
#include <string_view>

namespace api {

void AppendJsonText(std::string_view text, std::string& out);

}  // namespace api
