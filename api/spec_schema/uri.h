// What a reference in a schema means: URI references resolved against a base (RFC 3986 5.2), and
// JSON pointers in their fragments. Nothing is ever fetched.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/json/parser.h"

namespace api {

struct UriAndFragment {
  std::string uri;       // Without `#`.
  std::string fragment;  // Percent-decoded.
};

// The base has no fragment, and may be empty or relative.
UriAndFragment ResolveUri(std::string_view base, std::string_view reference);

// What the pointer leads to; null where it leads nowhere.
const JsonValue* FollowPointer(const JsonValue& root, std::string_view pointer);

// One step of a pointer, with `~` and `/` escaped.
std::string PointerStep(std::string_view key);

}  // namespace api
