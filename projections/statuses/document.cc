#include "projections/statuses/document.h"

#include "projections/json_object.h"
#include "projections/statuses/state.h"

namespace projections {
namespace {

void AppendCondition(const schemas::ResourceCondition& condition, std::string& out) {
  JsonObject object(out);
  object.Text("type", condition.type());
  object.Text("status", StatusName(condition.status()));
  object.OptionalText("reason", condition.reason());
  object.OptionalText("message", condition.message());
  object.Number("observed_generation", condition.observed_generation());
  object.Time("created_time", {condition.created_time()});
  object.Time("last_updated_time", {condition.last_updated_time()});
  object.Time("last_transition_time", {condition.last_transition_time()});
  object.Close();
}

void AppendCondition(const schemas::ReportedCondition& condition, std::string& out) {
  JsonObject object(out);
  object.Text("type", condition.type());
  object.Text("status", StatusName(condition.status()));
  object.OptionalText("reason", condition.reason());
  object.OptionalText("message", condition.message());
  object.Time("last_transition_time", {condition.last_transition_time()});
  object.Close();
}

template <typename Conditions>
void AppendArray(const Conditions& conditions, std::string& out) {
  out += '[';
  for (const auto* condition : conditions) {
    if (out.back() != '[') {
      out += ',';
    }
    AppendCondition(*condition, out);
  }
  out += ']';
}

}  // namespace

void AppendConditions(const schemas::ResourceStatus& status, std::string& out) {
  AppendArray(*status.conditions(), out);
}

void AppendReportDocument(const schemas::AdapterReport& report, std::string& out) {
  JsonObject object(out);
  object.Text("adapter", report.adapter());
  object.Number("observed_generation", report.observed_generation());
  AppendArray(*report.conditions(), object.Member("conditions"));
  object.Member("data") += schemas::Text(report.data());
  if (report.metadata() != nullptr) {
    object.Member("metadata") += schemas::Text(report.metadata());
  }
  object.Time("created_time", {report.created_time()});
  object.Time("last_report_time", {report.last_report_time()});
  object.Close();
}

}  // namespace projections
