// JsonSchema: whether a value is what a schema of an OpenAPI 3.0 document says.
//
// Knows the keywords that our documents use; any other is a violation, so that nothing passes
// because nobody looked. An object schema that lists its properties and does not say otherwise is
// closed: a member it does not list is a violation, since an answer must not have what is not
// documented.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/parser.h"

namespace support {

// Thread-safe; never blocks. `document` must outlive it.
class JsonSchema {
 public:
  explicit JsonSchema(const api::JsonValue& document) : document_(document) {}

  // What is wrong, each with the place in the value: `/items/0/name: ...`. Empty: nothing.
  std::vector<std::string> Check(const api::JsonValue& schema, const api::JsonValue& value) const;

  // What is wrong with the schema itself: unknown keywords, bounds that contradict each other, ...
  std::vector<std::string> CheckSchema(const api::JsonValue& schema) const;

  // What `#/components/schemas/X` points at; null when there is no such place.
  const api::JsonValue* Find(std::string_view ref) const;
  // The same for a value with a `$ref`; the value itself when it has none.
  const api::JsonValue* Resolve(const api::JsonValue& value) const;

 private:
  const api::JsonValue& document_;
};

// Whether a POSIX extended regular expression is one, and whether it matches.
bool IsPattern(const std::string& pattern);
bool Matches(const std::string& pattern, const std::string& text);

}  // namespace support
