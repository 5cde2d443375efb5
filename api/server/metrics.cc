#include "api/server/metrics.h"

#include <map>
#include <optional>
#include <tuple>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "api/server/version.h"

namespace api {
namespace {

// Seconds.
prometheus::Histogram::BucketBoundaries Buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

// A request as its series knows it. Routes and methods live as long as the router.
using SeriesKey = std::tuple<std::string_view, Method, int>;
struct Series {
  prometheus::Counter* requests;
  prometheus::Histogram* duration;
};

prometheus::Labels LabelsOf(const SeriesKey& key) {
  return {{"component", "api"},
          {"version", std::string(kVersion)},
          {"method", std::string(MethodName(std::get<1>(key)))},
          {"path", std::string(std::get<0>(key))},
          {"code", std::to_string(std::get<2>(key))}};
}

prometheus::MetricType Convert(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric Convert(const Sample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) {
    metric.label.push_back({name, value});
  }
  metric.counter.value = sample.value;
  metric.gauge.value = sample.value;
  metric.histogram.sample_sum = sample.value;
  for (const auto& [bound, count] : sample.buckets) {
    metric.histogram.bucket.push_back({count, bound});
    metric.histogram.sample_count = count;
  }
  return metric;
}

void AppendSamples(const Samples& samples, std::vector<prometheus::MetricFamily>& families) {
  for (const Sample& sample : samples) {
    if (families.empty() || families.back().name != sample.name) {
      families.push_back({sample.name, sample.help, Convert(sample.type), {}});
    }
    families.back().metric.push_back(Convert(sample));
  }
}

// Samples of one name stand together, whatever the number of leases.
void AppendLeaders(const std::vector<const engine::Elector*>& electors, Samples& samples) {
  for (const engine::Elector* elector : electors) {
    samples.push_back({"halo_leader",
                       "1 while this process holds the lease.",
                       MetricType::kGauge,
                       elector->state().leading ? 1.0 : 0.0,
                       {{"lease", elector->lease()}}});
  }
  for (const engine::Elector* elector : electors) {
    samples.push_back({"halo_leader_changes_total",
                       "Terms of the lease that were seen to begin, whoever's they were.",
                       MetricType::kCounter,
                       static_cast<double>(elector->state().changes),
                       {{"lease", elector->lease()}}});
  }
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests =
      prometheus::BuildCounter()
          .Name("hyperfleet_api_requests_total")
          .Help("Requests to the resource API that were answered.")
          .Register(registry);
  prometheus::Family<prometheus::Histogram>& duration =
      prometheus::BuildHistogram()
          .Name("hyperfleet_api_request_duration_seconds")
          .Help("From arrival to answer.")
          .Register(registry);
  std::map<SeriesKey, Series> series;  // Of the observing thread.
  std::vector<std::function<void(Samples&)>> sources;
  std::vector<const engine::Elector*> electors;

  Series& SeriesOf(const SeriesKey& key) {
    const auto known = series.find(key);
    if (known != series.end()) {
      return known->second;
    }
    const prometheus::Labels labels = LabelsOf(key);
    return series.emplace(key, Series{&requests.Add(labels), &duration.Add(labels, Buckets())})
        .first->second;
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {
  AddSource([](Samples& samples) {
    samples.push_back({"hyperfleet_api_build_info",
                       "Which build this is; always 1.",
                       MetricType::kGauge,
                       1,
                       {{"component", "api"},
                        {"version", std::string(kVersion)},
                        {"commit", std::string(kCommit)},
                        {"go_version", "none, c++ " __VERSION__}}});
  });
}

Metrics::~Metrics() = default;

void Metrics::AddSource(std::function<void(Samples&)> source) {
  impl_->sources.push_back(std::move(source));
}

void Metrics::AddElector(const engine::Elector& elector) {
  if (impl_->electors.empty()) {
    AddSource([this](Samples& samples) { AppendLeaders(impl_->electors, samples); });
  }
  impl_->electors.push_back(&elector);
}

void Metrics::AddClockSkew(const engine::ClockSkew& skew) {
  AddSource([&skew](Samples& samples) {
    if (const std::optional<double> seconds = skew.seconds()) {
      samples.push_back({"halo_clock_skew_seconds",
                         "How far the store's clock is ahead of this machine's.",
                         MetricType::kGauge,
                         *seconds,
                         {}});
    }
  });
}

void Metrics::Observe(const Request& request, int status, double seconds) {
  if (!request.route_label().starts_with("/api/hyperfleet/v1/")) {
    return;
  }
  const Series& series = impl_->SeriesOf({request.route_label(), request.method(), status});
  series.requests->Increment();
  series.duration->Observe(seconds);
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  Samples samples;
  for (const auto& source : impl_->sources) {
    source(samples);
  }
  AppendSamples(samples, families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace api
