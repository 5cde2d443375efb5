// Reading canonical JSON (api/json/canonical.h) in place: a search looks at one member of each of
// many specs, so it builds no tree of any.
//
// Pure functions; thread-safe, never block. Slices point into the text. The text has been judged
// when it came in: what is not JSON gives kMissing or a slice that is too short, never more.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace projections::search {

enum class JsonKind { kMissing, kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

struct JsonSlice {
  JsonKind kind = JsonKind::kMissing;
  std::string_view text = {};  // As it is written; a string with its quotes.
};

// The value that `text` begins with.
JsonSlice ValueAt(std::string_view text);

// Walks the members of an object, or the elements of an array.
//
//   for (JsonMembers at(object); at.Next();) { at.key(); at.value(); }
class JsonMembers {
 public:
  // `container` is an object or an array; of anything else there are no members.
  explicit JsonMembers(std::string_view container);

  bool Next();
  // Without quotes, escapes as they are written. Empty in an array.
  std::string_view key() const { return key_; }
  const JsonSlice& value() const { return value_; }

 private:
  std::string_view rest_;
  bool is_object_ = false;
  std::string_view key_;
  JsonSlice value_;
};

// The member at the end of `path`, each of which is the key of an object. REQUIRES: no key needs
// an escape.
JsonSlice FindMember(std::string_view object, std::span<const std::string> path);

// What a string says. REQUIRES: value.kind == kString. `scratch` holds it where it has escapes.
std::string_view TextOf(const JsonSlice& value, std::string& scratch);

}  // namespace projections::search
