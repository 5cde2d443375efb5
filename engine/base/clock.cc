#include "engine/base/clock.h"

#include <array>
#include <chrono>
#include <ctime>

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

// Writes the last `count` digits; returns where they end.
char* PutDigits(std::int64_t number, int count, char* at) {
  for (int place = count - 1; place >= 0; --place) {
    at[place] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  return at + count;
}

// Writes `2026-11-30T15:08:32`. An answer has some ten times in it: the library's own way, which
// knows time zones, would take as long as all the rest of it. REQUIRES: of the years 1 to 9999.
char* PutSecond(std::int64_t second, char* at) {
  const std::chrono::sys_seconds since_1970{std::chrono::seconds(second)};
  const auto midnight = std::chrono::floor<std::chrono::days>(since_1970);
  const std::chrono::year_month_day date(midnight);
  const std::int64_t time = (since_1970 - midnight).count();
  at = PutDigits(static_cast<int>(date.year()), 4, at);
  *at++ = '-';
  at = PutDigits(static_cast<unsigned>(date.month()), 2, at);
  *at++ = '-';
  at = PutDigits(static_cast<unsigned>(date.day()), 2, at);
  *at++ = 'T';
  at = PutDigits(time / 3600, 2, at);
  *at++ = ':';
  at = PutDigits(time / 60 % 60, 2, at);
  *at++ = ':';
  return PutDigits(time % 60, 2, at);
}

}  // namespace

const Clock& SystemClock() {
  static const MachineClock clock;
  return clock;
}

std::string FormatTimestamp(Timestamp time) {
  std::string text;
  AppendTimestamp(time, text);
  return text;
}

void AppendTimestamp(Timestamp time, std::string& out) {
  constexpr std::int64_t kMicros = 1'000'000;
  constexpr std::int64_t kFirst = -62'135'596'800;  // Of the year 1.
  constexpr std::int64_t kLast = 253'402'300'799;   // Of the year 9999.
  const std::int64_t fraction = ((time.micros % kMicros) + kMicros) % kMicros;
  const std::int64_t second = (time.micros - fraction) / kMicros;
  std::array<char, 32> text;
  char* end = text.data();
  if (second >= kFirst && second <= kLast) {
    end = PutSecond(second, end);
  } else {
    out +=
        absl::FormatTime("%E4Y-%m-%dT%H:%M:%S", absl::FromUnixSeconds(second), absl::UTCTimeZone());
  }
  if (fraction != 0) {
    *end++ = '.';
    end = PutDigits(fraction, 6, end);
    while (end[-1] == '0') {
      --end;
    }
  }
  *end++ = 'Z';
  out.append(text.data(), end);
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
