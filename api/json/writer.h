// JsonWriter: builds the JSON text of an answer by appending; no DOM, commas put in by itself.
//
//   std::string body;
//   JsonWriter json(body);
//   json.BeginObject();
//   json.Key("kind").String("Cluster");
//   json.Key("generation").Int(3);
//   json.Key("spec").Raw(stored_canonical_text);
//   json.EndObject();
//
// Calls must form a value: that is the caller's code and not input, so it is checked only as far
// as the text would not nest. Thread-compatible; never blocks.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/json/parser.h"

namespace api {

class JsonWriter {
 public:
  // Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string& out) : out_(out) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  // The next call writes its value.
  JsonWriter& Key(std::string_view key);

  // Bytes that are not UTF-8 become U+FFFD, so that the text is always valid.
  JsonWriter& String(std::string_view text);
  JsonWriter& Int(std::int64_t number);
  JsonWriter& Uint(std::uint64_t number);
  // As the canonical form writes it. REQUIRES: finite.
  JsonWriter& Double(double number);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // Text that is JSON already, such as a stored `spec`.
  JsonWriter& Raw(std::string_view json);
  // A DOM, in canonical form.
  JsonWriter& Value(const JsonValue& value);

 private:
  void Separate();

  std::string& out_;
  bool needs_comma_ = false;
  int depth_ = 0;
};

}  // namespace api
