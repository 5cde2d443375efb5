#include "api/server/service_routes.h"

#include <string>
#include <utility>

#include "api/json/writer.h"
#include "api/openapi/document.h"
#include "api/openapi/routes.h"
#include "api/server/version.h"

namespace api {
namespace {

Response StatusResponse(int status, std::string_view word, std::string_view reason,
                        const BackendFacts& facts = {}) {
  Response response;
  response.status = status;
  response.With("Cache-Control", "no-store");
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("status").String(word);
  if (!reason.empty()) {
    json.Key("reason").String(reason);
  }
  if (facts) {
    json.Key("store").BeginObject();
    for (const auto& [name, value] : facts()) {
      json.Key(name).String(value);
    }
    json.EndObject();
  }
  json.EndObject();
  return response;
}

}  // namespace

void AddHealthRoutes(Router& router, const Readiness& readiness, BackendFacts facts) {
  const RouteOptions always{.never_refused = true};
  router.Handle(
      Method::kGet, "/healthz",
      [](const RequestPtr&, Responder responder) {
        responder.Answer(StatusResponse(200, "ok", ""));
      },
      always);
  router.Handle(
      Method::kGet, "/readyz",
      [&readiness, facts = std::move(facts)](const RequestPtr&, Responder responder) {
        const Readiness::State state = readiness.Get();
        responder.Answer(
            StatusResponse(state.ready() ? 200 : 503, state.status, state.reason, facts));
      },
      always);
}

void AddMetricsRoute(Router& router, const Metrics& metrics) {
  router.Handle(Method::kGet, "/metrics",
                [&metrics](const RequestPtr&, Responder responder) {
                  Response response = TextResponse(200, metrics.Text());
                  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
                  responder.Answer(std::move(response));
                },
                {.never_refused = true});
}

void AddApiRoutes(Router& router, const projections::Registry& registry) {
  AddOpenApiRoutes(router, registry, kVersion);
  router.Handle(Method::kGet, kApiPath, [](const RequestPtr& request, Responder responder) {
    Response response;
    JsonWriter json(response.body);
    json.BeginObject();
    json.Key("id").String("hyperfleet");
    json.Key("kind").String("API");
    json.Key("href").String(request->path());
    json.Key("version").String(kVersion);
    json.Key("build_time").String(kBuildTime);
    json.EndObject();
    responder.Answer(std::move(response));
  });
}

}  // namespace api
