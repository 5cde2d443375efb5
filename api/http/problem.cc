#include "api/http/problem.h"

#include <array>
#include <cstddef>

#include "api/http/trace.h"
#include "api/json/writer.h"
#include "engine/base/clock.h"
#include "engine/base/guard.h"

namespace api {
namespace {

struct CodeRow {
  std::string_view name;
  int status;
  std::string_view type;
  std::string_view title;
};

// In the order of ProblemCode.
constexpr std::array<CodeRow, 27> kCodes = {{
    {"HYPERFLEET-VAL-000", 400, "validation-error", "Validation Failed"},
    {"HYPERFLEET-VAL-001", 400, "validation-error", "Required Field Missing"},
    {"HYPERFLEET-VAL-002", 400, "validation-error", "Invalid Value"},
    {"HYPERFLEET-VAL-003", 400, "validation-error", "Invalid Format"},
    {"HYPERFLEET-VAL-004", 400, "validation-error", "Value Out of Range"},
    {"HYPERFLEET-VAL-005", 400, "bad-request", "Bad Request"},
    {"HYPERFLEET-VAL-006", 400, "malformed-request", "Malformed Request"},
    {"HYPERFLEET-VAL-007", 400, "validation-error", "Invalid Search Query"},
    {"HYPERFLEET-VAL-008", 413, "payload-too-large", "Payload Too Large"},
    {"HYPERFLEET-AUT-001", 401, "authentication-error", "Authentication Required"},
    {"HYPERFLEET-AUT-002", 401, "authentication-error", "Invalid Credentials"},
    {"HYPERFLEET-AUT-003", 401, "authentication-error", "Invalid Token"},
    {"HYPERFLEET-AUZ-001", 403, "permission-denied", "Permission Denied"},
    {"HYPERFLEET-NTF-000", 404, "not-found", "Endpoint Not Found"},
    {"HYPERFLEET-NTF-001", 404, "not-found", "Resource Not Found"},
    {"HYPERFLEET-NTF-004", 405, "method-not-allowed", "Method Not Allowed"},
    {"HYPERFLEET-NTF-005", 410, "gone", "Gone"},
    {"HYPERFLEET-CNF-001", 409, "conflict", "Resource Conflict"},
    {"HYPERFLEET-CNF-002", 412, "conflict", "Version Conflict"},
    {"HYPERFLEET-CNF-003", 409, "conflict", "State Conflict"},
    {"HYPERFLEET-CNF-004", 422, "conflict", "Idempotency Key Reused"},
    {"HYPERFLEET-LMT-001", 429, "rate-limit", "Rate Limit Exceeded"},
    {"HYPERFLEET-INT-001", 500, "internal-error", "Internal Server Error"},
    {"HYPERFLEET-INT-002", 500, "internal-error", "Database Error"},
    {"HYPERFLEET-INT-003", 501, "not-implemented", "Not Implemented"},
    {"HYPERFLEET-SVC-001", 503, "service-unavailable", "Service Unavailable"},
    {"HYPERFLEET-SVC-002", 504, "service-unavailable", "Service Timeout"},
}};
static_assert(static_cast<std::size_t>(ProblemCode::kTimeout) + 1 == kCodes.size());

const CodeRow& Row(ProblemCode code) {
  return kCodes[static_cast<std::size_t>(code)];
}

std::string_view OutcomeName(Outcome outcome) {
  return outcome == Outcome::kNone ? "none" : "unknown";
}

void WriteFieldErrors(const std::vector<FieldError>& errors, JsonWriter& json) {
  json.Key("errors").BeginArray();
  for (const FieldError& error : errors) {
    json.BeginObject();
    json.Key("field").String(error.field);
    json.Key("message").String(error.message);
    if (error.value) {
      json.Key("value").String(*error.value);
    }
    if (!error.constraint.empty()) {
      json.Key("constraint").String(error.constraint);
    }
    json.EndObject();
  }
  json.EndArray();
}

ProblemCode CodeOf(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNotFound:
      return ProblemCode::kUnknownEndpoint;
    case Refusal::kMethodNotAllowed:
      return ProblemCode::kMethodNotAllowed;
    case Refusal::kPayloadTooLarge:
      return ProblemCode::kPayloadTooLarge;
    case Refusal::kUnanswered:
      return ProblemCode::kInternal;
    case Refusal::kUnknownMethod:
    case Refusal::kUnknownEncoding:
    case Refusal::kVersion:
      return ProblemCode::kNotImplemented;
    case Refusal::kOverloaded:
      return ProblemCode::kUnavailable;
    case Refusal::kBadRequest:
    case Refusal::kTimeout:
    case Refusal::kExpectationFailed:
    case Refusal::kHeadTooLarge:
      return ProblemCode::kMalformed;
  }
  return ProblemCode::kInternal;
}

// A write that is answered 5xx says what became of it. Only a handler that began may have done
// something.
std::optional<Outcome> OutcomeOf(const Request& request, Refusal refusal) {
  if (RefusalStatus(refusal) < 500 || request.method() == Method::kGet ||
      request.method() == Method::kHead) {
    return std::nullopt;
  }
  return refusal == Refusal::kUnanswered ? Outcome::kUnknown : Outcome::kNone;
}

Response RefuseWithProblem(const Request& request, const RefusalDetail& detail) {
  Problem problem;
  problem.code = CodeOf(detail.refusal);
  problem.status = RefusalStatus(detail.refusal);
  problem.detail = detail.detail;
  problem.outcome = OutcomeOf(request, detail.refusal);
  return ProblemResponse(request, problem);
}

Response RefuseWithError(const Request& request, const RefusalDetail& detail) {
  const std::string_view text =
      detail.refusal == Refusal::kNotFound ? std::string_view("not found") : detail.detail;
  return ControlError(RefusalStatus(detail.refusal), text, OutcomeOf(request, detail.refusal));
}

constexpr std::string_view kProblemPrefix = "/api/hyperfleet/";

constexpr std::string_view kSecurityHeaders =
    "Content-Security-Policy: default-src 'self'; img-src 'self' data:; "
    "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n";

}  // namespace

std::string_view ProblemCodeName(ProblemCode code) {
  return Row(code).name;
}

int ProblemStatus(ProblemCode code) {
  return Row(code).status;
}

Response ProblemResponse(const Request& request, const Problem& problem) {
  const CodeRow& row = Row(problem.code);
  const int status = problem.status.value_or(row.status);
  Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.With("Vary", "Authorization");
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("type").String("https://api.hyperfleet.io/errors/" + std::string(row.type));
  json.Key("title").String(row.title);
  json.Key("status").Int(status);
  json.Key("detail").String(problem.detail);
  json.Key("code").String(row.name);
  json.Key("timestamp").String(engine::FormatTimestamp(engine::SystemClock().Now()));
  json.Key("instance").String(request.path());
  // No route, no trace: that is what clients of the resource API know.
  const bool has_trace = problem.code != ProblemCode::kUnknownEndpoint;
  json.Key("trace_id").String(has_trace ? TraceIdOf(request) : std::string_view());
  if (!problem.errors.empty()) {
    WriteFieldErrors(problem.errors, json);
  }
  if (problem.outcome) {
    json.Key("outcome").String(OutcomeName(*problem.outcome));
  }
  json.EndObject();
  return response;
}

Response ControlError(int status, std::string_view text, std::optional<Outcome> outcome) {
  Response response;
  response.status = status;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("error").String(text);
  if (outcome) {
    json.Key("outcome").String(OutcomeName(*outcome));
  }
  json.EndObject();
  return response;
}

Response RefuseRequest(const Request& request, ProblemCode code, std::string_view detail,
                       std::string_view field, std::string_view constraint) {
  if (!AnswersProblems(request)) {
    return ControlError(ProblemStatus(code), detail);
  }
  Problem problem;
  problem.code = code;
  problem.detail = detail;
  if (!field.empty()) {
    problem.errors.push_back(
        {std::string(field), std::string(detail), std::nullopt, std::string(constraint)});
  }
  return ProblemResponse(request, problem);
}

bool AnswersProblems(const Request& request) {
  return IsOfFamily(request.path(), kProblemPrefix);
}

namespace {

// Whose a request is, is said by headers that a cache in between knows nothing of: what it kept for
// one tenant it would give to the next, and to the same one something old.
std::string NoStore() {
  return GUARD("http.no-store", false) ? "" : "Cache-Control: no-store\r\n";
}

}  // namespace

Family HyperfleetFamily() {
  return {std::string(kProblemPrefix), RefuseWithProblem, NoStore()};
}

Family ControlFamily() {
  return {"/api/", RefuseWithError, std::string(kSecurityHeaders) + NoStore()};
}

Family DefaultFamily() {
  return {"", RefuseWithError, std::string(kSecurityHeaders)};
}

}  // namespace api
