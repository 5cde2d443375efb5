#include "api/resources/problems.h"

#include <charconv>
#include <utility>

#include <absl/strings/str_format.h>

namespace api {
namespace {

ProblemCode CodeOf(projections::RefusalReason reason) {
  switch (reason) {
    case projections::RefusalReason::kNotFound:
    case projections::RefusalReason::kParentNotFound:
      return ProblemCode::kNotFound;
    case projections::RefusalReason::kInvalidReport:
      return ProblemCode::kValidation;
    case projections::RefusalReason::kVersionMismatch:
      return ProblemCode::kVersionConflict;
    case projections::RefusalReason::kInvalidReference:
      return ProblemCode::kValidation;
    case projections::RefusalReason::kNameTaken:
      return ProblemCode::kConflict;
    case projections::RefusalReason::kMarkedForDeletion:
    case projections::RefusalReason::kActiveChildren:
    case projections::RefusalReason::kReferenced:
    case projections::RefusalReason::kNeedsReference:
    case projections::RefusalReason::kNotDeleting:
      return ProblemCode::kStateConflict;
    case projections::RefusalReason::kInvalidSpec:
      return ProblemCode::kValidation;
    case projections::RefusalReason::kConditionFailed:
      return ProblemCode::kInternal;
    case projections::RefusalReason::kTooLarge:
      return ProblemCode::kPayloadTooLarge;
  }
  return ProblemCode::kInternal;
}

FieldError Shown(const projections::FieldError& error) {
  return {error.field, error.message, std::nullopt, error.constraint};
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// The resource's position of `"17-0"`; a position that no record has when it is something else.
engine::Position PositionOf(std::string_view tag) {
  if (tag.size() < 2 || tag.front() != '"' || tag.back() != '"') {
    return engine::Position::kBeforeFirst;
  }
  tag = tag.substr(1, tag.size() - 2);
  std::uint64_t position = 0;
  const auto [end, error] = std::from_chars(tag.data(), tag.data() + tag.size(), position);
  if (error != std::errc() || end == tag.data() + tag.size() || *end != '-') {
    return engine::Position::kBeforeFirst;
  }
  return engine::Position{position};
}

}  // namespace

Problem ProblemOf(const projections::Refusal& refusal) {
  Problem problem;
  problem.code = CodeOf(refusal.reason);
  if (ProblemStatus(problem.code) >= 500) {
    problem.outcome = Outcome::kNone;
  }
  problem.detail = refusal.detail;
  for (const projections::FieldError& error : refusal.errors) {
    problem.errors.push_back(Shown(error));
  }
  return problem;
}

Problem FieldProblem(std::string_view field, std::string detail, std::string_view constraint) {
  Problem problem;
  problem.code = ProblemCode::kValidation;
  problem.errors.push_back({std::string(field), detail, std::nullopt, std::string(constraint)});
  problem.detail = std::move(detail);
  return problem;
}

Problem FieldProblem(const std::vector<projections::FieldError>& errors) {
  Problem problem;
  problem.code = ProblemCode::kValidation;
  for (const projections::FieldError& error : errors) {
    problem.detail += (problem.detail.empty() ? "" : "; ") + error.message;
    problem.errors.push_back(Shown(error));
  }
  return problem;
}

std::string EntityTag(engine::Position resource, engine::Position status) {
  return absl::StrFormat("\"%d-%d\"", engine::Raw(resource), engine::Raw(status));
}

projections::ExpectedVersions IfMatch(const Request& request) {
  projections::ExpectedVersions versions;
  const std::optional<std::string_view> header = request.Header("If-Match");
  if (!header || Trim(*header) == "*") {
    return versions;
  }
  std::string_view rest = *header;
  while (true) {
    const std::size_t comma = rest.find(',');
    versions.push_back(PositionOf(Trim(rest.substr(0, comma))));
    if (comma == std::string_view::npos) {
      return versions;
    }
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace api
