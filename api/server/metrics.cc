#include "api/server/metrics.h"

#include <map>
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
  return type == MetricType::kCounter ? prometheus::MetricType::Counter
                                      : prometheus::MetricType::Gauge;
}

prometheus::ClientMetric Convert(const Sample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) {
    metric.label.push_back({name, value});
  }
  metric.counter.value = sample.value;
  metric.gauge.value = sample.value;
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
