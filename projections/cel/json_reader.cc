#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"
#include "projections/cel/json.h"
#include "projections/cel/utf8.h"

namespace projections::cel {
namespace {

constexpr int kMaxDepth = 64;

absl::Status NotJson(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("not JSON: %s", what));
}

class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}

  absl::StatusOr<Value> Document() {
    ASSIGN_OR_RETURN(Value value, Any(0));
    SkipSpace();
    if (!in_.empty()) {
      return NotJson("something follows");
    }
    return value;
  }

 private:
  void SkipSpace() { in_.remove_prefix(std::min(in_.find_first_not_of(" \t\r\n"), in_.size())); }

  bool Take(std::string_view text) {
    SkipSpace();
    if (!in_.starts_with(text)) {
      return false;
    }
    in_.remove_prefix(text.size());
    return true;
  }

  absl::StatusOr<Value> Any(int depth) {
    if (depth > kMaxDepth) {
      return NotJson("nested too deep");
    }
    if (Take("{")) {
      return Members(depth);
    }
    if (Take("[")) {
      return Elements(depth);
    }
    if (Take("\"")) {
      ASSIGN_OR_RETURN(std::string text, Text());
      return Value(std::move(text));
    }
    if (Take("true") || Take("false")) {
      return Value(*(in_.data() - 2) == 'u');
    }
    if (Take("null")) {
      return Value();
    }
    return Number();
  }

  absl::StatusOr<Value> Members(int depth) {
    Value::Map map;
    if (Take("}")) {
      return Value(std::move(map));
    }
    do {
      if (!Take("\"")) {
        return NotJson("a key is missing");
      }
      ASSIGN_OR_RETURN(std::string key, Text());
      if (!Take(":")) {
        return NotJson("a colon is missing");
      }
      ASSIGN_OR_RETURN(Value value, Any(depth + 1));
      map.insert_or_assign(std::move(key), std::move(value));
    } while (Take(","));
    if (!Take("}")) {
      return NotJson("an object does not end");
    }
    return Value(std::move(map));
  }

  absl::StatusOr<Value> Elements(int depth) {
    Value::List list;
    if (Take("]")) {
      return Value(std::move(list));
    }
    do {
      ASSIGN_OR_RETURN(Value value, Any(depth + 1));
      list.push_back(std::move(value));
    } while (Take(","));
    if (!Take("]")) {
      return NotJson("an array does not end");
    }
    return Value(std::move(list));
  }

  // What is behind the opening quote.
  absl::StatusOr<std::string> Text() {
    std::string text;
    while (!in_.empty() && in_.front() != '"') {
      if (in_.front() != '\\') {
        text += in_.front();
        in_.remove_prefix(1);
      } else {
        RETURN_IF_ERROR(Escape(text));
      }
    }
    if (in_.empty()) {
      return NotJson("a text does not end");
    }
    in_.remove_prefix(1);
    return text;
  }

  absl::Status Escape(std::string& text) {
    static constexpr std::string_view kEscapes = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = in_.size() > 1 ? in_[1] : '\0';
    if (c == 'u') {
      ASSIGN_OR_RETURN(std::uint32_t code, Unit());
      if ((code & 0xFC00) == 0xD800) {
        ASSIGN_OR_RETURN(const std::uint32_t low, Unit());
        code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF);
      }
      AppendUtf8(code, text);
      return absl::OkStatus();
    }
    const std::size_t index = kEscapes.find(c);
    if (c == '\0' || index == std::string_view::npos) {
      return NotJson("an escape means nothing");
    }
    text += kMeanings[index];
    in_.remove_prefix(2);
    return absl::OkStatus();
  }

  // `\uXXXX`
  absl::StatusOr<std::uint32_t> Unit() {
    std::uint32_t unit = 0;
    if (in_.size() < 6 || !in_.starts_with("\\u") ||
        std::from_chars(in_.data() + 2, in_.data() + 6, unit, 16).ptr != in_.data() + 6) {
      return NotJson("an escape is too short");
    }
    in_.remove_prefix(6);
    return unit;
  }

  absl::StatusOr<Value> Number() {
    const std::size_t end = std::min(in_.find_first_not_of("+-.eE0123456789"), in_.size());
    const char* const last = in_.data() + end;
    double real = 0;
    const auto read = std::from_chars(in_.data(), last, real);
    if (end == 0 || read.ptr != last) {
      return NotJson("no value");
    }
    if (read.ec != std::errc()) {
      real = std::strtod(std::string(in_.substr(0, end)).c_str(), nullptr);
    }
    std::int64_t integer = 0;
    std::uint64_t natural = 0;
    const bool is_integer = IsWhole(last, integer);
    const bool is_natural = !is_integer && IsWhole(last, natural);
    in_.remove_prefix(end);
    Value as_real(real);
    std::size_t unused = 0;
    if (is_integer && !Equal(Value(integer), as_real, unused)) {
      return Value(integer);
    }
    if (is_natural && !Equal(Value(natural), as_real, unused)) {
      return Value(natural);
    }
    return as_real;
  }

  // Whether what comes up to `last` is a number of that kind.
  template <class Whole>
  bool IsWhole(const char* last, Whole& number) const {
    const auto [end, error] = std::from_chars(in_.data(), last, number);
    return error == std::errc() && end == last;
  }

  std::string_view in_;
};

}  // namespace

absl::StatusOr<Value> ValueOfJson(std::string_view json) {
  return Reader(json).Document();
}

}  // namespace projections::cel
