#include "engine/postgres/presence.h"

#include <chrono>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/postgres/rows.h"
#include "engine/postgres/write.h"

namespace engine::postgres {
namespace {

// Nobody else writes our row; whoever sweeps it at this moment is done at once.
constexpr Duration kLockTimeout = std::chrono::seconds(1);
// What goes before the steps of a transaction here: who answers, and its epoch.
constexpr std::size_t kLifeSteps = 3;

// $1 replica, $2 feature level, $3..$6 streams, positions, fold versions, state digests.
const Statement kBeatSql{
    "",
    "insert into halo_heartbeat as h (replica, at, server_start, feature_level, streams,"
    " positions, fold_versions, state_digests)"
    " values ($1::text, pg_catalog.clock_timestamp(), pg_catalog.pg_postmaster_start_time(),"
    " $2::int4, $3::int4[], $4::int8[], $5::int4[], $6::int8[])"
    " on conflict (replica) do update set at = excluded.at, server_start = excluded.server_start,"
    " feature_level = excluded.feature_level, streams = excluded.streams,"
    " positions = excluded.positions, fold_versions = excluded.fold_versions,"
    " state_digests = excluded.state_digests"};

// A row that somebody else removes or writes at this moment is left to them. A time that lies
// ahead is from a server whose clock was ahead of this one's.
const Statement kSweepSql{
    "",
    "delete from halo_heartbeat where replica in (select d.replica from halo_heartbeat d"
    " where d.at not between pg_catalog.clock_timestamp() - '1 minute'::interval"
    " and pg_catalog.clock_timestamp() + '1 minute'::interval for update skip locked)"};

// One row a replica and stream; a replica that has folded none has one without.
const Statement kReadSql{
    "",
    "select h.replica, h.at, h.feature_level, pg_catalog.clock_timestamp(),"
    " s.stream, s.position, s.fold_version, s.state_digest"
    " from halo_heartbeat h left join lateral rows from (unnest(h.streams), unnest(h.positions),"
    " unnest(h.fold_versions), unnest(h.state_digests))"
    " as s(stream, position, fold_version, state_digest) on true"
    " where h.at >= pg_catalog.clock_timestamp() - '1 minute'::interval order by h.replica"};

Params BeatParams(const Replica& self) {
  const std::size_t size = self.streams.size();
  ArrayParam streams(kInt4Oid, size), positions(kInt8Oid, size), folds(kInt4Oid, size),
      digests(kInt8Oid, size);
  for (const FoldedStream& stream : self.streams) {
    streams.AddInt32(static_cast<std::int32_t>(stream.stream));
    positions.AddInt64(static_cast<std::int64_t>(Raw(stream.position)));
    folds.AddInt32(static_cast<std::int32_t>(stream.fold_version));
    digests.AddInt64(static_cast<std::int64_t>(stream.state_digest));
  }
  Params params;
  params.Text(self.name).Int32(static_cast<std::int32_t>(self.feature_level));
  params.Array(std::move(streams)).Array(std::move(positions)).Array(std::move(folds));
  params.Array(std::move(digests));
  return params;
}

std::vector<Replica> ReplicasOf(const Result& rows, Timestamp& now) {
  std::vector<Replica> replicas;
  for (int row = 0; row < rows.rows(); ++row) {
    const std::string name(rows.Bytes(row, 0));
    if (replicas.empty() || replicas.back().name != name) {
      replicas.push_back(
          {name, rows.Time(row, 1), static_cast<std::uint32_t>(rows.Int32(row, 2)), {}});
    }
    now = rows.Time(row, 3);
    if (!rows.IsNull(row, 4)) {
      replicas.back().streams.push_back({StreamId{static_cast<std::uint32_t>(rows.Int32(row, 4))},
                                         Position{static_cast<std::uint64_t>(rows.Int64(row, 5))},
                                         static_cast<std::uint32_t>(rows.Int32(row, 6)),
                                         static_cast<std::uint64_t>(rows.Int64(row, 7))});
    }
  }
  return replicas;
}

}  // namespace

absl::StatusOr<std::vector<Result>> PostgresPresence::Write(std::vector<Step> steps,
                                                            Deadline deadline, Life& life) {
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kLease, deadline));
  std::vector<Step> all = {
      {statements_.ping, {}}, {statements_.note_epoch, {}}, {statements_.epoch, {}}};
  for (Step& step : steps) {
    all.push_back({step.statement, std::move(step.params)});
  }
  ASSIGN_OR_RETURN(std::vector<Result> results,
                   WriteOn(*lease, statements_, std::move(all), kLockTimeout, deadline));
  const absl::StatusOr<Origin> origin = OriginOf(results[0], 0);
  absl::Status status = origin.ok() ? lives_.Judge(*origin) : origin.status();
  if (status.ok() && results[2].rows() != 1) {
    status = absl::UnavailableError("the life of the database has no epoch");
  }
  if (!status.ok()) {
    lease->Close();
    return status;
  }
  life = {*origin, static_cast<std::uint64_t>(results[2].Int64(0, 0))};
  results.erase(results.begin(), results.begin() + kLifeSteps);
  return results;
}

absl::StatusOr<Life> PostgresPresence::NoteLife(Deadline deadline) {
  Life life;
  RETURN_IF_ERROR(Write({}, deadline, life).status());
  return life;
}

absl::StatusOr<Pulse> PostgresPresence::Beat(const Replica& self, Deadline deadline) {
  std::vector<Step> steps;
  steps.push_back({kBeatSql, BeatParams(self)});
  steps.push_back({kSweepSql, {}});
  steps.push_back({kReadSql, {}});
  Pulse pulse;
  ASSIGN_OR_RETURN(const std::vector<Result> results,
                   Write(std::move(steps), deadline, pulse.life));
  pulse.replicas = ReplicasOf(results[2], pulse.now);
  return pulse;
}

}  // namespace engine::postgres
