// Request: one HTTP request as handlers see it. Nothing of the HTTP library shows here.
//
// Immutable once the router has dispatched it, shared by pointer, so that a parked request costs
// a pointer and may be read from any thread. Never blocks.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/deadline.h"
#include "engine/base/random.h"

namespace api {

enum class Method { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions, kTrace, kConnect, kOther };

// "GET" and so on; "" for kOther.
std::string_view MethodName(Method method);
// Case matters. kOther for a name that is none of them.
Method MethodFromName(std::string_view name);

struct HeaderField {
  std::string name;
  std::string value;
};

// A decoded `name=value` of the query string.
struct QueryParameter {
  std::string name;
  std::string value;
};

// What a request is made of; the transport fills it in from the wire, tests by hand.
struct RequestParts {
  std::string method = "GET";
  std::string target = "/";  // Path and query string as sent.
  std::vector<HeaderField> headers;
  std::string body;
  std::string remote_address;  // `192.0.2.7:41234`
  // Empty: made from the `X-Request-ID` header when that is usable, else a new UUID of version 7.
  std::string id;
  engine::Deadline deadline = engine::Deadline::Infinite();
};

class Request {
 public:
  explicit Request(RequestParts parts);
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Method method() const { return method_; }
  std::string_view method_name() const { return parts_.method; }
  std::string_view target() const { return parts_.target; }
  // The path as sent (not decoded), without the query string: what `instance` shows.
  std::string_view path() const { return path_; }
  // The query string as sent, without the `?`.
  std::string_view query() const { return query_; }

  // False when path or query has a bad percent escape, a NUL or bytes that are not UTF-8 once
  // decoded. The router answers 400 to those before any handler sees them.
  bool well_formed() const { return well_formed_; }

  // In the order sent; `+` and percent escapes decoded.
  const std::vector<QueryParameter>& query_parameters() const { return query_parameters_; }
  // The first of that name; empty optional when there is none. Names are case-sensitive.
  std::optional<std::string_view> Query(std::string_view name) const;
  std::vector<std::string_view> QueryAll(std::string_view name) const;

  // The first of that name, whatever the case.
  std::optional<std::string_view> Header(std::string_view name) const;
  const std::vector<HeaderField>& headers() const { return parts_.headers; }

  std::string_view body() const { return parts_.body; }
  std::string_view remote_address() const { return parts_.remote_address; }
  std::string_view id() const { return parts_.id; }
  engine::Deadline deadline() const { return parts_.deadline; }

  // The decoded segment that matched `{name}` of the route; "" when the route has none.
  std::string_view PathParameter(std::string_view name) const;
  // The route that matched, `/api/hyperfleet/v1/clusters/{id}`, and its form for metric labels,
  // `/api/hyperfleet/v1/clusters/-`. Empty before dispatch and for unknown routes.
  std::string_view route() const { return route_; }
  std::string_view route_label() const { return route_label_; }

 private:
  friend class Router;

  RequestParts parts_;
  Method method_;
  std::string_view path_;
  std::string_view query_;
  bool well_formed_ = true;
  std::vector<QueryParameter> query_parameters_;
  std::vector<std::pair<std::string_view, std::string>> path_parameters_;
  // Into the router, which outlives every request.
  std::string_view route_;
  std::string_view route_label_;
};

using RequestPtr = std::shared_ptr<const Request>;

// Decodes percent escapes (and `+` when `plus_is_space`). Empty when an escape is bad or the
// result has a NUL or is not UTF-8.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

// Whether both are equal but for the case of ASCII letters.
bool EqualsIgnoreCase(std::string_view a, std::string_view b);

// The id that a request is known by in logs, answers and audit entries: `inbound` when it matches
// [A-Za-z0-9._-]{1,128}, else a new UUID of version 7.
std::string RequestId(std::optional<std::string_view> inbound,
                      engine::Random& random = engine::SystemRandom());

}  // namespace api
