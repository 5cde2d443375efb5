// Connector makes connections that are ready for use: connected, told apart from a pooler's, with
// the settings of our own, statements prepared. Server and schema are judged anew each time,
// because a migration, a failover or an administrator can have been there since.

#pragma once

#include <memory>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/deadline.h"
#include "engine/postgres/address.h"
#include "engine/postgres/connection.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Blocks for `time`.
void Pause(Duration time);

// Thread-safe. Calls block at most until their deadline, looking up a host's name excepted.
class Connector {
 public:
  // Of `options`: how its sessions are to be, and where they are counted. REQUIRES: options.stats.
  Connector(std::vector<ServerParams> servers, Pooler pooler, const Options& options)
      : servers_(std::move(servers)),
        pooler_(pooler),
        request_timeout_(options.request_timeout),
        require_synchronous_(options.require_synchronous),
        stats_(options.stats) {}

  // Only connected, and asked who is there: fails with kFailedPrecondition as CheckFacts does.
  absl::StatusOr<std::unique_ptr<Connection>> ConnectBare(Deadline deadline) const;

  // Ready for our statements. Fails with kFailedPrecondition also when the schema does not fit.
  absl::StatusOr<std::unique_ptr<Connection>> Connect(const Statements& statements,
                                                      Deadline deadline) const;

  // As ConnectBare, again and again: an unreachable database is waited for, with a warning each
  // time. Other errors end it at once.
  absl::StatusOr<std::unique_ptr<Connection>> ConnectPatiently(const Options& options) const;

 private:
  absl::StatusOr<std::unique_ptr<Connection>> ConnectToAny(Deadline deadline) const;

  const std::vector<ServerParams> servers_;
  const Pooler pooler_;
  const Duration request_timeout_;
  const bool require_synchronous_;
  const std::shared_ptr<Stats> stats_;
};

}  // namespace engine::postgres
