#include "engine/postgres/append_probe.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/write.h"

namespace engine::postgres {
namespace {

// With the time between two looks: shown within what /readyz promises.
constexpr Duration kPatience = std::chrono::milliseconds(1500);
// Longer than the DDL of a migration keeps the table at a time.
constexpr Duration kTableLockTimeout = std::chrono::milliseconds(500);
constexpr Duration kInterval = std::chrono::milliseconds(400);

// Inserts nothing, but needs the same right and the same lock of the table as if it did. It begins
// with a comment because it is no append: metrics do not count it as one.
const Statement kTrySql{"",
                        "/* try */ insert into halo_journal"
                        " select j.* from halo_journal j where false"};

// Who holds the lock that an append takes, and whether that one waits for a synchronous standby: a
// commit keeps the lock until it is acknowledged. One transaction has one number.
const Statement kHolderSql{
    "",
    "select coalesce(pg_catalog.string_agg(l.pid || '/' || l.virtualtransaction, ' '"
    "  order by l.pid), ''), coalesce(pg_catalog.bool_or(a.wait_event = 'SyncRep'), false)"
    " from pg_catalog.pg_locks l"
    " left join lateral pg_catalog.pg_stat_get_activity(l.pid) a on true where l.locktype = "
    "'advisory' and l.granted"
    " and l.database = (select d.oid from pg_catalog.pg_database d"
    "  where d.datname = pg_catalog.current_database())"
    " and l.classid = 'halo_journal'::pg_catalog.regclass::pg_catalog.oid"
    " and l.objid = 0 and l.objsubid = 2"};

}  // namespace

absl::Status LockWatch::Saw(const std::string& holder) {
  const Duration now = clock_.SinceBoot();
  MutexLock lock(mutex_);
  if (holder.empty() || holder != holder_) {
    holder_ = holder;
    since_ = now;
    return absl::OkStatus();
  }
  if (!GUARD("postgres.ready-lock", now - since_ <= patience_)) {
    return WithReason(
        Reason::kLockBusy,
        absl::UnavailableError(absl::StrFormat(
            "one transaction (%s) keeps the journal's lock for"
            " longer than %d ms",
            holder, std::chrono::duration_cast<std::chrono::milliseconds>(patience_).count())));
  }
  return absl::OkStatus();
}

AppendProbe::AppendProbe() : watch_(kPatience) {}

absl::Status AppendProbe::Check(Connection& connection, const Statements& statements,
                                Deadline deadline) {
  const Duration now = SystemClock().SinceBoot();
  {
    MutexLock lock(mutex_);
    if (well_at_.has_value() && now - *well_at_ < kInterval) {
      return absl::OkStatus();
    }
    well_at_.reset();
  }
  std::vector<Step> steps;
  steps.push_back({kTrySql, {}});
  steps.push_back({kHolderSql, {}});
  const absl::StatusOr<std::vector<Result>> results =
      WriteOn(connection, statements, std::move(steps), kTableLockTimeout, deadline);
  if (!GUARD("postgres.ready-append", results.ok())) {
    return results.status();
  }
  const std::string holder(results.ok() ? results->at(1).Bytes(0, 0) : "");
  if (absl::Status stuck = watch_.Saw(holder); !stuck.ok()) {
    return results->at(1).Bool(0, 1) ? WithReason(Reason::kStandbyAway, std::move(stuck)) : stuck;
  }
  if (holder.empty()) {
    MutexLock lock(mutex_);
    well_at_ = now;
  }
  return absl::OkStatus();
}

}  // namespace engine::postgres
