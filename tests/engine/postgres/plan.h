// The plan of a statement of ours, as the connection that runs it would make it.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/postgres/address.h"
#include "engine/postgres/session.h"
#include "engine/postgres/statements.h"
#include "tests/engine/postgres/fixture.h"

namespace engine::postgres {

// `first`: what runs between begin and the statement.
inline absl::StatusOr<std::string> PlanOf(const std::string& url, const Statements& statements,
                                          Pooler pooler, std::vector<Step> first,
                                          const Statement& statement, Params params) {
  ASSIGN_OR_RETURN(auto servers, ParseAddress(url, false, "plan"));
  Options options = OptionsFor(url);
  options.stats = std::make_shared<Stats>();
  const Connector connector(std::move(servers), pooler, options);
  ASSIGN_OR_RETURN(auto connection, connector.Connect(statements, Soon()));
  const Statement explain{"", "explain (costs off) " + statement.sql};
  std::vector<Step> steps = {{statements.begin, {}}};
  for (Step& step : first) {
    steps.push_back({step.statement, std::move(step.params)});
  }
  steps.push_back({explain, std::move(params)});
  const RunOutcome outcome = connection->Run(steps, Soon());
  RETURN_IF_ERROR(outcome.status);
  std::string plan;
  const Result& lines = outcome.results.back();
  for (int row = 0; row < lines.rows(); ++row) {
    plan += std::string(lines.Bytes(row, 0)) + "\n";
  }
  return plan;
}

}  // namespace engine::postgres
