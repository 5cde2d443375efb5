#include "api/main/tracing_config.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/http/request.h"
#include "api/main/values.h"
#include "api/server/version.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Where it is the host that would be sent to, and nothing that has to be kept out of logs.
bool IsHttpUrl(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos ||
      (url.substr(0, scheme) != "http" && url.substr(0, scheme) != "https")) {
    return false;
  }
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F || c == '\\') {
      return false;
    }
  }
  const std::string_view rest = url.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  return !authority.empty() && authority.front() != ':' &&
         authority.find('@') == std::string_view::npos;
}

bool IsPrintable(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) {
      return false;
    }
  }
  return true;
}

// Reads variables, and notes which cannot be followed.
class Variables {
 public:
  Variables(const Settings& settings, std::vector<std::string>& warnings)
      : settings_(settings), warnings_(warnings) {}

  std::string Text(std::string_view name) const { return settings_.Variable(name); }

  // Of traces alone, else of everything that is exported: `ENDPOINT`, `HEADERS`, ...
  std::string Export(std::string_view what) const {
    const std::string own = Text("OTEL_EXPORTER_OTLP_TRACES_" + std::string(what));
    return own.empty() ? Text("OTEL_EXPORTER_OTLP_" + std::string(what)) : own;
  }

  void Warn(std::string_view name, std::string_view why) {
    warnings_.push_back(std::string(name) + ": " + std::string(why));
  }

  // At least `min`; `fallback` where there is none or it is not one.
  std::int64_t Number(std::string_view name, const std::string& text, std::int64_t min,
                      std::int64_t max, std::int64_t fallback) {
    if (text.empty()) {
      return fallback;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < min || number > max) {
      Warn(name, absl::StrFormat("not a number from %d to %d: %d is taken", min, max, fallback));
      return fallback;
    }
    return number;
  }

  // `name=value,...`, with percent escapes.
  Pairs List(std::string_view name, std::string_view text) {
    Pairs pairs;
    while (!text.empty()) {
      const std::string_view part = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), part.size() + 1));
      const std::size_t equals = part.find('=');
      const auto key = PercentDecode(Trimmed(part.substr(0, equals)), false);
      const auto value = PercentDecode(
          Trimmed(equals == std::string_view::npos ? "" : part.substr(equals + 1)), false);
      if (equals == std::string_view::npos || !key || !value || key->empty() ||
          !IsPrintable(*key) || !IsPrintable(*value)) {
        Warn(name, "not a list of name=value: left out in part");
        continue;
      }
      pairs.emplace_back(*key, *value);
    }
    return pairs;
  }

 private:
  static std::string_view Trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string_view::npos
               ? std::string_view()
               : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
  }

  const Settings& settings_;
  std::vector<std::string>& warnings_;
};

// Whether spans are to be exported in a way that we know.
bool IsOurWay(Variables& variables) {
  if (variables.Text("OTEL_SDK_DISABLED") == "true") {
    return false;
  }
  const std::string exporter = variables.Text("OTEL_TRACES_EXPORTER");
  if (!exporter.empty() && exporter != "otlp") {
    if (exporter != "none") {
      variables.Warn("OTEL_TRACES_EXPORTER", "only otlp is there: no traces are exported");
    }
    return false;
  }
  const std::string protocol = variables.Export("PROTOCOL");
  if (!protocol.empty() && protocol != "http/json" && protocol != "http/protobuf") {
    variables.Warn("OTEL_EXPORTER_OTLP_PROTOCOL",
                   "only http/json is there, which collectors take on port 4318 as http/protobuf: "
                   "no traces are exported");
    return false;
  }
  return true;
}

// Empty: nowhere.
std::string CollectorUrl(Variables& variables) {
  constexpr std::string_view kOfTraces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  constexpr std::string_view kOfAll = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const bool is_of_traces = !variables.Text(kOfTraces).empty();
  const std::string_view name = is_of_traces ? kOfTraces : kOfAll;
  const std::string url = variables.Text(name);
  if (url.empty()) {
    return "";
  }
  if (!IsHttpUrl(url)) {
    variables.Warn(name, "not an http:// or https:// URL without a user: no traces are exported");
    return "";
  }
  return is_of_traces ? url : url + (url.ends_with('/') ? "v1/traces" : "/v1/traces");
}

void ReadCollector(Variables& variables, CollectorOptions& collector) {
  collector.headers = variables.List("OTEL_EXPORTER_OTLP_HEADERS", variables.Export("HEADERS"));
  collector.ca_file = variables.Export("CERTIFICATE");
  collector.timeout = std::chrono::milliseconds(variables.Number(
      "OTEL_EXPORTER_OTLP_TIMEOUT", variables.Export("TIMEOUT"), 1, 600000, 10000));
}

void ReadTracer(Variables& variables, const std::string& service, TracerOptions& tracer) {
  std::string sampler = variables.Text("OTEL_TRACES_SAMPLER");
  const std::string ratio = variables.Text("OTEL_TRACES_SAMPLER_ARG");
  sampler = sampler.empty() ? "parentbased_traceidratio" : sampler;
  if (const std::optional<Sampler> parsed = Sampler::Parse(sampler, ratio)) {
    tracer.sampler = *parsed;
  } else {
    variables.Warn("OTEL_TRACES_SAMPLER",
                   "no such sampler, or its argument is not from 0 to 1: "
                   "all traces are kept that callers keep");
  }
  const auto number = [&variables](std::string_view name, std::int64_t max, std::int64_t fallback) {
    return variables.Number(name, variables.Text(name), 1, max, fallback);
  };
  tracer.max_queue = static_cast<std::size_t>(number("OTEL_BSP_MAX_QUEUE_SIZE", 1000000, 2048));
  tracer.max_batch =
      std::min(tracer.max_queue,
               static_cast<std::size_t>(number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 10000, 512)));
  tracer.delay = std::chrono::milliseconds(number("OTEL_BSP_SCHEDULE_DELAY", 600000, 5000));
  tracer.resource = {{"service.name", service},
                     {"service.version", std::string(kVersion)},
                     {"telemetry.sdk.name", "halo"},
                     {"telemetry.sdk.language", "cpp"}};
  for (auto& [name, value] :
       variables.List("OTEL_RESOURCE_ATTRIBUTES", variables.Text("OTEL_RESOURCE_ATTRIBUTES"))) {
    if (name != "service.name") {
      tracer.resource.emplace_back(std::move(name), std::move(value));
    }
  }
}

}  // namespace

absl::Status ReadTracing(const Settings& settings, TracingConfig& config,
                         std::vector<std::string>& without_effect) {
  bool is_on = true;
  RETURN_IF_ERROR(ReadBool(settings, "logging.otel.enabled", is_on));
  RETURN_IF_ERROR(ReadBool(settings, "tracing.enabled", is_on));
  std::string service = "hyperfleet-api";
  RETURN_IF_ERROR(ReadText(settings, "tracing.service_name", service));
  Variables variables(settings, config.warnings);
  if (!is_on || !IsOurWay(variables)) {
    return absl::OkStatus();
  }
  config.collector.url = CollectorUrl(variables);
  if (config.collector.url.empty()) {
    for (const std::string_view name : {"tracing.enabled", "logging.otel.enabled"}) {
      if (const auto asked = settings.Find(name)) {
        without_effect.push_back(asked->source);
      }
    }
    return absl::OkStatus();
  }
  const std::string own_name = variables.Text("OTEL_SERVICE_NAME");
  ReadCollector(variables, config.collector);
  ReadTracer(variables, own_name.empty() ? service : own_name, config.tracer);
  return absl::OkStatus();
}

std::shared_ptr<Tracer> StartTracer(const TracingConfig& config) {
  for (const std::string& warning : config.warnings) {
    engine::Log(engine::Severity::kWarning, "a variable is not followed", {{"variable", warning}});
  }
  if (config.collector.url.empty()) {
    return nullptr;
  }
  engine::Log(engine::Severity::kInfo, "traces are exported", {{"to", config.collector.url}});
  return std::make_shared<Tracer>(
      config.tracer,
      [collector = config.collector](const std::string& json, const std::atomic<bool>& stop) {
        return PostSpans(collector, json, stop);
      });
}

}  // namespace api
