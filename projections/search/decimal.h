// Decimal: a decimal number, exact to its last digit.
//
// A search compares the numbers of its text with those of canonical JSON. Neither goes through a
// double, so 9007199254740993 and 9007199254740992 differ, and 0.1 is 0.1.
//
// Values; thread-compatible, never block.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace projections::search {

class Decimal {
 public:
  // Exponents are between -kMaxExponent and kMaxExponent.
  static constexpr std::int64_t kMaxExponent = 1'000'000;

  Decimal() = default;  // 0
  explicit Decimal(std::int64_t integer);

  // `-12`, `12.5`, `1.5e-3`: JSON's numbers, and such with more zeros in front. Empty when `text`
  // is something else, or its exponent is out of bounds.
  static std::optional<Decimal> Parse(std::string_view text);

  // For suffixes like `Ki`. REQUIRES: factor > 0.
  void MultiplyBy(std::uint32_t factor);
  void Negate();

  // An integer from `min` to `max`, or empty.
  std::optional<std::int64_t> Integer(std::int64_t min, std::int64_t max) const;

  // In a form that Parse takes; equal numbers have equal texts.
  std::string ToText() const;

  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal& a, const Decimal& b) = default;

 private:
  // Makes the form below from any digits.
  void Normalise();

  // The number is 0.<digits> * 10^point. Digits neither begin nor end with 0; 0 has none, and is
  // not negative.
  bool negative_ = false;
  std::string digits_;
  std::int64_t point_ = 0;
};

}  // namespace projections::search
