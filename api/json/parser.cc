#include "api/json/parser.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>
#include <boost/json/basic_parser_impl.hpp>

#include "engine/base/guard.h"

namespace api {
namespace {

namespace json = boost::json;

// Builds the DOM from the parser's events. The names are what boost::json::basic_parser calls.
class Builder {  // NOLINTBEGIN(readability-identifier-naming): names given by Boost.JSON
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }

  bool on_object_begin(json::error_code&) {
    levels_.push_back({json::object(), {}});
    return true;
  }
  bool on_object_end(std::size_t, json::error_code& error) { return EndLevel(error); }
  bool on_array_begin(json::error_code&) {
    levels_.push_back({json::array(), {}});
    return true;
  }
  bool on_array_end(std::size_t, json::error_code& error) { return EndLevel(error); }

  bool on_key_part(json::string_view part, std::size_t size, json::error_code& error) {
    return AddToKey(part, size, error);
  }
  bool on_key(json::string_view part, std::size_t size, json::error_code& error) {
    if (!AddToKey(part, size, error)) {
      return false;
    }
    levels_.back().key = std::exchange(text_, {});
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code& error) {
    return AddToText(part, error);
  }
  bool on_string(json::string_view part, std::size_t, json::error_code& error) {
    if (!AddToText(part, error)) {
      return false;
    }
    json::string whole(text_);
    text_.clear();
    return Add(std::move(whole), error);
  }

  bool on_number_part(json::string_view part, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t number, json::string_view, json::error_code& error) {
    text_.clear();
    return Add(number, error);
  }
  bool on_uint64(std::uint64_t number, json::string_view, json::error_code& error) {
    text_.clear();
    return Add(number, error);
  }
  // Boost rounds doubles wrongly now and then, and turns integers that are too long into doubles:
  // its number is not used, the digits are read again.
  bool on_double(double, json::string_view part, json::error_code& error) {
    text_.append(part.data(), part.size());
    const std::string digits = std::exchange(text_, {});
    if (!GUARD("json.integer_64_bits", digits.find_first_of(".eE") != std::string::npos)) {
      return Fail(JsonErrorKind::kSyntax, "integer beyond 64 bits", error);
    }
    double number = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (result.ec != std::errc()) {
      // Out of range, upwards or downwards: a number too small to tell from zero is zero.
      number = std::strtod(digits.c_str(), nullptr);
      if (number > 1 || number < -1) {
        return Fail(JsonErrorKind::kSyntax, "number beyond the range of a double", error);
      }
    }
    return Add(number, error);
  }
  bool on_bool(bool value, json::error_code& error) { return Add(value, error); }
  bool on_null(json::error_code& error) { return Add(nullptr, error); }
  bool on_comment_part(json::string_view, json::error_code&) { return false; }
  bool on_comment(json::string_view, json::error_code&) { return false; }
  // NOLINTEND(readability-identifier-naming)

  JsonValue TakeDocument() { return std::move(document_); }
  // Empty when the parser itself, not the builder, refused.
  const std::string& refusal() const { return refusal_; }
  JsonErrorKind kind() const { return kind_; }

 private:
  struct Level {
    JsonValue container;
    std::string key;  // Of the member that is being read.
  };

  bool Fail(JsonErrorKind kind, std::string message, json::error_code& error) {
    kind_ = kind;
    refusal_ = std::move(message);
    error = json::error::syntax;
    return false;
  }

  bool AddToKey(json::string_view part, std::size_t size, json::error_code& error) {
    if (size > kMaxJsonKeyBytes) {
      return Fail(JsonErrorKind::kSyntax,
                  absl::StrFormat("key longer than %d bytes", kMaxJsonKeyBytes), error);
    }
    return AddToText(part, error);
  }

  bool AddToText(json::string_view part, json::error_code& error) {
    if (!GUARD("json.nul", part.find('\0') == json::string_view::npos)) {
      return Fail(JsonErrorKind::kNul, "NUL character (\\u0000) in a string", error);
    }
    text_.append(part.data(), part.size());
    return true;
  }

  template <class Value>
  bool Add(Value&& value, json::error_code& error) {
    if (levels_.empty()) {
      document_ = std::forward<Value>(value);
      return true;
    }
    Level& level = levels_.back();
    if (json::array* const array = level.container.if_array()) {
      array->emplace_back(std::forward<Value>(value));
      return true;
    }
    json::object& object = level.container.get_object();
    const bool is_new = object.emplace(level.key, std::forward<Value>(value)).second;
    if (!GUARD("json.duplicate_keys", is_new)) {
      return Fail(JsonErrorKind::kSyntax, absl::StrFormat("duplicate key \"%s\"", level.key),
                  error);
    }
    return true;
  }

  bool EndLevel(json::error_code& error) {
    JsonValue whole = std::move(levels_.back().container);
    levels_.pop_back();
    return Add(std::move(whole), error);
  }

  std::vector<Level> levels_;
  std::string text_;  // Of the key, string or number that is being read.
  JsonValue document_;
  std::string refusal_;
  JsonErrorKind kind_ = JsonErrorKind::kSyntax;
};

json::parse_options Options() {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  return options;
}

JsonParse Refuse(JsonErrorKind kind, std::size_t offset, std::string_view what) {
  JsonParse result;
  result.error = {kind, offset, absl::StrFormat("%s at byte %d", what, offset)};
  return result;
}

std::string_view Describe(const json::error_code& error) {
  switch (static_cast<json::error>(error.value())) {
    case json::error::incomplete:
      return "unexpected end of the document";
    case json::error::too_deep:
      return "nested deeper than 64 levels";
    case json::error::expected_utf16_escape:
    case json::error::illegal_leading_surrogate:
    case json::error::illegal_trailing_surrogate:
      return "lone surrogate in a string";
    case json::error::exponent_overflow:
      return "number beyond the range of a double";
    default:
      return "not valid JSON";
  }
}

}  // namespace

JsonParse ParseJson(std::string_view text) {
  if (text.empty()) {
    return Refuse(JsonErrorKind::kSyntax, 0, "empty document");
  }
  json::basic_parser<Builder> parser(Options());
  json::error_code error;
  const std::size_t end = parser.write_some(false, text.data(), text.size(), error);
  Builder& builder = parser.handler();
  if (error) {
    const std::string_view what =
        builder.refusal().empty() ? Describe(error) : std::string_view(builder.refusal());
    return Refuse(builder.kind(), end, what);
  }
  if (end != text.size()) {
    return Refuse(JsonErrorKind::kSyntax, end, "bytes after the document");
  }
  JsonParse result;
  result.value = builder.TakeDocument();
  return result;
}

}  // namespace api
