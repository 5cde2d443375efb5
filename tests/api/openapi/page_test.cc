#include "api/openapi/page.h"

#include <gmock/gmock.h>

#include "api/openapi/document.h"
#include "tests/support/openapi.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using projections::Registry;
using testing::HasSubstr;
using testing::Not;

TEST(OpenApiPageTest, ShowsEveryOperationAndSchema) {
  const support::OpenApi openapi(OpenApiDocument(Registry::Stock(), "1.2.3"));
  const std::string page = OpenApiPage(openapi.document().as_object());
  for (const std::string& operation : openapi.Operations()) {
    const std::size_t space = operation.find(' ');
    EXPECT_THAT(page, HasSubstr("\"m\">" + operation.substr(0, space) + "</span><code>" +
                                operation.substr(space + 1) + "</code>"));
  }
  for (const auto& [name, schema] : openapi.document().at("components").at("schemas").as_object()) {
    EXPECT_THAT(page, HasSubstr("id=\"schema-" + std::string(name) + "\""));
  }
  EXPECT_THAT(page, HasSubstr("If-Match"));
  EXPECT_THAT(page, HasSubstr("Retry-After"));
}

TEST(OpenApiPageTest, FetchesNothingAndRunsNothing) {
  const std::string page = OpenApiPage(OpenApiDocument(Registry::Stock(), "1.2.3"));
  for (const std::string way : {"<script", "<link", "<img", "<iframe", " src=", "@import", "url(",
                                "href=\"http", "href=\"//"}) {
    EXPECT_THAT(page, Not(HasSubstr(way)));
  }
}

TEST(OpenApiPageTest, NoKindCanWriteMarkup) {
  projections::EntityDescriptor entity;
  entity.kind = "<b onload=\"x\">&";
  entity.plural = "odd";
  ASSERT_OK_AND_ASSIGN(const Registry registry, Registry::Create({entity}));
  const std::string page = OpenApiPage(OpenApiDocument(registry, "<i>"));
  EXPECT_THAT(page, Not(HasSubstr("<b ")));
  EXPECT_THAT(page, Not(HasSubstr("<i>")));
  EXPECT_THAT(page, HasSubstr("&lt;b onload=&quot;x&quot;&gt;&amp;"));
}

}  // namespace
}  // namespace api
