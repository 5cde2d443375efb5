// SpecOutline: which members a spec has, where, and of each a few bits of its value. A search
// passes over most specs without touching them, which at a million of them is where its time goes,
// and reads of the others the one value that it asks for.
//
// Only members that a search can name are in it: of objects in objects, under keys that a path may
// have (projections/search/spec_paths.h). 8 bytes for each, of the first 256.
//
// Immutable, so thread-safe; never blocks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "projections/search/spec_paths.h"

namespace projections::search {

// A number, rounded down to 25 bits: less is less, and equal is equal if both are exact.
struct NumberCode {
  std::uint32_t code = 0;
  bool is_exact = false;
};
// Empty: `number`, in a form that Decimal::Parse takes, is out of the bounds of doubles.
std::optional<NumberCode> NumberCodeOf(std::string_view number);

// 25 bits of a text: other bits are another text.
std::uint32_t TextCodeOf(std::string_view text);

enum class MemberKind : std::uint8_t {
  kNull,         // As good as absent.
  kNumber,       // With its code.
  kExactNumber,  // The same.
  kText,         // With the code of what it says: also `true` and `false`, which are no texts.
  kOther,        // Anything else, and what has no code: it has to be read.
};

// In a spec of 2^20 bytes at most.
struct OutlinedMember {
  MemberKind kind() const { return static_cast<MemberKind>(kind_bits); }

  std::uint64_t path : 16;  // Its SpecPaths::Id.
  std::uint64_t kind_bits : 3;
  std::uint64_t code : 25;
  std::uint64_t place : 20;  // Where its value begins in the spec.
};
static_assert(sizeof(OutlinedMember) == 8);

// What there is to say of a spec.
struct OutlinedSpec {
  std::vector<OutlinedMember> members = {};  // By path.
  bool is_complete = false;
};
inline constexpr std::size_t kMaxOutlinedMembers = 256;

// Takes time in proportion to the spec. `spec` is canonical JSON; of what is not JSON, or has a
// member twice, nothing is said, and reading it stays within the text.
OutlinedSpec OutlineOf(std::string_view spec, SpecPaths& paths);

// Has its members in the memory behind it, so that what holds it at its end is fetched with them.
class SpecOutline {
 public:
  static std::size_t SizeBehind(const OutlinedSpec& spec) {
    return spec.members.size() * sizeof(OutlinedMember);
  }
  // REQUIRES: there are SizeBehind(spec) bytes behind it.
  explicit SpecOutline(const OutlinedSpec& spec);
  SpecOutline(const SpecOutline&) = delete;
  SpecOutline& operator=(const SpecOutline&) = delete;

  // Null: there is none in the outline.
  const OutlinedMember* Find(SpecPaths::Id path) const;
  // What is not in the outline is not in the spec.
  bool is_complete() const { return is_complete_; }

 private:
  const OutlinedMember* members() const {
    return reinterpret_cast<const OutlinedMember*>(reinterpret_cast<const char*>(this) +
                                                   sizeof(SpecOutline));
  }

  alignas(OutlinedMember) std::uint32_t size_;
  bool is_complete_;
};

}  // namespace projections::search
