// Router: which handler answers which method and path, and what is answered when none does.
//
//   Router router;
//   router.AddFamily(HyperfleetFamily());              // api/http/problem.h
//   router.AddFamily(ControlFamily());
//   router.Handle(Method::kGet, "/api/v1/things/{id}", handler);
//
// Filled in once before the transport starts, then only read: thread-safe from then on. Never
// blocks.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/request.h"
#include "api/http/response.h"

namespace api {

// Runs on the I/O thread: must not block. Answers through `responder`, now or later.
using Handler = std::function<void(RequestPtr request, Responder responder)>;

// Why the router or the transport answers by itself.
enum class Refusal {
  kBadRequest,         // 400: framing, Host, escapes in path or query; the connection closes
  kNotFound,           // 404: no such route
  kMethodNotAllowed,   // 405: the route exists under other methods
  kTimeout,            // 408: the request came too slowly
  kPayloadTooLarge,    // 413: the body is over the limit
  kExpectationFailed,  // 417: an Expect other than 100-continue
  kHeadTooLarge,       // 431: request line and headers are over 32 KiB
  kUnanswered,         // 500: the handler dropped its responder or threw
  kUnknownMethod,      // 501
  kUnknownEncoding,    // 501: a Transfer-Encoding other than chunked
  kOverloaded,         // 503: too many requests are parked, or the server is going down
  kVersion,            // 505: not HTTP/1.0 or HTTP/1.1
};

int RefusalStatus(Refusal refusal);

struct RefusalDetail {
  Refusal refusal;
  std::string detail;  // For people.
};

// The routes below one path prefix share their manner of refusing and the headers that every
// answer of theirs carries.
struct Family {
  // `/api/hyperfleet/`: what is below it, and `/api/hyperfleet` itself. The longest that fits
  // wins; "" fits everything.
  std::string prefix;
  // Makes the body and content type. The router adds `Allow` and `Retry-After` where they belong.
  std::function<Response(const Request& request, const RefusalDetail& detail)> refuse;
  // Complete lines, each with its CRLF, added to every answer of the family.
  std::string common_headers;
};

struct RouteOptions {
  // Served even when too many requests are parked (/healthz, /readyz, /metrics).
  bool never_refused = false;
};

// A route that was added.
struct RouteName {
  Method method;
  std::string pattern;
};

// Whether `path` belongs to a family of this prefix.
bool IsOfFamily(std::string_view path, std::string_view prefix);

// Told of every answer; runs on the I/O thread, must not block. `seconds` since arrival.
using AnswerObserver = std::function<void(const Request& request, int status, double seconds)>;

// Told of every request before its handler runs; as AnswerObserver.
using ArrivalObserver = std::function<void(const Request& request)>;

class Router {
 public:
  Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  ~Router();

  // `pattern` is an absolute path whose segments are literal or `{name}`; a literal segment wins
  // over a variable one. A GET route answers HEAD too. Requests may have one trailing slash more.
  // REQUIRES: the method and pattern are not taken.
  void Handle(Method method, std::string_view pattern, Handler handler, RouteOptions options = {});
  void AddFamily(Family family);
  void SetObserver(AnswerObserver observer) { observer_ = std::move(observer); }
  const AnswerObserver& observer() const { return observer_; }
  void SetArrivalObserver(ArrivalObserver observer) { arrival_observer_ = std::move(observer); }

  // Finds the route and runs its handler, or refuses. `overloaded`: refuse what may be refused.
  // A handler that throws counts as one that dropped its responder.
  void Dispatch(const std::shared_ptr<Request>& request, Responder responder,
                bool overloaded = false) const;

  // The answer of the family of the request's path to `refusal`.
  Response Refuse(const Request& request, Refusal refusal, std::string detail) const;
  const Family& FamilyOf(std::string_view path) const;

  // Every route, ordered by pattern.
  std::vector<RouteName> Routes() const;

 private:
  struct Route;
  struct Node;

  const Node* Find(std::string_view path, std::vector<std::string>& variables) const;
  void Run(const Route& route, const std::shared_ptr<Request>& request,
           std::vector<std::string> variables, Responder responder) const;

  std::unique_ptr<Node> root_;
  std::vector<Family> families_;  // Longest prefix first; the last is the default.
  AnswerObserver observer_;
  ArrivalObserver arrival_observer_;
};

}  // namespace api
