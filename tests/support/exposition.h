// Exposition: what `/metrics` answers, read as strictly as the text format 0.0.4 of Prometheus
// allows.
//
//   ASSERT_OK_AND_ASSIGN(const Exposition metrics, Exposition::Parse(response.body));
//   EXPECT_EQ(metrics.Value("halo_leader", {{"lease", "compaction"}}), 1);

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace support {

using MetricLabels = std::map<std::string, std::string>;

struct MetricSample {
  std::string name;  // With `_bucket`, `_sum` or `_count` where it has one.
  MetricLabels labels;
  double value = 0;
};

struct MetricFamily {
  std::string type;  // counter, gauge, histogram
  std::string help;
  std::vector<MetricSample> samples;
};

// Immutable.
class Exposition {
 public:
  // Fails with kInvalidArgument and the line: bad names, labels, escapes or numbers; a sample
  // without HELP and TYPE before it, or apart from its family; a series that is there twice; a
  // counter that is negative or whose name does not end in `_total`; a histogram whose buckets
  // fall, or do not end in `+Inf` with the count.
  static absl::StatusOr<Exposition> Parse(std::string_view text);

  // Null when there is none.
  const MetricFamily* Find(const std::string& name) const;
  // Of the one sample that has at least these labels; empty when there is none, or several.
  std::optional<double> Value(const std::string& name, const MetricLabels& labels = {}) const;

  const std::map<std::string, MetricFamily>& families() const { return families_; }

 private:
  std::map<std::string, MetricFamily> families_;
};

}  // namespace support
