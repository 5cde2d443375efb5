#include "projections/conditions/rules.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"
#include "projections/cel/evaluator.h"
#include "projections/cel/json.h"
#include "projections/cel/parser.h"
#include "projections/conditions/redaction.h"
#include "projections/statuses/state.h"
#include "schemas/codec.h"

namespace projections {
namespace {

using cel::Value;

Value Text(std::string_view text) {
  return Value(std::string(text));
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

absl::Status About(std::string_view condition, std::string_view part, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrFormat("condition %s: %s: %s", condition, part, MessageOf(status)));
}

absl::Status WrongResult(std::string_view condition, std::string_view part,
                         std::string_view wanted) {
  return About(condition, part,
               absl::InvalidArgumentError(absl::StrFormat("the result must be %s", wanted)));
}

bool IsKnown(const schemas::AdapterReport& report) {
  return std::ranges::none_of(*report.conditions(), [](const schemas::ReportedCondition* one) {
    return one->status() == schemas::ConditionStatus::kUnknown;
  });
}

Value ConditionValue(const schemas::ReportedCondition& condition) {
  return Value(Value::Map{{"type", Text(schemas::Text(condition.type()))},
                          {"status", Text(StatusName(condition.status()))},
                          {"reason", Text(schemas::Text(condition.reason()))},
                          {"message", Text(schemas::Text(condition.message()))}});
}

absl::StatusOr<Value> ReportValue(const schemas::AdapterReport& report) {
  Value::List conditions;
  for (const schemas::ReportedCondition* condition : *report.conditions()) {
    conditions.push_back(ConditionValue(*condition));
  }
  const std::string_view json = schemas::Text(report.data());
  ASSIGN_OR_RETURN(const Value data, cel::ValueOfJson(json.empty() ? "{}" : json));
  return Value(
      Value::Map{{"adapter", Text(schemas::Text(report.adapter()))},
                 {"observed_generation", Value(static_cast<double>(report.observed_generation()))},
                 {"conditions", Value(std::move(conditions))},
                 {"data", Redacted(data)}});
}

// True or False, however it is written.
std::optional<bool> TruthOf(const Value& value) {
  if (value.kind() == Value::Kind::kBool) {
    return value.boolean();
  }
  if (value.kind() != Value::Kind::kText) {
    return std::nullopt;
  }
  std::string lower = value.text();
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower == "true"    ? std::optional(true)
         : lower == "false" ? std::optional(false)
                            : std::nullopt;
}

}  // namespace

struct ConditionRules::Rule {
  std::string type;
  cel::Expression when;
  cel::Expression status;
  std::optional<cel::Expression> reason;
  std::optional<cel::Expression> message;

  static absl::StatusOr<cel::Expression> Compiled(std::string_view type, std::string_view part,
                                                  std::string_view source) {
    auto expression = cel::Parse(source, {"statuses", "resource"});
    return expression.ok() ? std::move(expression) : About(type, part, expression.status());
  }

  static absl::StatusOr<Rule> Of(const ConditionRule& source) {
    Rule rule;
    rule.type = source.type;
    ASSIGN_OR_RETURN(rule.when, Compiled(source.type, "when", source.when_expression));
    ASSIGN_OR_RETURN(rule.status, Compiled(source.type, "status", source.status_expression));
    if (!source.reason_expression.empty()) {
      ASSIGN_OR_RETURN(rule.reason, Compiled(source.type, "reason", source.reason_expression));
    }
    if (!source.message_expression.empty()) {
      ASSIGN_OR_RETURN(rule.message, Compiled(source.type, "message", source.message_expression));
    }
    return rule;
  }

  absl::StatusOr<Value> Run(const cel::Expression& expression, std::string_view part,
                            const std::vector<Value>& variables) const {
    auto value = cel::Evaluate(expression, variables);
    return value.ok() ? value : About(type, part, value.status());
  }

  // Empty where there is no such expression.
  absl::StatusOr<std::string> RunText(const std::optional<cel::Expression>& expression,
                                      std::string_view part,
                                      const std::vector<Value>& variables) const {
    if (!expression) {
      return std::string();
    }
    ASSIGN_OR_RETURN(const Value value, Run(*expression, part, variables));
    if (value.kind() != Value::Kind::kText) {
      return WrongResult(type, part, "a string");
    }
    return value.text();
  }

  // Empty: the rule does not apply, or its reason is too long to be one.
  absl::StatusOr<std::optional<MappedCondition>> Map(const std::vector<Value>& variables) const {
    ASSIGN_OR_RETURN(const Value applies, Run(when, "when", variables));
    if (applies.kind() != Value::Kind::kBool) {
      return WrongResult(type, "when", "a bool");
    }
    if (!applies.boolean()) {
      return std::optional<MappedCondition>();
    }
    ASSIGN_OR_RETURN(const Value truth, Run(status, "status", variables));
    const std::optional<bool> is_true = TruthOf(truth);
    if (!is_true) {
      return WrongResult(type, "status", "True or False");
    }
    MappedCondition mapped;
    mapped.type = type;
    mapped.status = *is_true ? schemas::ConditionStatus::kTrue : schemas::ConditionStatus::kFalse;
    ASSIGN_OR_RETURN(mapped.reason, RunText(reason, "reason", variables));
    ASSIGN_OR_RETURN(const std::string text, RunText(message, "message", variables));
    mapped.message = CutText(text, kMaxConditionMessage);
    return mapped.reason.size() > kMaxConditionReason ? std::nullopt
                                                      : std::optional(std::move(mapped));
  }
};

absl::StatusOr<ConditionRules> ConditionRules::Compile(std::span<const ConditionRule> rules) {
  ConditionRules made;
  if (rules.empty()) {
    return made;
  }
  std::vector<Rule> compiled;
  for (const ConditionRule& source : rules) {
    ASSIGN_OR_RETURN(compiled.emplace_back(), Rule::Of(source));
  }
  std::ranges::sort(compiled, {}, &Rule::type);
  made.rules_ = std::make_shared<const std::vector<Rule>>(std::move(compiled));
  return made;
}

absl::StatusOr<std::vector<MappedCondition>> ConditionRules::Run(
    std::string_view resource, std::span<const schemas::AdapterReport* const> reports) const {
  std::vector<MappedCondition> conditions;
  if (empty()) {
    return conditions;
  }
  std::vector<const schemas::AdapterReport*> ordered(reports.begin(), reports.end());
  std::ranges::sort(ordered, {}, [](const schemas::AdapterReport* report) {
    return schemas::Text(report->adapter());
  });
  Value::List statuses;
  for (const schemas::AdapterReport* report : ordered) {
    if (IsKnown(*report)) {
      ASSIGN_OR_RETURN(statuses.emplace_back(), ReportValue(*report));
    }
  }
  ASSIGN_OR_RETURN(const Value document, cel::ValueOfJson(resource));
  const std::vector<Value> variables = {Value(std::move(statuses)), Redacted(document)};
  for (const Rule& rule : *rules_) {
    ASSIGN_OR_RETURN(std::optional<MappedCondition> mapped, rule.Map(variables));
    if (mapped) {
      conditions.push_back(*std::move(mapped));
    }
  }
  return conditions;
}

}  // namespace projections
