#include "engine/audit_chain.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/audit_cover.h"
#include "engine/base/bytes.h"
#include "engine/base/sha256.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";         // U+FFFD.
constexpr std::string_view kLineSeparator = "\xE2\x80\xA8";       // U+2028.
constexpr std::string_view kParagraphSeparator = "\xE2\x80\xA9";  // U+2029.
constexpr std::size_t kHashDigits = 64;

std::string ReplaceInvalid(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = Utf8SequenceLength(text);
    valid += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

// How `character`, one UTF-8 sequence, is written when not as itself; empty otherwise. HTML's
// special characters and the line separators are escaped, as Go's encoder does.
std::string Escape(std::string_view character) {
  if (character == kLineSeparator) {
    return "\\u2028";
  }
  if (character == kParagraphSeparator) {
    return "\\u2029";
  }
  switch (const char c = character.front()) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '<':
    case '>':
    case '&':
      return "\\u00" + ToHex(character);
    default:
      return static_cast<unsigned char>(c) < 0x20 ? "\\u00" + ToHex(character) : std::string();
  }
}

// Bytes that are themselves in both directions; almost all are.
bool IsPlain(char c) {
  return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

std::string_view PlainPrefix(std::string_view text) {
  const auto* end = std::ranges::find_if_not(text, IsPlain);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

void AppendString(std::string_view text, std::string& out) {
  out.push_back('"');
  while (!text.empty()) {
    if (const std::string_view plain = PlainPrefix(text); !plain.empty()) {
      out += plain;
      text.remove_prefix(plain.size());
      continue;
    }
    const std::size_t length = Utf8SequenceLength(text);
    const std::string_view character = length == 0 ? kReplacement : text.substr(0, length);
    const std::string escaped = Escape(character);
    out += escaped.empty() ? character : escaped;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out.push_back('"');
}

void AppendMember(std::string_view name, std::string_view value, std::string& out) {
  out += ",\"";
  out += name;
  out += "\":";
  AppendString(value, out);
}

void AppendMemberUnlessEmpty(std::string_view name, std::string_view value, std::string& out) {
  if (!value.empty()) {
    AppendMember(name, value, out);
  }
}

// Keys are replaced before they are sorted, and of keys that become equal the first one stays.
void AppendDetails(const std::map<std::string, std::string>& details, std::string& out) {
  std::map<std::string, std::string_view> valid;
  for (const auto& [key, value] : details) {
    valid.emplace(ReplaceInvalid(key), value);
  }
  char separator = '{';
  out += ",\"details\":";
  for (const auto& [key, value] : valid) {
    out.push_back(separator);
    separator = ',';
    AppendString(key, out);
    out.push_back(':');
    AppendString(value, out);
  }
  out.push_back('}');
}

absl::Status Malformed(std::string_view what) {
  return absl::DataLossError(absl::StrFormat("the audit entry's %s is not canonical", what));
}

// Reads the canonical form and nothing else: one way to write each entry, apart from the two
// spellings and the finer times that imported chains may have.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }

  bool Skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) {
      return false;
    }
    rest_.remove_prefix(expected.size());
    return true;
  }

  std::optional<std::uint64_t> Number() {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || (rest_.front() == '0' && end != rest_.data() + 1)) {
      return std::nullopt;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::optional<std::string> String() {
    if (!Skip("\"")) {
      return std::nullopt;
    }
    std::string text;
    while (!Skip("\"")) {
      std::string_view piece = PlainPrefix(rest_);
      if (!piece.empty()) {
        rest_.remove_prefix(piece.size());
      } else {
        piece = Character();
      }
      if (piece.empty()) {
        return std::nullopt;
      }
      text += piece;
    }
    return text;
  }

 private:
  // The next character of a string, unescaped; empty when it is not written canonically.
  std::string_view Character() {
    if (Skip("\\")) {
      return Escaped();
    }
    const std::string_view character = rest_.substr(0, Utf8SequenceLength(rest_));
    if (character.empty() || !Escape(character).empty()) {
      return {};
    }
    rest_.remove_prefix(character.size());
    return character;
  }

  // What was escaped, after its backslash.
  std::string_view Escaped() {
    struct Spelling {
      std::string_view escape;
      std::string_view character;
    };
    static constexpr Spelling kSpellings[] = {
        {"\"", "\""},
        {"\\", "\\"},
        {"b", "\b"},
        {"f", "\f"},
        {"n", "\n"},
        {"r", "\r"},
        {"t", "\t"},
        {"u003c", "<"},
        {"u003e", ">"},
        {"u0026", "&"},
        {"u0008", "\b"},
        {"u000c", "\f"},
        {"u2028", kLineSeparator},
        {"u2029", kParagraphSeparator},
    };
    for (const Spelling& spelling : kSpellings) {
      if (Skip(spelling.escape)) {
        return spelling.character;
      }
    }
    return ControlByte();
  }

  // `u00xx` for the control bytes that have no name.
  std::string_view ControlByte() {
    static constexpr char kBytes[] =
        "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17"
        "\20\21\22\23\24\25\26\27\30\31\32\33\34\35\36\37";
    for (std::size_t i = 0; i < sizeof(kBytes) - 1; ++i) {
      const std::string_view byte(kBytes + i, 1);
      const std::string escape = Escape(byte);
      if (escape.size() == 6 && Skip(std::string_view(escape).substr(1))) {
        return byte;
      }
    }
    return {};
  }

  std::string_view rest_;
};

// Up to nine digits of a fraction are accepted, of which Timestamp keeps six: hashes are taken
// over the payload itself, so nothing is lost that the chain rests on.
std::optional<Timestamp> ParseTime(std::string_view text) {
  if (!text.ends_with('Z')) {
    return std::nullopt;
  }
  const std::size_t dot = std::min(text.find('.'), text.size() - 1);
  const std::string_view fraction = text.substr(dot, text.size() - 1 - dot);
  const std::string whole = std::string(text.substr(0, dot)) + "Z";
  const std::optional<Timestamp> second = ParseTimestamp(whole);
  // Formatting again refuses what is another way to write a time (a leap second, for one).
  if (!second || FormatTimestamp(*second) != whole) {
    return std::nullopt;
  }
  if (fraction.empty()) {
    return second;
  }
  const std::string_view digits = fraction.substr(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || digits.size() > 9 || digits.back() == '0' ||
      !std::ranges::all_of(digits, is_digit)) {
    return std::nullopt;
  }
  std::string micros(digits.substr(0, 6));
  micros.resize(6, '0');
  return Timestamp{second->micros + std::stoll(micros)};
}

absl::Status ReadMember(std::string_view name, Reader& reader, std::string& value) {
  if (!reader.Skip(",\"") || !reader.Skip(name) || !reader.Skip("\":")) {
    return Malformed(name);
  }
  std::optional<std::string> text = reader.String();
  if (!text) {
    return Malformed(name);
  }
  value = *std::move(text);
  return absl::OkStatus();
}

// A member that is left out when empty.
absl::Status ReadOptional(std::string_view name, Reader& reader, std::string& value) {
  if (!reader.Skip(absl::StrFormat(",\"%s\":", name))) {
    return absl::OkStatus();
  }
  std::optional<std::string> text = reader.String();
  if (!text || text->empty()) {
    return Malformed(name);
  }
  value = *std::move(text);
  return absl::OkStatus();
}

absl::Status ReadDetails(Reader& reader, std::map<std::string, std::string>& details) {
  if (!reader.Skip(",\"details\":")) {
    return absl::OkStatus();
  }
  std::string_view separator = "{";
  do {
    if (!reader.Skip(separator)) {
      return Malformed("details");
    }
    std::optional<std::string> key = reader.String();
    if (!key || !reader.Skip(":")) {
      return Malformed("details");
    }
    std::optional<std::string> value = reader.String();
    if (!value || (!details.empty() && *key <= details.rbegin()->first)) {
      return Malformed("details");
    }
    details.emplace_hint(details.end(), *std::move(key), *std::move(value));
    separator = ",";
  } while (!reader.Skip("}"));
  return absl::OkStatus();
}

absl::Status ReadHead(Reader& reader, AuditEntry& entry) {
  if (!reader.Skip("{\"seq\":")) {
    return Malformed("seq");
  }
  const std::optional<std::uint64_t> seq = reader.Number();
  if (!seq || *seq == 0) {
    return Malformed("seq");
  }
  entry.seq = Position{*seq};
  std::string time;
  RETURN_IF_ERROR(ReadMember("time", reader, time));
  const std::optional<Timestamp> parsed = ParseTime(time);
  if (!parsed) {
    return Malformed("time");
  }
  entry.time = *parsed;
  return absl::OkStatus();
}

absl::Status ReadPrevious(Reader& reader, AuditEntry& entry) {
  RETURN_IF_ERROR(ReadMember("prev", reader, entry.prev));
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const std::size_t digits = entry.seq == Position{1} ? 0 : kHashDigits;
  if (entry.prev.size() != digits || !std::ranges::all_of(entry.prev, is_hex)) {
    return Malformed("prev");
  }
  return absl::OkStatus();
}

}  // namespace

std::string EncodeAuditEntry(const AuditEntry& entry) {
  std::string out = absl::StrFormat("{\"seq\":%d", Raw(entry.seq));
  AppendMember("time", FormatTimestamp(entry.time), out);
  AppendMember("actor", entry.what.actor, out);
  AppendMember("action", entry.what.action, out);
  AppendMemberUnlessEmpty("target", entry.what.target, out);
  AppendMemberUnlessEmpty("ip", entry.what.ip, out);
  AppendMemberUnlessEmpty("requestId", entry.what.request_id, out);
  if (!entry.what.details.empty()) {
    AppendDetails(entry.what.details, out);
  }
  AppendMember("prev", entry.prev, out);
  AppendMember("hash", "", out);
  out.push_back('}');
  return out;
}

absl::StatusOr<AuditEntry> DecodeAuditEntry(std::string_view payload) {
  Reader reader(payload);
  AuditEntry entry;
  RETURN_IF_ERROR(ReadHead(reader, entry));
  RETURN_IF_ERROR(ReadMember("actor", reader, entry.what.actor));
  RETURN_IF_ERROR(ReadMember("action", reader, entry.what.action));
  RETURN_IF_ERROR(ReadOptional("target", reader, entry.what.target));
  RETURN_IF_ERROR(ReadOptional("ip", reader, entry.what.ip));
  RETURN_IF_ERROR(ReadOptional("requestId", reader, entry.what.request_id));
  RETURN_IF_ERROR(ReadDetails(reader, entry.what.details));
  RETURN_IF_ERROR(ReadPrevious(reader, entry));
  if (!reader.Skip(",\"hash\":\"\"}") || !reader.AtEnd()) {
    return Malformed("hash");
  }
  return entry;
}

std::string AuditHash(std::string_view payload) {
  return ToHex(Sha256Of(payload));
}

std::string SealAuditEntry(const AuditDraft& draft, Position seq, Timestamp at,
                           std::string_view previous_payload, std::span<const Record> covers,
                           const Catalogue& catalogue) {
  AuditEntry entry{.seq = seq, .time = at, .what = draft, .prev = {}};
  if (!previous_payload.empty()) {
    entry.prev = AuditHash(previous_payload);
  }
  if (!covers.empty()) {
    const AuditCover cover = CoverOf(covers);
    entry.what.details[kCoverRecordsDetail] = FormatCover(cover, catalogue);
    entry.what.details[kCoverHashDetail] = cover.sha256;
  }
  return EncodeAuditEntry(entry);
}

}  // namespace engine
