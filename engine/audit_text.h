// Texts and numbers of audit entries in their canonical form: one way to write each.
//
// Byte-exact rules: docs/formats/audit.md. Thread-compatible; never blocks.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

// `text` with U+FFFD for each byte that belongs to no UTF-8 sequence.
std::string ValidAuditText(std::string_view text);

// Appends `text` in quotes, such bytes replaced, and escaped as Go's encoder does.
void AppendAuditText(std::string_view text, std::string& out);

// Reads the canonical form and nothing else, apart from the two spellings that imported chains may
// have. What it returns empty was not taken, or not wholly: the entry is refused then.
class AuditReader {
 public:
  // `text` must outlive the object.
  explicit AuditReader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  // Takes `expected`; false when something else comes next, of which nothing is taken.
  bool Skip(std::string_view expected);
  std::optional<std::uint64_t> Number();
  std::optional<std::string> Text();

 private:
  std::string_view Character();
  std::string_view Escaped();
  std::string_view ControlByte();

  std::string_view rest_;
};

}  // namespace engine
