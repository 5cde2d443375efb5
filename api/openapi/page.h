// The OpenAPI document as a page for people: one file, no script, nothing fetched from elsewhere.
//
// Pure; thread-safe, never blocks.

#pragma once

#include <string>

#include "api/json/parser.h"

namespace api {

// Shows what `document` has: every operation with its parameters, bodies and answers, and every
// schema. REQUIRES: `document` is one of OpenApiDocument.
std::string OpenApiPage(const JsonObject& document);

}  // namespace api
