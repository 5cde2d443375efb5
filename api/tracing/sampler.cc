#include "api/tracing/sampler.h"

#include <charconv>
#include <cstdint>

#include "engine/base/guard.h"

namespace api {
namespace {

std::optional<double> ParseRatio(std::string_view text) {
  if (text.empty()) {
    return 1;
  }
  double ratio = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  const bool is_ratio =
      error == std::errc() && end == text.data() + text.size() && ratio >= 0 && ratio <= 1;
  return is_ratio ? std::optional(ratio) : std::nullopt;
}

}  // namespace

std::optional<Sampler> Sampler::Parse(std::string_view name, std::string_view argument) {
  constexpr std::string_view kByParent = "parentbased_";
  const bool asks_parent = name.starts_with(kByParent);
  if (asks_parent) {
    name.remove_prefix(kByParent.size());
  }
  if (name == "always_on") {
    return Sampler(1, asks_parent);
  }
  if (name == "always_off") {
    return Sampler(0, asks_parent);
  }
  const std::optional<double> ratio = ParseRatio(argument);
  return name == "traceidratio" && ratio ? std::optional(Sampler(*ratio, asks_parent))
                                         : std::nullopt;
}

bool Sampler::Keeps(std::string_view trace_id, std::optional<bool> parent) const {
  if (asks_parent_ && parent) {
    return GUARD("tracing.parent", *parent);
  }
  // The same part of the id that other implementations look at: its last eight bytes, halved.
  std::uint64_t number = 0;
  const std::string_view last = trace_id.substr(trace_id.size() - 16);
  std::from_chars(last.data(), last.data() + last.size(), number, 16);
  constexpr double kHalf = 9223372036854775808.0;  // 2^63.
  return ratio_ >= 1 || static_cast<double>(number >> 1) < ratio_ * kHalf;
}

}  // namespace api
