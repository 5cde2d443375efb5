#include "api/resources/report_body.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/json/canonical.h"
#include "api/json/parser.h"
#include "api/resources/problems.h"
#include "engine/base/clock.h"
#include "engine/base/guard.h"
#include "projections/statuses/keys.h"

namespace api {
namespace {

using projections::ReportedConditionState;
using projections::ReportRequest;

// Go's zero time, which its encoder writes for a time that was never set.
constexpr std::string_view kZeroTime = "0001-01-01T00:00:00Z";

std::string_view Text(const boost::json::string& text) {
  return {text.data(), text.size()};
}

Problem Malformed(std::string detail) {
  Problem problem;
  problem.code = ProblemCode::kMalformed;
  problem.detail = std::move(detail);
  return problem;
}

// A member that is there and not null.
const JsonValue* Present(const JsonObject& object, std::string_view key) {
  const JsonValue* value = object.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

// `field` is the name of the member as an answer shows it; an absent one leaves `text` as it is.
std::optional<Problem> ReadText(const JsonObject& object, std::string_view key,
                                std::string_view field, std::string& text) {
  const JsonValue* value = Present(object, key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    return FieldProblem(field, absl::StrFormat("%s must be a string", field), "format");
  }
  text = Text(value->get_string());
  return std::nullopt;
}

std::optional<Problem> ReadAdapter(const JsonObject& object, ReportRequest& report) {
  if (auto problem = ReadText(object, "adapter", "adapter", report.adapter)) {
    return problem;
  }
  if (report.adapter.empty()) {
    return FieldProblem("adapter", "adapter is required", "required");
  }
  if (report.adapter.size() > projections::kMaxAdapterName) {
    return FieldProblem("adapter",
                        absl::StrFormat("adapter is over %d bytes", projections::kMaxAdapterName),
                        "max_length");
  }
  return std::nullopt;
}

std::optional<std::int64_t> IntegerIn(const JsonValue& value) {
  if (const std::int64_t* number = value.if_int64()) {
    return *number;
  }
  if (value.is_uint64()) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return std::nullopt;
}

std::optional<Problem> ReadGeneration(const JsonObject& object, ReportRequest& report) {
  constexpr std::string_view kField = "observed_generation";
  const JsonValue* value = Present(object, kField);
  if (value == nullptr) {
    return FieldProblem(kField, "observed_generation is required", "required");
  }
  const std::optional<std::int64_t> number = IntegerIn(*value);
  if (!number) {
    return FieldProblem(kField, "observed_generation must be an integer", "format");
  }
  if (*number < 1) {
    return FieldProblem(kField, "observed_generation must be at least 1", "min");
  }
  if (*number > std::numeric_limits<std::int32_t>::max()) {
    return FieldProblem(kField, "observed_generation must be below 2^31", "max");
  }
  report.observed_generation = static_cast<std::int32_t>(*number);
  return std::nullopt;
}

std::optional<Problem> ReadTime(const JsonObject& object, std::string_view key,
                                std::optional<engine::Timestamp>& time) {
  std::string text;
  if (auto problem = ReadText(object, key, key, text)) {
    return problem;
  }
  if (text.empty() || text == kZeroTime) {
    return std::nullopt;
  }
  time = engine::ParseTimestamp(text);
  if (!time) {
    return Malformed(absl::StrFormat("%s must be a time as of RFC 3339", key));
  }
  return std::nullopt;
}

// Parts of all reports about a resource come together in one record.
std::optional<Problem> CheckSize(const std::string& field, std::string_view text,
                                 std::size_t max_bytes) {
  if (!GUARD("statuses.text", text.size() <= max_bytes)) {
    return FieldProblem(field, absl::StrFormat("%s is over %d bytes", field, max_bytes),
                        "max_length");
  }
  return std::nullopt;
}

std::optional<Problem> ReadCondition(const JsonValue& value, std::size_t index,
                                     ReportRequest& report) {
  const std::string at = absl::StrFormat("conditions[%d]", index);
  if (!value.is_object()) {
    return FieldProblem(at, "a condition must be an object", "format");
  }
  const JsonObject& object = value.get_object();
  ReportedConditionState condition;
  std::string status;
  const std::array<std::pair<const char*, std::string*>, 4> texts = {
      {{"type", &condition.type},
       {"status", &status},
       {"reason", &condition.reason},
       {"message", &condition.message}}};
  for (const auto& [key, text] : texts) {
    if (auto problem = ReadText(object, key, at + "." + key, *text)) {
      return problem;
    }
  }
  if (condition.type.empty()) {
    return FieldProblem(at + ".type", "the type of a condition is required", "required");
  }
  if (std::ranges::find(report.conditions, condition.type, &ReportedConditionState::type) !=
      report.conditions.end()) {
    return FieldProblem(at + ".type",
                        absl::StrFormat("there are two conditions '%s'", condition.type), "unique");
  }
  if (auto problem = CheckSize(at + ".reason", condition.reason, projections::kMaxReportedReason)) {
    return problem;
  }
  if (auto problem =
          CheckSize(at + ".message", condition.message, projections::kMaxReportedMessage)) {
    return problem;
  }
  condition.status = projections::FindStatus(status);
  if (condition.status == schemas::ConditionStatus::kInvalid) {
    return FieldProblem(at + ".status", "status must be True, False or Unknown", "enum");
  }
  report.conditions.push_back(std::move(condition));
  return std::nullopt;
}

std::optional<Problem> ReadConditions(const JsonObject& object, ReportRequest& report) {
  const JsonValue* value = Present(object, "conditions");
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_array()) {
    return FieldProblem("conditions", "conditions must be an array", "format");
  }
  if (value->get_array().size() > kMaxReportedConditions) {
    return FieldProblem("conditions",
                        absl::StrFormat("there are over %d conditions", kMaxReportedConditions),
                        "max");
  }
  std::size_t index = 0;
  for (const JsonValue& condition : value->get_array()) {
    if (auto problem = ReadCondition(condition, index++, report)) {
      return problem;
    }
  }
  return std::nullopt;
}

std::optional<Problem> ReadData(const JsonObject& object, ReportRequest& report) {
  const JsonValue* value = Present(object, "data");
  if (value != nullptr && !value->is_object()) {
    return FieldProblem("data", "data must be an object", "format");
  }
  report.data = value == nullptr ? "{}" : CanonicalJson(*value);
  return std::nullopt;
}

std::optional<Problem> CopyText(const JsonObject& from, std::string_view key, JsonObject& to) {
  std::string text;
  if (auto problem = ReadText(from, key, "metadata." + std::string(key), text)) {
    return problem;
  }
  if (Present(from, key) != nullptr) {
    to[key] = std::string_view(text);
  }
  return std::nullopt;
}

std::optional<Problem> CopyTime(const JsonObject& from, std::string_view key, JsonObject& to) {
  std::optional<engine::Timestamp> time;
  if (auto problem = ReadTime(from, key, time)) {
    return problem;
  }
  if (time) {
    to[key] = std::string_view(engine::FormatTimestamp(*time));
  }
  return std::nullopt;
}

std::optional<Problem> CopyAttempt(const JsonObject& from, JsonObject& to) {
  const JsonValue* value = Present(from, "attempt");
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = IntegerIn(*value);
  if (!number || *number < std::numeric_limits<std::int32_t>::min() ||
      *number > std::numeric_limits<std::int32_t>::max()) {
    return FieldProblem("metadata.attempt", "attempt must be an integer of 32 bits", "format");
  }
  to["attempt"] = *number;
  return std::nullopt;
}

// What it may have; anything else is left out.
std::optional<Problem> ReadMetadata(const JsonObject& object, ReportRequest& report) {
  const JsonValue* value = Present(object, "metadata");
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_object()) {
    return FieldProblem("metadata", "metadata must be an object", "format");
  }
  const JsonObject& from = value->get_object();
  JsonObject to;
  for (const std::string_view key : {"job_name", "job_namespace", "duration"}) {
    if (auto problem = CopyText(from, key, to)) {
      return problem;
    }
  }
  for (const std::string_view key : {"started_time", "completed_time"}) {
    if (auto problem = CopyTime(from, key, to)) {
      return problem;
    }
  }
  if (auto problem = CopyAttempt(from, to)) {
    return problem;
  }
  report.metadata = CanonicalJson(JsonValue(std::move(to)));
  return std::nullopt;
}

}  // namespace

std::variant<Problem, ReportRequest> ParseReport(std::string_view body) {
  const JsonParse parsed = ParseJson(body);
  if (!parsed.ok()) {
    Problem problem = Malformed("the body cannot be read as JSON: " + parsed.error.message);
    if (parsed.error.kind == JsonErrorKind::kNul) {
      problem.code = ProblemCode::kValidation;
    }
    return problem;
  }
  if (!parsed.value->is_object()) {
    return Malformed("the body must be a JSON object");
  }
  const JsonObject& object = parsed.value->get_object();
  ReportRequest report;
  for (const auto read : {ReadAdapter, ReadGeneration}) {
    if (auto problem = read(object, report)) {
      return *std::move(problem);
    }
  }
  if (auto problem = ReadTime(object, "observed_time", report.observed_time)) {
    return *std::move(problem);
  }
  for (const auto read : {ReadConditions, ReadData, ReadMetadata}) {
    if (auto problem = read(object, report)) {
      return *std::move(problem);
    }
  }
  return report;
}

}  // namespace api
