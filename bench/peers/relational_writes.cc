#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "bench/peers/kinds.h"
#include "bench/peers/relational.h"
#include "engine/base/random.h"
#include "projections/statuses/aggregate.h"

namespace bench {
namespace {

using projections::ConditionState;
using projections::ConditionStates;

// Every report of the comparison says this, and of this.
constexpr char kReported[] =
    R"([{"type":"Available","status":"True","reason":"Ok","message":"all is well"},)"
    R"({"type":"Applied","status":"True","reason":"Ok","message":"all is well"},)"
    R"({"type":"Health","status":"True","reason":"Ok","message":"all is well"}])";
constexpr char kData[] = R"({"replicas":3})";

// `2026-05-28 20:26:40.5+00`.
engine::Timestamp TimeOf(std::string_view text) {
  std::string rfc(text.substr(0, text.size() - 3));
  rfc[10] = 'T';
  return engine::ParseTimestamp(rfc + "Z").value_or(engine::Timestamp{});
}

std::int32_t NumberOf(std::string_view text) {
  return static_cast<std::int32_t>(std::strtol(text.data(), nullptr, 10));
}

// Of rows of `resource_conditions`.
ConditionStates ConditionsOf(const Answer& rows) {
  ConditionStates conditions;
  for (int row = 0; row < rows.size(); ++row) {
    const auto text = [&](int column) { return std::string(rows.Text(row, column)); };
    conditions.push_back({.type = text(1),
                          .status = projections::FindStatus(text(2)),
                          .reason = text(3),
                          .message = text(4),
                          .observed_generation = NumberOf(text(5)),
                          .created_time = TimeOf(text(6)),
                          .last_updated_time = TimeOf(text(7)),
                          .last_transition_time = TimeOf(text(8))});
  }
  return conditions;
}

projections::AdapterView ViewOf(std::string_view adapter, std::int32_t generation,
                                engine::Timestamp observed) {
  return {.adapter = adapter,
          .generation = generation,
          .observed = observed,
          .available = schemas::ConditionStatus::kTrue,
          .reason = "Ok",
          .message = "all is well"};
}

// Of rows of `adapter_statuses`; they point into them.
std::vector<projections::AdapterView> ReportsOf(const Answer& rows) {
  std::vector<projections::AdapterView> reports;
  reports.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    reports.push_back(
        ViewOf(rows.Text(row, 5), NumberOf(rows.Text(row, 6)), TimeOf(rows.Text(row, 7))));
  }
  return reports;
}

const std::vector<std::string>& AdaptersOf(const std::string& kind) {
  return std::ranges::find(FleetKinds(), kind, &projections::EntityDescriptor::kind)
      ->required_adapters;
}

// All rows in one statement, as many as there are conditions.
std::string InsertOf(const std::string& id, const ConditionStates& conditions,
                     std::vector<std::string>& parameters) {
  std::string sql = "insert into resource_conditions values ";
  for (const ConditionState& condition : conditions) {
    sql += parameters.empty() ? "(" : ", (";
    for (const std::string& value :
         {id, condition.type, std::string(projections::StatusName(condition.status)),
          condition.reason, condition.message, std::to_string(condition.observed_generation),
          engine::FormatTimestamp(condition.created_time),
          engine::FormatTimestamp(condition.last_updated_time),
          engine::FormatTimestamp(condition.last_transition_time)}) {
      parameters.push_back(value);
      sql += (sql.back() == '(' ? "$" : ", $") + std::to_string(parameters.size());
    }
    sql += ")";
  }
  return sql;
}

}  // namespace

// A resource whose row is locked, in a transaction that has begun, with what belongs to it.
struct RelationalClient::Locked {
  std::string kind;
  std::string id;
  std::int32_t generation = 0;  // 0: there is none.
  engine::Timestamp updated_time;
  ConditionStates conditions;
};

RelationalClient::Locked RelationalClient::Lock(const std::string& kind, const std::string& id,
                                                const std::string& tenancy) {
  connection_.Run("begin");
  const std::string where = "select * from resources where kind = $1 and id = $2";
  const Answer rows = tenancy.empty()
                          ? connection_.Ask(where + " limit 1 for update", {kind, id})
                          : connection_.Ask(where + " and tenancy @> $3::jsonb limit 1 for update",
                                            {kind, id, tenancy});
  Locked locked;
  locked.kind = kind;
  locked.id = id;
  if (rows.size() == 0) {
    connection_.Run("rollback");
    return locked;
  }
  locked.updated_time = TimeOf(rows.Text(0, 2));
  locked.generation = NumberOf(rows.Text(0, 14));
  locked.conditions = ConditionsOf(
      connection_.Ask("select * from resource_conditions where resource_id = $1", {id}));
  connection_.Ask("select * from resource_labels where resource_id = $1", {id});
  connection_.Ask("select * from resource_references where source_id = $1", {id});
  return locked;
}

Answer RelationalClient::Reports(const Locked& locked) {
  return connection_.Ask(
      "select * from adapter_statuses where resource_type = $1 and resource_id = $2",
      {locked.kind, locked.id});
}

// The seed reads the conditions once more before it replaces them.
void RelationalClient::SaveConditions(const Locked& locked,
                                      std::vector<projections::AdapterView> reports) {
  const ConditionStates now = projections::Aggregate({.required_adapters = AdaptersOf(locked.kind),
                                                      .generation = locked.generation,
                                                      .updated_time = locked.updated_time,
                                                      .reports = std::move(reports),
                                                      .previous = locked.conditions});
  if (std::ranges::is_permutation(now, locked.conditions)) {
    return;
  }
  connection_.Ask("select * from resource_conditions where resource_id = $1", {locked.id});
  connection_.Ask("delete from resource_conditions where resource_id = $1", {locked.id});
  std::vector<std::string> parameters;
  const std::string sql = InsertOf(locked.id, now, parameters);
  connection_.Ask(sql, parameters);
}

std::int32_t RelationalClient::Patch(const std::string& kind, const std::string& id,
                                     const std::string& tenancy, const std::string& spec) {
  Locked locked = Lock(kind, id, tenancy);
  if (locked.generation == 0) {
    return 0;
  }
  ++locked.generation;
  locked.updated_time = engine::SystemClock().Now();
  connection_.Ask(
      "update resources set spec = $2::jsonb, generation = $3, updated_time = $4, updated_by = $5"
      " where id = $1",
      {id, spec, std::to_string(locked.generation), engine::FormatTimestamp(locked.updated_time),
       "system@hyperfleet.local"});
  const Answer reports = Reports(locked);
  SaveConditions(locked, ReportsOf(reports));
  connection_.Run("commit");
  return locked.generation;
}

void RelationalClient::SaveReport(const Locked& locked, const projections::AdapterView& report,
                                  bool is_first) {
  const std::string adapter(report.adapter);
  const std::string generation = std::to_string(report.generation);
  const std::string time = engine::FormatTimestamp(report.observed);
  if (is_first) {
    connection_.Ask(
        "insert into adapter_statuses values ($1, $2, $2, $3, $4, $5, $6, $2, $7::jsonb,"
        " $8::jsonb, null) on conflict do nothing",
        {engine::NewUuidV7(report.observed, engine::SystemRandom()), time, locked.kind, locked.id,
         adapter, generation, kReported, kData});
    return;
  }
  connection_.Ask(
      "update adapter_statuses set conditions = $4::jsonb, data = $5::jsonb,"
      " observed_generation = $6, last_report_time = $7"
      " where resource_type = $1 and resource_id = $2 and adapter = $3 and"
      " (observed_generation < $6 or (observed_generation = $6 and last_report_time < $7))",
      {locked.kind, locked.id, adapter, kReported, kData, generation, time});
}

bool RelationalClient::Report(const std::string& kind, const std::string& id,
                              const std::string& adapter, std::int32_t generation) {
  const Locked locked = Lock(kind, id, "");
  if (locked.generation == 0) {
    return false;
  }
  const Answer stored = Reports(locked);
  std::vector<projections::AdapterView> reports = ReportsOf(stored);
  const auto report = ViewOf(adapter, generation, engine::SystemClock().Now());
  const auto same = std::ranges::find(reports, adapter, &projections::AdapterView::adapter);
  SaveReport(locked, report, same == reports.end());
  if (same == reports.end()) {
    reports.push_back(report);
  } else {
    *same = report;
  }
  SaveConditions(locked, std::move(reports));
  connection_.Run("commit");
  return true;
}

}  // namespace bench
