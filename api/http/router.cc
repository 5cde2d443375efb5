#include "api/http/router.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <utility>

#include "api/http/problem.h"
#include "api/http/trace.h"
#include "engine/base/check.h"
#include "engine/base/logging.h"

namespace api {
namespace {

constexpr std::size_t kMethodCount = static_cast<std::size_t>(Method::kOther);

// Takes the first segment off `path`, which starts with a slash.
std::string_view TakeSegment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

bool IsVariable(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

}  // namespace

struct Router::Route {
  Handler handler;
  RouteOptions options;
  std::string pattern;
  std::string label;                   // The pattern with variables as `-`.
  std::vector<std::string> variables;  // Their names, in order.
};

// One segment of the tree of patterns.
struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::unique_ptr<Node> variable;
  std::array<std::unique_ptr<Route>, kMethodCount> routes;

  const Route* RouteFor(Method method) const {
    const auto& exact = routes[static_cast<std::size_t>(method)];
    if (exact == nullptr && method == Method::kHead) {
      return routes[static_cast<std::size_t>(Method::kGet)].get();
    }
    return exact.get();
  }

  bool IsRoute() const {
    return std::any_of(routes.begin(), routes.end(), [](const auto& r) { return r != nullptr; });
  }

  std::string Allow() const {
    std::string allow;
    for (std::size_t i = 0; i < kMethodCount; ++i) {
      const auto method = static_cast<Method>(i);
      if (RouteFor(method) != nullptr) {
        allow += allow.empty() ? "" : ", ";
        allow += MethodName(method);
      }
    }
    return allow;
  }

  void Collect(std::vector<RouteName>& found) const {
    for (std::size_t i = 0; i < kMethodCount; ++i) {
      if (routes[i] != nullptr) {
        found.push_back({static_cast<Method>(i), routes[i]->pattern});
      }
    }
    for (const auto& [segment, node] : literals) {
      node->Collect(found);
    }
    if (variable != nullptr) {
      variable->Collect(found);
    }
  }

  // Literal segments first; comes back and tries the variable when they lead nowhere.
  const Node* Find(std::string_view path, std::vector<std::string>& values) const {
    if (path.empty()) {
      return IsRoute() ? this : nullptr;
    }
    const std::optional<std::string> segment = PercentDecode(TakeSegment(path), false);
    if (!segment || segment->empty()) {
      return nullptr;
    }
    if (const auto literal = literals.find(*segment); literal != literals.end()) {
      if (const Node* found = literal->second->Find(path, values)) {
        return found;
      }
    }
    if (variable == nullptr) {
      return nullptr;
    }
    values.push_back(*segment);
    const Node* const found = variable->Find(path, values);
    if (found == nullptr) {
      values.pop_back();
    }
    return found;
  }
};

bool IsOfFamily(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) ||
         (prefix.ends_with('/') && path.size() + 1 == prefix.size() && prefix.starts_with(path));
}

int RefusalStatus(Refusal refusal) {
  switch (refusal) {
    case Refusal::kBadRequest:
      return 400;
    case Refusal::kNotFound:
      return 404;
    case Refusal::kMethodNotAllowed:
      return 405;
    case Refusal::kTimeout:
      return 408;
    case Refusal::kPayloadTooLarge:
      return 413;
    case Refusal::kExpectationFailed:
      return 417;
    case Refusal::kHeadTooLarge:
      return 431;
    case Refusal::kUnanswered:
      return 500;
    case Refusal::kUnknownMethod:
    case Refusal::kUnknownEncoding:
      return 501;
    case Refusal::kOverloaded:
      return 503;
    case Refusal::kVersion:
      return 505;
  }
  return 500;
}

Router::Router() : root_(std::make_unique<Node>()) {
  families_.push_back(DefaultFamily());
}

Router::~Router() = default;

void Router::Handle(Method method, std::string_view pattern, Handler handler,
                    RouteOptions options) {
  ENGINE_CHECK(pattern.starts_with('/'));
  ENGINE_CHECK(method != Method::kOther);
  auto route = std::make_unique<Route>();
  route->handler = std::move(handler);
  route->options = options;
  route->pattern = pattern;
  Node* node = root_.get();
  std::string_view rest = pattern == "/" ? std::string_view() : pattern;
  while (!rest.empty()) {
    const std::string_view segment = TakeSegment(rest);
    ENGINE_CHECK(!segment.empty());
    const bool is_variable = IsVariable(segment);
    auto& next = is_variable ? node->variable : node->literals[std::string(segment)];
    if (next == nullptr) {
      next = std::make_unique<Node>();
    }
    node = next.get();
    route->label += is_variable ? "/-" : "/" + std::string(segment);
    if (is_variable) {
      route->variables.emplace_back(segment.substr(1, segment.size() - 2));
    }
  }
  auto& slot = node->routes[static_cast<std::size_t>(method)];
  ENGINE_CHECK(slot == nullptr);
  slot = std::move(route);
}

void Router::AddFamily(Family family) {
  const auto longer = [&family](const Family& other) {
    return other.prefix.size() <= family.prefix.size();
  };
  const auto at = std::find_if(families_.begin(), families_.end(), longer);
  if (at != families_.end() && at->prefix == family.prefix) {
    *at = std::move(family);
    return;
  }
  families_.insert(at, std::move(family));
}

const Family& Router::FamilyOf(std::string_view path) const {
  const auto fits = [path](const Family& family) { return IsOfFamily(path, family.prefix); };
  return *std::find_if(families_.begin(), families_.end(), fits);
}

std::vector<RouteName> Router::Routes() const {
  std::vector<RouteName> found;
  root_->Collect(found);
  std::ranges::stable_sort(found, {}, &RouteName::pattern);
  return found;
}

Response Router::Refuse(const Request& request, Refusal refusal, std::string detail) const {
  Response response =
      FamilyOf(request.path()).refuse(request, RefusalDetail{refusal, std::move(detail)});
  if (refusal == Refusal::kOverloaded) {
    response.With("Retry-After", "1");
  }
  return response;
}

const Router::Node* Router::Find(std::string_view path, std::vector<std::string>& values) const {
  if (!path.starts_with('/')) {
    return nullptr;
  }
  if (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return root_->Find(path, values);
}

void Router::Dispatch(const std::shared_ptr<Request>& request, Responder responder,
                      bool overloaded) const {
  if (arrival_observer_) {
    arrival_observer_(*request);
  }
  const auto refuse = [&](Refusal refusal, std::string detail) {
    responder.Answer(Refuse(*request, refusal, std::move(detail)));
  };
  if (request->method() == Method::kOther) {
    return refuse(Refusal::kUnknownMethod,
                  "Method " + std::string(request->method_name()) + " is not implemented");
  }
  if (!request->well_formed()) {
    return refuse(Refusal::kBadRequest, "The path or query string is not well-formed");
  }
  std::vector<std::string> values;
  const Node* const node = Find(request->path(), values);
  if (node == nullptr) {
    return refuse(Refusal::kNotFound,
                  "The requested endpoint " + std::string(request->path()) + " does not exist");
  }
  const Route* const route = node->RouteFor(request->method());
  if (route == nullptr) {
    Response response =
        Refuse(*request, Refusal::kMethodNotAllowed,
               "Method " + std::string(request->method_name()) + " is not allowed here");
    return responder.Answer(std::move(response.With("Allow", node->Allow())));
  }
  if (overloaded && !route->options.never_refused) {
    return refuse(Refusal::kOverloaded, "Too many requests are waiting; nothing was done");
  }
  Run(*route, request, std::move(values), std::move(responder));
}

void Router::Run(const Route& route, const std::shared_ptr<Request>& request,
                 std::vector<std::string> values, Responder responder) const {
  request->route_ = route.pattern;
  request->route_label_ = route.label;
  for (std::size_t i = 0; i < route.variables.size(); ++i) {
    request->path_parameters_.emplace_back(route.variables[i], std::move(values[i]));
  }
  try {
    route.handler(request, std::move(responder));
  } catch (const std::exception& e) {
    engine::Log(engine::Severity::kError, "handler threw",
                {{"route", route.pattern},
                 {"request_id", request->id()},
                 {"trace_id", TraceIdOf(*request)},
                 {"what", e.what()}});
  }
}

}  // namespace api
