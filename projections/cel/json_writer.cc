#include <charconv>
#include <cmath>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"
#include "projections/cel/json.h"

namespace projections::cel {
namespace {

class Writer {
 public:
  Writer(std::string& out, std::size_t limit) : out_(out), limit_(limit) {}

  absl::Status Write(const Value& value) {
    if (out_.size() > limit_) {
      return TooLong();
    }
    switch (value.kind()) {
      case Value::Kind::kNull:
        out_ += "null";
        break;
      case Value::Kind::kBool:
        out_ += value.boolean() ? "true" : "false";
        break;
      case Value::Kind::kInt:
        out_ += std::to_string(value.integer());
        break;
      case Value::Kind::kUint:
        out_ += std::to_string(value.natural());
        break;
      case Value::Kind::kDouble:
        return Real(value.real());
      case Value::Kind::kText:
        Text(value.text());
        break;
      case Value::Kind::kList:
        return Elements(value.list());
      case Value::Kind::kMap:
        return Members(value.map());
      case Value::Kind::kOptional:
        return absl::InvalidArgumentError("an optional is no JSON");
    }
    return absl::OkStatus();
  }

  absl::Status TooLong() const {
    return absl::InvalidArgumentError(absl::StrFormat("JSON of more than %d bytes", limit_));
  }

 private:
  absl::Status Real(double real) {
    if (!std::isfinite(real)) {
      return absl::InvalidArgumentError("a number that JSON does not have");
    }
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, real);
    out_.append(text, end.ptr);
    return absl::OkStatus();
  }

  void Text(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        out_ += absl::StrFormat("\\u%04x", static_cast<unsigned>(c));
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  absl::Status Elements(const Value::List& list) {
    out_ += '[';
    bool first = true;
    for (const Value& element : list) {
      out_ += first ? "" : ",";
      first = false;
      RETURN_IF_ERROR(Write(element));
    }
    out_ += ']';
    return absl::OkStatus();
  }

  absl::Status Members(const Value::Map& map) {
    out_ += '{';
    bool first = true;
    for (const auto& [key, value] : map) {
      out_ += first ? "" : ",";
      first = false;
      Text(key);
      out_ += ':';
      RETURN_IF_ERROR(Write(value));
    }
    out_ += '}';
    return absl::OkStatus();
  }

  std::string& out_;
  const std::size_t limit_;
};

}  // namespace

absl::StatusOr<std::string> JsonOfValue(const Value& value, std::size_t limit) {
  std::string out;
  Writer writer(out, limit);
  RETURN_IF_ERROR(writer.Write(value));
  if (out.size() > limit) {
    return writer.TooLong();
  }
  return out;
}

}  // namespace projections::cel
