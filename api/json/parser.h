// ParseJson: JSON text from outside into a DOM, exactly or not at all.
//
// What other parsers let pass and this one refuses: duplicate keys, lone surrogates, bytes that
// are not UTF-8, integers beyond 64 bits, numbers beyond the range of a double, nesting deeper
// than 64, keys longer than 1 KiB, anything after the document, an empty document. What it keeps:
// integers to the last digit (int64, else uint64), fractions and exponents rounded correctly to
// the nearest double.
//
// Thread-safe; never blocks.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace api {

// Objects keep the order in which their keys came.
using JsonValue = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

// Arrays and objects may be nested this deep: `[]` has depth 1.
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonKeyBytes = 1024;

enum class JsonErrorKind {
  kSyntax,  // Not JSON, or one of the refusals above.
  kNul,     // A key or a string has the character U+0000, which no store of text keeps.
};

struct JsonError {
  JsonErrorKind kind = JsonErrorKind::kSyntax;
  std::size_t offset = 0;  // Bytes from the start of the text to where parsing stopped.
  std::string message;     // For people: what, and the offset.
};

// Either `value` or `error` is meaningful.
struct JsonParse {
  std::optional<JsonValue> value;
  JsonError error;

  bool ok() const { return value.has_value(); }
};

// Takes memory of about 10 times the size of `text` at most.
JsonParse ParseJson(std::string_view text);

}  // namespace api
