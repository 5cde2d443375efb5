#include "projections/search/decimal.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "engine/base/check.h"

namespace projections::search {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Takes the digits at the front of `text` off.
std::string_view TakeDigits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsDigit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// What is behind the `e`.
std::optional<std::int64_t> ParseExponent(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) {
      return std::nullopt;
    }
  }
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size() ||
      exponent > Decimal::kMaxExponent || exponent < -Decimal::kMaxExponent) {
    return std::nullopt;
  }
  return exponent;
}

}  // namespace

Decimal::Decimal(std::int64_t integer)
    : negative_(integer < 0), digits_(std::to_string(integer).substr(integer < 0 ? 1 : 0)) {
  point_ = static_cast<std::int64_t>(digits_.size());
  Normalise();
}

std::optional<Decimal> Decimal::Parse(std::string_view text) {
  Decimal number;
  number.negative_ = text.starts_with('-');
  text.remove_prefix(number.negative_ ? 1 : 0);
  const std::string_view whole = TakeDigits(text);
  if (whole.empty()) {
    return std::nullopt;
  }
  number.digits_ = whole;
  number.point_ = static_cast<std::int64_t>(whole.size());
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view fraction = TakeDigits(text);
    if (fraction.empty()) {
      return std::nullopt;
    }
    number.digits_ += fraction;
  }
  if (!text.empty()) {
    const auto exponent =
        text.front() == 'e' || text.front() == 'E' ? ParseExponent(text.substr(1)) : std::nullopt;
    if (!exponent) {
      return std::nullopt;
    }
    number.point_ += *exponent;
  }
  number.Normalise();
  return number;
}

void Decimal::Normalise() {
  const std::size_t first = digits_.find_first_not_of('0');
  if (first == std::string::npos) {
    *this = Decimal();
    return;
  }
  point_ -= static_cast<std::int64_t>(first);
  digits_.erase(digits_.find_last_not_of('0') + 1);
  digits_.erase(0, first);
}

void Decimal::MultiplyBy(std::uint32_t factor) {
  ENGINE_CHECK(factor > 0);
  std::string product;  // Last digit first.
  std::uint64_t carry = 0;
  for (auto digit = digits_.rbegin(); digit != digits_.rend() || carry > 0;) {
    if (digit != digits_.rend()) {
      carry += static_cast<std::uint64_t>(*digit - '0') * factor;
      ++digit;
    }
    product.push_back(static_cast<char>('0' + carry % 10));
    carry /= 10;
  }
  std::ranges::reverse(product);
  point_ += static_cast<std::int64_t>(product.size()) - static_cast<std::int64_t>(digits_.size());
  digits_ = std::move(product);
  Normalise();
}

void Decimal::Negate() {
  negative_ = !negative_ && !digits_.empty();
}

std::optional<std::int64_t> Decimal::Integer(std::int64_t min, std::int64_t max) const {
  const auto length = static_cast<std::int64_t>(digits_.size());
  if (length > point_ || point_ > 19) {
    return std::nullopt;
  }
  std::string text = (negative_ ? "-" : "") + digits_;
  text.append(static_cast<std::size_t>(point_ - length), '0');
  if (digits_.empty()) {
    text = "0";
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < min || number > max) {
    return std::nullopt;
  }
  return number;
}

std::string Decimal::ToText() const {
  if (digits_.empty()) {
    return "0";
  }
  const std::int64_t exponent = point_ - static_cast<std::int64_t>(digits_.size());
  std::string text = (negative_ ? "-" : "") + digits_;
  if (exponent > 0 && point_ <= 20) {
    text.append(static_cast<std::size_t>(exponent), '0');
  } else if (exponent != 0) {
    text += "e" + std::to_string(exponent);
  }
  return text;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.negative_ != b.negative_) {
    return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  std::strong_ordering sizes = std::strong_ordering::equal;
  if (a.digits_.empty() || b.digits_.empty()) {
    sizes = a.digits_.empty()
                ? (b.digits_.empty() ? std::strong_ordering::equal : std::strong_ordering::less)
                : std::strong_ordering::greater;
  } else {
    sizes = a.point_ != b.point_ ? a.point_ <=> b.point_ : a.digits_ <=> b.digits_;
  }
  return a.negative_ ? 0 <=> sizes : sizes;
}

}  // namespace projections::search
