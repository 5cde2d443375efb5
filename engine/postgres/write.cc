#include "engine/postgres/write.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/nested_limits.h"
#include "engine/postgres/server_facts.h"

namespace engine::postgres {
namespace {

// How long the end of a failed transaction may take before its connection is closed instead.
constexpr Duration kRollBackTime = std::chrono::seconds(1);
constexpr std::size_t kStepsBefore = 2;

void RollBack(Connection& connection, const Statements& statements) {
  if (!connection.broken() &&
      !connection.Run({{statements.rollback, {}}}, Deadline::After(kRollBackTime)).status.ok()) {
    connection.Close();
  }
}

absl::Status CheckCommit(Connection& connection, const Result& commit) {
  if (commit.tag() != "COMMIT") {
    return absl::AbortedError(
        absl::StrFormat("the database answered COMMIT with %s", std::string(commit.tag())));
  }
  // Waiting for a synchronous standby was cut short: a failover may take it back.
  if (!GUARD("postgres.write-sync-warning", commit.warnings().empty())) {
    connection.Close();
    return absl::UnavailableError("it is not known whether the change will last: " +
                                  commit.warnings().front());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Result>> WriteOn(Connection& connection, const Statements& statements,
                                            std::vector<Step> steps, Duration lock_timeout,
                                            Deadline deadline) {
  const Limits limits = LimitsFor(deadline);
  const std::int64_t lock_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(lock_timeout).count();
  Params settings;
  settings.Text(std::to_string(std::clamp<std::int64_t>(lock_ms, 1, limits.lock_ms)))
      .Text(limits.StatementText())
      .Text(statements.schema_path);
  std::vector<Step> all = {{statements.begin, {}}, {statements.settings, std::move(settings)}};
  for (Step& step : steps) {
    all.push_back({step.statement, std::move(step.params)});
  }
  all.push_back({statements.commit, {}});
  RunOutcome outcome = connection.Run(all, deadline);
  if (!outcome.status.ok()) {
    RollBack(connection, statements);
    return outcome.status;
  }
  RETURN_IF_ERROR(CheckStillSynchronous(connection, outcome.results[1]));
  if (absl::Status status = CheckCommit(connection, outcome.results.back()); !status.ok()) {
    return status;
  }
  outcome.results.pop_back();
  outcome.results.erase(outcome.results.begin(), outcome.results.begin() + kStepsBefore);
  return std::move(outcome.results);
}

}  // namespace engine::postgres
