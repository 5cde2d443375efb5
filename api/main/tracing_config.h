// Where traces go, as the settings and OpenTelemetry's variables say.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "api/main/settings.h"
#include "api/tracing/post.h"
#include "api/tracing/tracer.h"

namespace api {

struct TracingConfig {
  CollectorOptions collector;  // Without a URL there are no traces.
  TracerOptions tracer;
  // What of OpenTelemetry's variables cannot be followed, one text each: to be logged.
  std::vector<std::string> warnings;
};

// `tracing.enabled`, `tracing.service_name`, `logging.otel.enabled` and OTEL_...
// (docs/operations.md lists them). `without_effect` gets the setting that asks for traces where
// nothing says where to.
//
// Fails as ReadBool does for a setting. A variable that cannot be followed is a warning and no
// failure: it is often set for all programs of a machine, and what is traced matters more than its
// traces.
absl::Status ReadTracing(const Settings& settings, TracingConfig& config,
                         std::vector<std::string>& without_effect);

// Logs the warnings. Null: no traces.
std::shared_ptr<Tracer> StartTracer(const TracingConfig& config);

}  // namespace api
