#include "engine/base/clock.h"

#include <ctime>
#include <limits>

#include <absl/time/time.h>

namespace engine {
namespace {

class MachineClock final : public Clock {
 public:
  Timestamp Now() const override {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return {std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000};
  }
  Duration SinceBoot() const override {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }
};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// `....-..-..T..:..:..`, an optional fraction of one to nine digits, then Z or an offset. The
// library's parser takes more than RFC 3339 does (a blank for the T, longer years).
bool LooksLikeRfc3339(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < kShape.size() + 1) {
    return false;
  }
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd' ? !IsDigit(text[i]) : text[i] != kShape[i]) {
      return false;
    }
  }
  std::string_view rest = text.substr(kShape.size());
  if (rest.front() == '.') {
    std::size_t digits = 0;
    while (1 + digits < rest.size() && IsDigit(rest[1 + digits])) {
      ++digits;
    }
    if (digits == 0 || digits > 9) {
      return false;
    }
    rest.remove_prefix(1 + digits);
  }
  if (rest == "Z") {
    return true;
  }
  return rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && IsDigit(rest[1]) &&
         IsDigit(rest[2]) && rest[3] == ':' && IsDigit(rest[4]) && IsDigit(rest[5]);
}

}  // namespace

const Clock& SystemClock() {
  static const MachineClock clock;
  return clock;
}

std::string FormatTimestamp(Timestamp time) {
  constexpr std::int64_t kMicros = 1'000'000;
  const std::int64_t fraction = ((time.micros % kMicros) + kMicros) % kMicros;
  const std::int64_t second = (time.micros - fraction) / kMicros;
  // The times of one document mostly fall into one second, and the calendar is what costs.
  thread_local std::int64_t known_second = std::numeric_limits<std::int64_t>::min();
  thread_local std::string known_text;
  if (second != known_second) {
    known_text =
        absl::FormatTime("%E4Y-%m-%dT%H:%M:%S", absl::FromUnixSeconds(second), absl::UTCTimeZone());
    known_second = second;
  }
  std::string text = known_text;
  if (fraction != 0) {
    std::string digits = std::to_string(kMicros + fraction);  // Seven digits, the first a 1.
    digits.front() = '.';
    digits.erase(digits.find_last_not_of('0') + 1);
    text += digits;
  }
  text.push_back('Z');
  return text;
}

std::optional<Timestamp> ParseTimestamp(std::string_view text) {
  if (!LooksLikeRfc3339(text)) {
    return std::nullopt;
  }
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, absl::string_view(text.data(), text.size()), &time,
                       &error)) {
    return std::nullopt;
  }
  return Timestamp{absl::ToUnixMicros(time)};
}

}  // namespace engine
