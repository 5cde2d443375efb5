// One statement that no thread waits for.

#include <utility>

#include "engine/base/clock.h"
#include "engine/postgres/connection.h"

namespace engine::postgres {

absl::Status Connection::Start(const Step& step) {
  if (closed_) {
    return Lost("not usable");
  }
  warnings_.clear();
  if (!Send(step) || PQflush(raw_) != 0) {
    return Lost("sending");
  }
  started_ = &step.statement;
  started_at_ = SystemClock().SinceBoot();
  started_result_ = Result();
  return absl::OkStatus();
}

std::optional<RunOutcome> Connection::Poll() {
  if (PQconsumeInput(raw_) != 1) {
    return EndStart(Lost("no answer"));
  }
  while (PQisBusy(raw_) == 0) {
    Result next(PQgetResult(raw_));
    if (next && !started_result_) {
      started_result_ = std::move(next);
    } else if (!next) {
      return EndStart(started_result_ ? absl::StatusOr<Result>(std::move(started_result_))
                                      : absl::StatusOr<Result>(Lost("no answer")));
    }
  }
  return std::nullopt;
}

RunOutcome Connection::EndStart(absl::StatusOr<Result> result) {
  const Statement& statement = *std::exchange(started_, nullptr);
  Note(statement, started_at_);
  RunOutcome outcome;
  Take(statement, std::move(result), outcome);
  return outcome;
}

}  // namespace engine::postgres
