// OpenApi: an OpenAPI 3.0 document as tests use it: whether it is one, and whether an answer is
// what it says.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json/parser.h"
#include "tests/support/json_schema.h"

namespace support {

// An answer to check; names of headers in lower case.
struct SeenAnswer {
  std::string method;
  std::string path;  // Without the query string.
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;
};

// Thread-safe; never blocks.
class OpenApi {
 public:
  explicit OpenApi(api::JsonValue document) : document_(std::move(document)), schemas_(document_) {}
  OpenApi(const OpenApi&) = delete;
  OpenApi& operator=(const OpenApi&) = delete;

  const api::JsonValue& document() const { return document_; }

  // What keeps it from being an OpenAPI 3.0 document, or makes it a bad one: a `$ref` that leads
  // nowhere, a variable of a path that is not a parameter, an operation id that comes twice, a
  // component that nothing uses, ... Empty: nothing.
  std::vector<std::string> CheckDocument() const;

  // `GET /api/things/{id}` for each operation, sorted.
  std::vector<std::string> Operations() const;

  // How the answer differs from what is documented. A path or method that the document does not
  // have must have been answered with 404 or 405.
  std::vector<std::string> CheckAnswer(const SeenAnswer& answer) const;

 private:
  struct Found {
    bool has_path = false;
    const api::JsonObject* operation = nullptr;
  };
  Found Find(const std::string& method, const std::string& path) const;

  const api::JsonValue document_;
  const JsonSchema schemas_;
};

}  // namespace support
