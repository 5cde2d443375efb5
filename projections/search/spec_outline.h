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
#include <memory>
#include <optional>
#include <string_view>

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

class SpecOutline {
 public:
  static constexpr std::size_t kMaxMembers = 256;

  // Takes time in proportion to the spec. `spec` is canonical JSON; of what is not JSON, or has a
  // member twice, the outline says nothing, and reading it stays within the text.
  SpecOutline(std::string_view spec, SpecPaths& paths);

  // Null: there is none in the outline.
  const OutlinedMember* Find(SpecPaths::Id path) const;
  // What is not in the outline is not in the spec.
  bool is_complete() const { return is_complete_; }

  // Makes the machine fetch it, up to some size.
  void Fetch() const {
    constexpr std::size_t kLine = 64;
    constexpr std::size_t kFetched = 4 * kLine / sizeof(OutlinedMember);
    for (std::size_t at = 0; at < size_ && at < kFetched; at += kLine / sizeof(OutlinedMember)) {
      __builtin_prefetch(&members_[at]);
    }
  }

 private:
  std::unique_ptr<OutlinedMember[]> members_;  // By path.
  std::uint32_t size_ = 0;
  bool is_complete_ = false;
};

}  // namespace projections::search
