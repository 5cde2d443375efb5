#include "tests/support/exposition.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"

namespace support {
namespace {

bool IsName(std::string_view name, bool colon) {
  const auto is_letter = [colon](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':');
  };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string_view TakeUntil(std::string_view& text, std::string_view ends) {
  const std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

// A label's value; `text` begins behind its opening quote.
std::optional<std::string> TakeValue(std::string_view& text) {
  std::string value;
  while (!text.empty() && text.front() != '"') {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '\\') {
      if (text.empty() || std::string_view("\\\"n").find(text.front()) == std::string_view::npos) {
        return std::nullopt;
      }
      c = text.front() == 'n' ? '\n' : text.front();
      text.remove_prefix(1);
    }
    value.push_back(c);
  }
  if (text.empty()) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  return value;
}

// `{a="b",c="d"}`; nothing is no labels.
std::optional<MetricLabels> TakeLabels(std::string_view& text) {
  MetricLabels labels;
  if (!text.starts_with('{')) {
    return labels;
  }
  text.remove_prefix(1);
  while (!text.starts_with('}')) {
    const std::string name(TakeUntil(text, "="));
    if (!IsName(name, false) || !text.starts_with("=\"")) {
      return std::nullopt;
    }
    text.remove_prefix(2);
    std::optional<std::string> value = TakeValue(text);
    if (!value || !labels.emplace(name, *std::move(value)).second) {
      return std::nullopt;
    }
    if (text.starts_with(',')) {
      text.remove_prefix(1);
    } else if (!text.starts_with('}')) {
      return std::nullopt;
    }
  }
  text.remove_prefix(1);
  return labels;
}

std::optional<double> NumberOf(std::string_view text) {
  if (text == "+Inf" || text == "-Inf" || text == "NaN") {
    return text == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                         : (text.front() == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

std::optional<MetricSample> SampleOf(std::string_view line) {
  MetricSample sample;
  sample.name = TakeUntil(line, "{ ");
  std::optional<MetricLabels> labels = TakeLabels(line);
  if (!IsName(sample.name, true) || !labels || !line.starts_with(' ')) {
    return std::nullopt;
  }
  const std::optional<double> value = NumberOf(line.substr(1));
  if (!value) {
    return std::nullopt;
  }
  sample.labels = *std::move(labels);
  sample.value = *value;
  return sample;
}

bool IsOfFamily(const std::string& name, const std::string& family, const std::string& type) {
  if (type != "histogram") {
    return name == family;
  }
  return name == family + "_bucket" || name == family + "_sum" || name == family + "_count";
}

// One series of a histogram: what its buckets say, and its count.
struct Buckets {
  std::vector<std::pair<double, double>> bounds;
  double count = -1;
};

absl::Status CheckHistogram(const std::string& name, const MetricFamily& family) {
  std::map<MetricLabels, Buckets> all;
  for (const MetricSample& sample : family.samples) {
    MetricLabels labels = sample.labels;
    labels.erase("le");
    Buckets& buckets = all[labels];
    if (sample.name.ends_with("_bucket")) {
      const auto le = sample.labels.find("le");
      const std::optional<double> bound =
          le == sample.labels.end() ? std::nullopt : NumberOf(le->second);
      if (!bound) {
        return absl::InvalidArgumentError(name + " has a bucket without a bound");
      }
      buckets.bounds.emplace_back(*bound, sample.value);
    } else if (sample.name.ends_with("_count")) {
      buckets.count = sample.value;
    }
  }
  for (const auto& [labels, buckets] : all) {
    const auto& bounds = buckets.bounds;
    const bool rises = std::ranges::is_sorted(bounds, {}, [](const auto& b) { return b.first; }) &&
                       std::ranges::is_sorted(bounds, {}, [](const auto& b) { return b.second; });
    if (!rises || bounds.empty() || !std::isinf(bounds.back().first) ||
        bounds.back().second != buckets.count) {
      return absl::InvalidArgumentError(name + " has buckets that do not add up");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFamily(const std::string& name, const MetricFamily& family) {
  std::set<std::pair<std::string, MetricLabels>> seen;
  for (const MetricSample& sample : family.samples) {
    if (!seen.emplace(sample.name, sample.labels).second) {
      return absl::InvalidArgumentError(sample.name + " has a series twice");
    }
    if (family.type == "counter" && !(sample.value >= 0)) {
      return absl::InvalidArgumentError(name + " is a counter below zero");
    }
  }
  if (family.type == "counter" && !name.ends_with("_total")) {
    return absl::InvalidArgumentError(name + " is a counter and does not end in _total");
  }
  return family.type == "histogram" ? CheckHistogram(name, family) : absl::OkStatus();
}

class Reader {
 public:
  explicit Reader(std::map<std::string, MetricFamily>& families) : families_(families) {}

  bool Take(std::string_view line) {
    if (line.starts_with("# HELP ")) {
      return TakeHelp(line.substr(7));
    }
    if (line.starts_with("# TYPE ")) {
      return TakeType(line.substr(7));
    }
    const std::optional<MetricSample> sample = SampleOf(line);
    if (!sample || current_.empty() || families_[current_].type.empty() ||
        !IsOfFamily(sample->name, current_, families_[current_].type)) {
      return false;
    }
    families_[current_].samples.push_back(*sample);
    return true;
  }

 private:
  bool TakeHelp(std::string_view text) {
    const std::string name(TakeUntil(text, " "));
    if (!IsName(name, true) || text.size() < 2 || families_.contains(name)) {
      return false;
    }
    families_[name].help = text.substr(1);
    current_ = name;
    return true;
  }

  bool TakeType(std::string_view text) {
    const std::string name(TakeUntil(text, " "));
    const std::string type(text.substr(std::min<std::size_t>(text.size(), 1)));
    const bool is_known = type == "counter" || type == "gauge" || type == "histogram";
    if (name != current_ || !families_[name].type.empty() || !is_known) {
      return false;
    }
    families_[name].type = type;
    return true;
  }

  std::map<std::string, MetricFamily>& families_;
  std::string current_;
};

}  // namespace

absl::StatusOr<Exposition> Exposition::Parse(std::string_view text) {
  Exposition exposition;
  Reader reader(exposition.families_);
  if (!text.ends_with('\n')) {
    return absl::InvalidArgumentError("the text does not end with a line's end");
  }
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = TakeUntil(text, "\n");
    text.remove_prefix(1);
    if (!line.empty() && !reader.Take(line)) {
      return absl::InvalidArgumentError(absl::StrFormat("line %d: %s", number, line));
    }
  }
  for (const auto& [name, family] : exposition.families_) {
    RETURN_IF_ERROR(CheckFamily(name, family));
  }
  return exposition;
}

const MetricFamily* Exposition::Find(const std::string& name) const {
  const auto found = families_.find(name);
  return found == families_.end() ? nullptr : &found->second;
}

std::optional<double> Exposition::Value(const std::string& name, const MetricLabels& labels) const {
  const MetricSample* found = nullptr;
  for (const auto& [family_name, family] : families_) {
    for (const MetricSample& sample : family.samples) {
      const bool fits = sample.name == name && std::ranges::all_of(labels, [&](const auto& label) {
                          const auto at = sample.labels.find(label.first);
                          return at != sample.labels.end() && at->second == label.second;
                        });
      if (fits && found != nullptr) {
        return std::nullopt;
      }
      found = fits ? &sample : found;
    }
  }
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

}  // namespace support
