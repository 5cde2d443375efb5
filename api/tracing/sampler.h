// Sampler: which traces are kept, as OTEL_TRACES_SAMPLER says.
//
// Immutable, so thread-safe; never blocks.

#pragma once

#include <optional>
#include <string_view>

namespace api {

class Sampler {
 public:
  // Keeps `ratio` of all traces, by their ids, so that every service keeps the same ones; 1: all,
  // 0: none. `asks_parent`: who called decides, and the ratio only where nobody did.
  explicit Sampler(double ratio = 1, bool asks_parent = true)
      : ratio_(ratio), asks_parent_(asks_parent) {}

  // `always_on`, `always_off`, `traceidratio`, or one of these behind `parentbased_`; `argument` is
  // the ratio, all if empty. Empty when there is no such sampler or the ratio is not one.
  static std::optional<Sampler> Parse(std::string_view name, std::string_view argument);

  // `trace_id`: 32 hexadecimal digits. `parent`: whether the caller keeps its span, if it said so.
  bool Keeps(std::string_view trace_id, std::optional<bool> parent) const;

 private:
  double ratio_;
  bool asks_parent_;
};

}  // namespace api
