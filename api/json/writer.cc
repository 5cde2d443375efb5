#include "api/json/writer.h"

#include <array>
#include <charconv>

#include "api/json/canonical.h"
#include "api/json/text.h"
#include "engine/base/check.h"

namespace api {
namespace {

template <class Integer>
void AppendInteger(Integer number, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace

void JsonWriter::Separate() {
  if (needs_comma_) {
    out_.push_back(',');
  }
  needs_comma_ = true;
}

JsonWriter& JsonWriter::BeginObject() {
  Separate();
  out_.push_back('{');
  needs_comma_ = false;
  ++depth_;
  return *this;
}

JsonWriter& JsonWriter::EndObject() {
  ENGINE_CHECK(depth_ > 0);
  --depth_;
  out_.push_back('}');
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::BeginArray() {
  Separate();
  out_.push_back('[');
  needs_comma_ = false;
  ++depth_;
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  ENGINE_CHECK(depth_ > 0);
  --depth_;
  out_.push_back(']');
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  ENGINE_CHECK(depth_ > 0);
  Separate();
  AppendJsonText(key, out_);
  out_.push_back(':');
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  Separate();
  AppendJsonText(text, out_);
  return *this;
}

JsonWriter& JsonWriter::Int(std::int64_t number) {
  Separate();
  AppendInteger(number, out_);
  return *this;
}

JsonWriter& JsonWriter::Uint(std::uint64_t number) {
  Separate();
  AppendInteger(number, out_);
  return *this;
}

JsonWriter& JsonWriter::Double(double number) {
  Separate();
  AppendJsonNumber(number, out_);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::Value(const JsonValue& value) {
  Separate();
  AppendCanonicalJson(value, out_);
  return *this;
}

}  // namespace api
