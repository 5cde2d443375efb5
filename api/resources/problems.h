// Refusals of resources as problem documents, and versions as entity tags.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "api/http/problem.h"
#include "projections/resources/rules.h"

namespace api {

Problem ProblemOf(const projections::Refusal& refusal);

// VAL-000 about one field.
Problem FieldProblem(std::string_view field, std::string detail, std::string_view constraint);
Problem FieldProblem(const std::vector<projections::FieldError>& errors);

// `"17-0"`: the position of the resource's record, and of its status (0: none).
std::string EntityTag(engine::Position resource,
                      engine::Position status = engine::Position::kBeforeFirst);

// What `If-Match` accepts: the positions of its tags. Empty: any version (no header, or `*`).
// Only the resource's part counts: reports of adapters do not fail a client's write. A tag that is
// none of ours matches nothing.
projections::ExpectedVersions IfMatch(const Request& request);

}  // namespace api
