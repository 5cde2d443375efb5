// Connector makes connections that are ready for use: connected, told apart from a pooler's, with
// the settings of our own, statements prepared, and the schema judged anew each time, because a
// migration can have run since.

#pragma once

#include <memory>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/deadline.h"
#include "engine/postgres/address.h"
#include "engine/postgres/connection.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Thread-safe. Calls block at most until their deadline, looking up a host's name excepted.
class Connector {
 public:
  Connector(std::vector<ServerParams> servers, Pooler pooler, std::shared_ptr<Stats> stats)
      : servers_(std::move(servers)), pooler_(pooler), stats_(std::move(stats)) {}

  // Only connected, and asked whether a pooler is in between.
  absl::StatusOr<std::unique_ptr<Connection>> ConnectBare(Deadline deadline) const;

  // Ready for our statements. Fails with kFailedPrecondition when the schema does not fit.
  absl::StatusOr<std::unique_ptr<Connection>> Connect(const Statements& statements,
                                                      Deadline deadline) const;

  // As ConnectBare, again and again: an unreachable database is waited for, with a warning each
  // time. Other errors end it at once.
  absl::StatusOr<std::unique_ptr<Connection>> ConnectPatiently(const Options& options) const;

 private:
  absl::StatusOr<std::unique_ptr<Connection>> ConnectToAny(Deadline deadline) const;

  const std::vector<ServerParams> servers_;
  const Pooler pooler_;
  const std::shared_ptr<Stats> stats_;
};

}  // namespace engine::postgres
