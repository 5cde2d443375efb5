#include "api/spec_schema/pattern.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>
#include <re2/re2.h>

#include "engine/base/status_macros.h"

namespace api {
namespace {

constexpr std::int64_t kMaxProgramBytes = std::int64_t{1} << 20;

// White space and line ends of ECMAScript, as the inside of a class, and everything else.
constexpr std::string_view kSpaces =
    R"(\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF})";
constexpr std::string_view kNoSpaces =
    R"(\x{0}-\x{8}\x{E}-\x{1F}!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027})"
    R"(\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF})";
constexpr std::string_view kNoLineEnd = R"([^\n\r\x{2028}\x{2029}])";

struct CategoryName {
  std::string_view name;
  std::string_view abbreviation;
};
constexpr auto kCategories = std::to_array<CategoryName>({
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Symbol", "S"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Other", "C"},
    {"Control", "Cc"},
});

absl::Status Refuse(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

class Translator {
 public:
  explicit Translator(std::string_view in) : in_(in) {}

  absl::StatusOr<std::string> Run() {
    while (at_ < in_.size()) {
      RETURN_IF_ERROR(in_class_ ? ClassPart() : Part());
    }
    if (in_class_) {
      return Refuse("a [ has no ]");
    }
    return std::move(out_);
  }

 private:
  bool Ahead(std::string_view text) const { return in_.substr(at_).starts_with(text); }

  bool Skip(std::string_view text) {
    if (!Ahead(text)) {
      return false;
    }
    at_ += text.size();
    return true;
  }

  absl::Status Part() {
    if (Ahead("\\")) {
      return Escape();
    }
    if (Skip("[^]")) {
      out_ += R"([\x{0}-\x{10FFFF}])";
    } else if (Skip("[]")) {
      out_ += R"([^\x{0}-\x{10FFFF}])";
    } else if (Skip("[")) {
      in_class_ = true;
      out_ += Skip("^") ? "[^" : "[";
    } else if (Skip(".")) {
      out_ += kNoLineEnd;
    } else if (Ahead("(?")) {
      return Group();
    } else {
      out_ += in_[at_++];
    }
    return absl::OkStatus();
  }

  absl::Status ClassPart() {
    if (Ahead("\\")) {
      return Escape();
    }
    if (Skip("]")) {
      in_class_ = false;
      out_ += "]";
    } else if (Skip("[")) {
      // RE2 would see the start of a POSIX class.
      out_ += "\\[";
    } else {
      out_ += in_[at_++];
    }
    return absl::OkStatus();
  }

  absl::Status Group() {
    for (const std::string_view around : {"(?=", "(?!", "(?<=", "(?<!"}) {
      if (Ahead(around)) {
        return Refuse("look-ahead and look-behind cannot be matched in linear time");
      }
    }
    if (Skip("(?<")) {
      const std::size_t end = in_.find('>', at_);
      if (end == std::string_view::npos || end == at_) {
        return Refuse("a named group has no name");
      }
      at_ = end + 1;
      out_ += "(?:";
      return absl::OkStatus();
    }
    out_ += in_[at_++];
    return absl::OkStatus();
  }

  absl::Status Escape() {
    ++at_;
    if (at_ == in_.size()) {
      return Refuse("it ends with a backslash");
    }
    const char c = in_[at_++];
    switch (c) {
      case 's':
      case 'S':
        Spaces(c == 's');
        return absl::OkStatus();
      case 'b':
        out_ += in_class_ ? "\\x{8}" : "\\b";
        return absl::OkStatus();
      case 'c':
        return ControlLetter();
      case 'u':
      case 'x':
        return CodePoint(c == 'u' ? 4 : 2);
      case '0':
        out_ += "\\x{0}";
        return absl::OkStatus();
      case 'p':
      case 'P':
        return Category(c);
      default:
        return PlainEscape(c);
    }
  }

  void Spaces(bool positive) {
    const std::string_view inside = positive ? kSpaces : kNoSpaces;
    out_ += in_class_ ? std::string(inside) : absl::StrFormat("[%s]", inside);
  }

  absl::Status PlainEscape(char c) {
    if (c == 'k' || (c >= '1' && c <= '9')) {
      return Refuse("back references cannot be matched in linear time");
    }
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter && std::string_view("dDwWnrtfvBAz").find(c) == std::string_view::npos) {
      return Refuse(absl::StrFormat("\\%c means nothing", c));
    }
    if (static_cast<unsigned char>(c) < 0x80) {
      out_ += '\\';
    }
    out_ += c;
    return absl::OkStatus();
  }

  absl::Status ControlLetter() {
    const char letter = at_ < in_.size() ? in_[at_++] : '\0';
    const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (!is_letter) {
      return Refuse("\\c needs a letter");
    }
    out_ += absl::StrFormat("\\x{%X}", letter & 0x1F);
    return absl::OkStatus();
  }

  std::optional<std::uint32_t> Hexadecimal(std::string_view digits) {
    std::uint32_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool whole = result.ec == std::errc() && result.ptr == digits.data() + digits.size();
    return whole && !digits.empty() ? std::optional(value) : std::nullopt;
  }

  absl::Status CodePoint(std::size_t digits) {
    std::optional<std::uint32_t> value;
    if (digits == 4 && Skip("{")) {
      const std::size_t end = std::min(in_.find('}', at_), in_.size());
      value = Hexadecimal(in_.substr(at_, end - at_));
      at_ = std::min(end + 1, in_.size());
    } else {
      value = in_.size() - at_ < digits ? std::nullopt : Hexadecimal(in_.substr(at_, digits));
      at_ = std::min(at_ + digits, in_.size());
    }
    if (value && (*value & 0xFFFFFC00) == 0xD800 && Skip("\\u")) {
      const auto low = Hexadecimal(in_.substr(at_, 4)).value_or(0);
      value = (low & 0xFFFFFC00) == 0xDC00
                  ? std::optional(0x10000 + ((*value & 0x3FF) << 10) + (low & 0x3FF))
                  : std::nullopt;
      at_ = std::min(at_ + 4, in_.size());
    }
    if (!value || *value > 0x10FFFF || (*value & 0xFFFFF800) == 0xD800) {
      return Refuse("\\u and \\x need the digits of a character");
    }
    out_ += absl::StrFormat("\\x{%X}", *value);
    return absl::OkStatus();
  }

  absl::Status Category(char p) {
    const std::size_t end = in_.find('}', at_);
    if (!Ahead("{") || end == std::string_view::npos) {
      return Refuse("\\p needs a name in braces");
    }
    std::string_view name = in_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    for (const std::string_view property :
         {"General_Category=", "gc=", "Script_Extensions=", "Script=", "scx=", "sc="}) {
      if (name.starts_with(property)) {
        name.remove_prefix(property.size());
        break;
      }
    }
    for (const CategoryName& category : kCategories) {
      if (name == category.name) {
        name = category.abbreviation;
      }
    }
    out_ += absl::StrFormat("\\%c{%s}", p, name);
    return absl::OkStatus();
  }

  const std::string_view in_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
};

re2::RE2::Options Options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxProgramBytes);
  options.set_never_capture(true);
  return options;
}

}  // namespace

absl::StatusOr<Pattern> Pattern::Compile(std::string_view ecma) {
  auto translated = Translator(ecma).Run();
  std::string why;
  if (translated.ok()) {
    auto program = std::make_shared<const re2::RE2>(*translated, Options());
    if (program->ok()) {
      return Pattern(std::string(ecma), std::move(program));
    }
    why = program->error();
  } else {
    why = std::string(translated.status().message().data(), translated.status().message().size());
  }
  return absl::InvalidArgumentError(absl::StrFormat("the pattern \"%s\": %s", ecma, why));
}

bool Pattern::IsFoundIn(std::string_view utf8) const {
  return re2::RE2::PartialMatch(re2::StringPiece(utf8.data(), utf8.size()), *program_);
}

}  // namespace api
