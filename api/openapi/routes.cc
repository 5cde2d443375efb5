#include "api/openapi/routes.h"

#include <memory>
#include <string>
#include <utility>

#include <boost/json/serialize.hpp>

#include "api/openapi/document.h"
#include "api/openapi/page.h"

namespace api {
namespace {

// The page has a style of its own and needs nothing else from anywhere.
constexpr std::string_view kPagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

void Serve(Router& router, std::string_view path, Response response) {
  router.Handle(Method::kGet, path,
                [shared = std::make_shared<const Response>(std::move(response))](
                    const RequestPtr&, Responder responder) { responder.Answer(*shared); });
}

}  // namespace

void AddOpenApiRoutes(Router& router, const projections::Registry& registry,
                      std::string_view version) {
  const JsonObject document = OpenApiDocument(registry, version);
  Serve(router, kOpenApiPath, JsonResponse(200, boost::json::serialize(document)));
  Response page = TextResponse(200, OpenApiPage(document));
  page.content_type = "text/html; charset=utf-8";
  page.With("Content-Security-Policy", std::string(kPagePolicy));
  page.With("X-Content-Type-Options", "nosniff");
  Serve(router, kOpenApiPagePath, std::move(page));
}

}  // namespace api
