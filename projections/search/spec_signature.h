// SpecSignature: what is in a spec, in 32 bytes: two bits for each member with a text, a number or
// a word, whatever its depth. A search for a member with some text passes over most specs that do
// not have it without touching them, which at a million of them is where its time goes.
//
// Immutable, so thread-safe; never blocks.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace projections::search {

class SpecSignature {
 public:
  // Takes time in proportion to the spec. `spec` is canonical JSON; of anything else the signature
  // says nothing, and reading it stays within the text.
  explicit SpecSignature(std::string_view spec);

  // The bits of one member. `value` as JSON writes it, but a text without its quotes.
  class Bits {
   public:
    Bits(std::string_view key, std::string_view value);

   private:
    friend class SpecSignature;
    unsigned first_;
    unsigned second_;
  };

  // False: the spec has no such member. True says nothing.
  bool MayHave(Bits bits) const { return Has(bits.first_) && Has(bits.second_); }

 private:
  static constexpr unsigned kBits = 256;

  bool Has(unsigned bit) const { return (words_[bit / 64] >> (bit % 64) & 1) != 0; }
  void Set(unsigned bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }

  std::array<std::uint64_t, kBits / 64> words_{};
};

}  // namespace projections::search
