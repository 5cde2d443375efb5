// Clock and Timestamp: the only ways to know the time.
//
// Two clocks, never mixed: wall time is what a store stamps on records (`at`), boot time is what
// deadlines and leases are measured with. Boot time does not stop in suspend and does not jump
// when an administrator sets the clock.

#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

using Duration = std::chrono::nanoseconds;

// Wall time, microseconds since 1970-01-01T00:00:00Z. Microseconds, because that is what
// Postgres keeps: a time that has been through the store is the same time.
struct Timestamp {
  std::int64_t micros = 0;
  auto operator<=>(const Timestamp&) const = default;
};

// RFC 3339 in UTC with trailing zeros of the fraction trimmed, as every answer and audit entry
// shows it: `2026-11-30T15:08:32.000125Z`, `2026-11-30T15:08:32Z`. Years 0001 to 9999.
std::string FormatTimestamp(Timestamp time);
// The same, at the end of `out`.
void AppendTimestamp(Timestamp time, std::string& out);

// Parses what FormatTimestamp writes and any other RFC 3339 time (offsets, up to nine fraction
// digits, of which six are kept). Empty when it is not one.
std::optional<Timestamp> ParseTimestamp(std::string_view text);

// Thread-safe; never blocks.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp Now() const = 0;
  // Nanoseconds since boot (CLOCK_BOOTTIME).
  virtual Duration SinceBoot() const = 0;
};

// The machine's clocks. The object lives for ever.
const Clock& SystemClock();

}  // namespace engine
