#include "projections/search/spec_outline.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "projections/search/decimal.h"
#include "projections/search/json_scan.h"

namespace projections::search {
namespace {

constexpr unsigned kCodeBits = 25;
constexpr std::size_t kMaxSpecBytes = std::size_t{1} << 20;
// Doubles have all integers of so many digits.
constexpr std::size_t kExactDigits = 15;

bool IsShortInteger(std::string_view number) {
  number.remove_prefix(number.starts_with('-') ? 1 : 0);
  return !number.empty() && number.size() <= kExactDigits &&
         std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

// Whether what looks like a value is none that hides a quote or a brace.
bool IsJson(const JsonSlice& value) {
  switch (value.kind) {
    case JsonKind::kNull:
      return value.text == "null";
    case JsonKind::kTrue:
      return value.text == "true";
    case JsonKind::kFalse:
      return value.text == "false";
    case JsonKind::kNumber:
      return !value.text.empty() &&
             value.text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
    default:
      return value.kind != JsonKind::kMissing;
  }
}

// Walks a spec once, from front to end.
class Outliner {
 public:
  Outliner(std::string_view spec, SpecPaths& paths, std::vector<OutlinedMember>& members)
      : spec_(spec), paths_(paths), members_(members) {}

  // False: it is no object in canonical JSON.
  bool Run() {
    return spec_.starts_with('{') && spec_.size() <= kMaxSpecBytes && Object(0) && NoneIsTwice();
  }
  bool is_complete() const { return is_complete_; }

 private:
  bool IsAt(char c) const { return at_ < spec_.size() && spec_[at_] == c; }

  // From its brace to what is behind it. `depth`: how many keys lead to it.
  bool Object(std::size_t depth) {
    ++at_;
    while (at_ < spec_.size()) {
      at_ += IsAt(',') ? 1 : 0;
      if (IsAt('}')) {
        ++at_;
        return true;
      }
      if (!IsAt('"')) {
        return false;
      }
      const std::string_view key = ValueAt(spec_.substr(at_)).text;
      at_ += key.size();
      if (key.size() < 2 || !IsAt(':')) {
        return false;
      }
      ++at_;
      if (!Member(key.substr(1, key.size() - 2), depth)) {
        return false;
      }
    }
    return false;
  }

  // From the member's value to what is behind it.
  bool Member(std::string_view key, std::size_t depth) {
    const std::size_t length = path_.size();
    bool is_in = false;
    if (depth < kMaxPathKeys && IsPathKey(key)) {
      path_ += depth == 0 ? "" : ".";
      path_ += key;
      is_in = Add();
      is_complete_ = is_complete_ && is_in;
    }
    const bool is_json = is_in && IsAt('{') ? Object(depth + 1) : Value(is_in);
    path_.resize(length);
    return is_json;
  }

  // Outlines what is at `path_`. False: there is no room.
  bool Add() {
    const auto path = members_.size() < kMaxOutlinedMembers ? paths_.Add(path_) : std::nullopt;
    if (path) {
      OutlinedMember& member = members_.emplace_back();
      member.path = *path;
      member.place = at_;
      Set(member, MemberKind::kOther, 0);
    }
    return path.has_value();
  }

  // The same of what is not walked through. `is_in`: it is the member that was added last.
  bool Value(bool is_in) {
    const JsonSlice value = ValueAt(spec_.substr(at_));
    at_ += value.text.size();
    if (is_in) {
      SetValue(members_.back(), value);
    }
    return IsJson(value);
  }

  static void Set(OutlinedMember& member, MemberKind kind, std::uint32_t code) {
    member.kind_bits = static_cast<std::uint64_t>(kind);
    member.code = code;
  }

  static void SetValue(OutlinedMember& member, const JsonSlice& value) {
    if (value.kind == JsonKind::kNull) {
      Set(member, MemberKind::kNull, 0);
    } else if (value.kind == JsonKind::kTrue || value.kind == JsonKind::kFalse) {
      Set(member, MemberKind::kText, TextCodeOf(value.text));
    } else if (value.kind == JsonKind::kString && value.text.size() >= 2 &&
               value.text.find('\\') == std::string_view::npos) {
      Set(member, MemberKind::kText, TextCodeOf(value.text.substr(1, value.text.size() - 2)));
    } else if (value.kind == JsonKind::kNumber) {
      if (const auto number = NumberCodeOf(value.text)) {
        Set(member, number->is_exact ? MemberKind::kExactNumber : MemberKind::kNumber,
            number->code);
      }
    }
  }

  bool NoneIsTwice() {
    std::ranges::sort(members_, {}, [](const OutlinedMember& member) { return member.path; });
    return GUARD("search.outline-once",
                 std::ranges::adjacent_find(members_, {}, [](const OutlinedMember& member) {
                   return member.path;
                 }) == members_.end());
  }

  const std::string_view spec_;
  SpecPaths& paths_;
  std::vector<OutlinedMember>& members_;
  std::size_t at_ = 0;
  std::string path_;
  bool is_complete_ = true;
};

}  // namespace

std::optional<NumberCode> NumberCodeOf(std::string_view number) {
  const bool is_short = IsShortInteger(number);
  if (!is_short && !Decimal::Parse(number)) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) {
    return std::nullopt;
  }
  // As integers, doubles from 0 on have their order, and those below 0 the opposite one.
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  const std::uint64_t ordered = (bits & kSign) != 0 ? ~bits : bits | kSign;
  const bool is_whole = bits << kCodeBits == 0;
  return NumberCode{static_cast<std::uint32_t>(ordered >> (64 - kCodeBits)), is_short && is_whole};
}

std::uint32_t TextCodeOf(std::string_view text) {
  return static_cast<std::uint32_t>(engine::Checksum64(text) >> (64 - kCodeBits));
}

OutlinedSpec OutlineOf(std::string_view spec, SpecPaths& paths) {
  OutlinedSpec outlined;
  Outliner outliner(spec, paths, outlined.members);
  if (!outliner.Run()) {
    return {};
  }
  outlined.is_complete = outliner.is_complete();
  return outlined;
}

SpecOutline::SpecOutline(const OutlinedSpec& spec)
    : size_(static_cast<std::uint32_t>(spec.members.size())), is_complete_(spec.is_complete) {
  if (size_ > 0) {
    std::memcpy(reinterpret_cast<char*>(this) + sizeof(SpecOutline), spec.members.data(),
                SizeBehind(spec));
  }
}

const OutlinedMember* SpecOutline::Find(SpecPaths::Id path) const {
  const OutlinedMember* const end = members() + size_;
  const OutlinedMember* const found = std::lower_bound(
      members(), end, path,
      [](const OutlinedMember& member, SpecPaths::Id wanted) { return member.path < wanted; });
  return found != end && found->path == path ? found : nullptr;
}

}  // namespace projections::search
