// Error bodies of both API families.
//
// `/api/hyperfleet/...` answers RFC 9457 problem documents with the codes of the resource API;
// every other `/api/...` answers `{"error": "..."}`. An answer of 5xx to a write says in `outcome`
// what became of it. Thread-safe; never blocks.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/request.h"
#include "api/http/response.h"
#include "api/http/router.h"

namespace api {

// HYPERFLEET-<family>-<number>; status, type and title belong to the code.
enum class ProblemCode {
  kValidation,          // VAL-000 400 Validation Failed
  kRequiredMissing,     // VAL-001 400
  kInvalidValue,        // VAL-002 400
  kInvalidFormat,       // VAL-003 400
  kOutOfRange,          // VAL-004 400
  kBadRequest,          // VAL-005 400
  kMalformed,           // VAL-006 400
  kInvalidSearch,       // VAL-007 400
  kPayloadTooLarge,     // VAL-008 413
  kUnauthenticated,     // AUT-001 401
  kInvalidCredentials,  // AUT-002 401
  kInvalidToken,        // AUT-003 401
  kPermissionDenied,    // AUZ-001 403
  kUnknownEndpoint,     // NTF-000 404
  kNotFound,            // NTF-001 404
  kMethodNotAllowed,    // NTF-004 405
  kGone,                // NTF-005 410
  kConflict,            // CNF-001 409
  kVersionConflict,     // CNF-002 412
  kStateConflict,       // CNF-003 409
  kKeyReused,           // CNF-004 422
  kRateLimit,           // LMT-001 429
  kInternal,            // INT-001 500
  kDatabase,            // INT-002 500
  kNotImplemented,      // INT-003 501
  kUnavailable,         // SVC-001 503
  kTimeout,             // SVC-002 504
};

// `HYPERFLEET-VAL-000`
std::string_view ProblemCodeName(ProblemCode code);
int ProblemStatus(ProblemCode code);

// What became of a write that is answered with 5xx.
enum class Outcome {
  kNone,     // Nothing happened: retry freely.
  kUnknown,  // It may have been done: look before retrying, or retry with the same key.
};

struct FieldError {
  std::string field;
  std::string message;
  std::optional<std::string> value;
  std::string constraint;  // required, min, max, min_length, ...; empty: left out.
};

struct Problem {
  ProblemCode code = ProblemCode::kInternal;
  std::string detail;
  std::vector<FieldError> errors;
  std::optional<Outcome> outcome;
  // Where a case has another status than its code's (a child create refused with 422 VAL-000).
  std::optional<int> status;
};

Response ProblemResponse(const Request& request, const Problem& problem);

// `{"error": "text"}`, with `outcome` when given.
Response ControlError(int status, std::string_view text, std::optional<Outcome> outcome = {});

// A refusal in the manner of the request's family. `field` names what of the request is wrong,
// where one thing is: problem documents show it, with `constraint`.
Response RefuseRequest(const Request& request, ProblemCode code, std::string_view detail,
                       std::string_view field = {}, std::string_view constraint = {});

// Whether the path belongs to the family of problem documents.
bool AnswersProblems(const Request& request);

// The families of the three prefixes: `/api/hyperfleet/`, `/api/`, and everything else.
Family HyperfleetFamily();
Family ControlFamily();
Family DefaultFamily();

}  // namespace api
