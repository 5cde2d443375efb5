// Metrics: what `/metrics` shows, in the text format of Prometheus 0.0.4.
//
// Requests of the resource API are counted as they are answered; everything else is read from its
// owner when somebody asks.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/http/request.h"
#include "engine/clock_skew.h"
#include "engine/elector.h"

namespace api {

enum class MetricType { kCounter, kGauge, kHistogram };

// One number or histogram, read from its owner. Samples of one name stand together.
struct Sample {
  std::string name;
  std::string help;
  MetricType type = MetricType::kCounter;
  double value = 0;  // Of a histogram: the sum of what was observed.
  std::vector<std::pair<std::string, std::string>> labels;
  // Of a histogram: upper bounds, rising to infinity, each with how many were within it.
  std::vector<std::pair<double, std::uint64_t>> buckets = {};
};
using Samples = std::vector<Sample>;

// Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // `source` adds to the samples of every answer; it must not block. REQUIRES: before the first
  // Text.
  void AddSource(std::function<void(Samples&)> source);

  // Shows halo_leader and halo_leader_changes_total of a lease, and halo_clock_skew_seconds once it
  // is known. Both outlive this. REQUIRES: before the first Text.
  void AddElector(const engine::Elector& elector);
  void AddClockSkew(const engine::ClockSkew& skew);

  // Counts an answer: hyperfleet_api_requests_total and hyperfleet_api_request_duration_seconds,
  // for routes of the resource API that matched. From one thread at a time. Never blocks for long.
  void Observe(const Request& request, int status, double seconds);

  std::string Text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace api
