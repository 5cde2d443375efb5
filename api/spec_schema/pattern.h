// Pattern: a regular expression of a schema, found anywhere in a text.
//
// Schemas are written for ECMAScript (with its `u` flag); here RE2 runs them, in time linear in
// the text. Translated: `\s` and `.` (which mean more there), `\cX`, `\uXXXX`, `\xXX`, `[^]`,
// `[]`, named groups, long names of Unicode categories. Refused, by name: look-ahead,
// look-behind and back references, which have no linear matching; more than 1000 repetitions; a
// program of more than 1 MiB. `\A`, `\z` and flags such as `(?i)` are RE2's own and stay.
//
// Immutable, so thread-safe; never blocks.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

namespace re2 {
class RE2;
}  // namespace re2

namespace api {

class Pattern {
 public:
  // Fails with kInvalidArgument and what is wrong with it.
  static absl::StatusOr<Pattern> Compile(std::string_view ecma);

  bool IsFoundIn(std::string_view utf8) const;
  // As it was written.
  const std::string& text() const { return text_; }

 private:
  Pattern(std::string text, std::shared_ptr<const re2::RE2> program)
      : text_(std::move(text)), program_(std::move(program)) {}

  std::string text_;
  std::shared_ptr<const re2::RE2> program_;
};

}  // namespace api
