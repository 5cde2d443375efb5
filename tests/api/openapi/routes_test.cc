// The document and the routes of a server: neither has what the other lacks.

#include "api/openapi/routes.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "api/openapi/document.h"
#include "api/server/server.h"
#include "engine/memory/memory.h"
#include "schemas/streams.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/openapi.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using dispatch_test::HeaderOf;
using dispatch_test::MakeRequest;
using dispatch_test::Slot;
using testing::ElementsAreArray;
using testing::HasSubstr;

class OpenApiRoutesTest : public testing::Test {
 protected:
  void Start(projections::Registry registry) {
    ServerOptions options;
    options.registry = std::move(registry);
    auto server = Server::Start(*engine_, std::move(options));
    ASSERT_OK(server);
    server_ = *std::move(server);
  }

  Response Get(std::string_view path) {
    Slot slot;
    server_->router().Dispatch(MakeRequest("GET", std::string(path)), slot.MakeResponder());
    return slot.Wait();
  }

  JsonValue Document() {
    const JsonParse parsed = ParseJson(Get(kOpenApiPath).body);
    EXPECT_TRUE(parsed.ok()) << parsed.error.message;
    return parsed.ok() ? *parsed.value : JsonValue();
  }

  // `GET /api/hyperfleet/v1/clusters`, as the document lists them.
  std::vector<std::string> RoutesOfTheFamily() {
    std::vector<std::string> routes;
    for (const RouteName& route : server_->router().Routes()) {
      if (IsOfFamily(route.pattern, "/api/hyperfleet/")) {
        routes.push_back(std::string(MethodName(route.method)) + " " + route.pattern);
      }
    }
    std::ranges::sort(routes);
    return routes;
  }

  const std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
  std::unique_ptr<Server> server_;
};

TEST_F(OpenApiRoutesTest, EveryRouteIsDocumentedAndNothingElse) {
  Start(projections::Registry::Stock());
  const support::OpenApi openapi(Document());
  EXPECT_THAT(openapi.Operations(), ElementsAreArray(RoutesOfTheFamily()));
  EXPECT_GT(openapi.Operations().size(), 40u);
}

TEST_F(OpenApiRoutesTest, TheRegistryOfTheServerIsDocumented) {
  projections::EntityDescriptor entity;
  entity.kind = "Widget";
  entity.plural = "widgets";
  ASSERT_OK_AND_ASSIGN(projections::Registry registry, projections::Registry::Create({entity}));
  Start(std::move(registry));
  const support::OpenApi openapi(Document());
  EXPECT_THAT(openapi.Operations(), ElementsAreArray(RoutesOfTheFamily()));
  EXPECT_THAT(openapi.Operations(), testing::Contains("GET /api/hyperfleet/v1/widgets"));
}

TEST_F(OpenApiRoutesTest, ThePageMayNotFetchAnything) {
  Start(projections::Registry::Stock());
  const Response page = Get(kOpenApiPagePath);
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(HeaderOf(page, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(page.body, HasSubstr("/api/hyperfleet/v1/wifconfigs"));
}

}  // namespace
}  // namespace api
