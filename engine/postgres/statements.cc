#include "engine/postgres/statements.h"

#include <string_view>

#include "engine/base/guard.h"

namespace engine::postgres {
namespace {

// Sets planner and session settings; `true` in the place of @LOCAL@ ends them with the
// transaction.
//
// With these only walks of the primary key are left to choose from, whatever the statistics say:
// on a small, freshly analysed table a sequential scan would look cheaper, and a moment later the
// table is large. Plans with parameters are made once: planning would cost more than running.
//
// A policy that hides rows from us is an error, not an empty journal.
constexpr std::string_view kPinsSql =
    "pg_catalog.set_config('enable_indexscan', 'on', @LOCAL@),"
    "pg_catalog.set_config('enable_nestloop', 'on', @LOCAL@),"
    "pg_catalog.set_config('enable_seqscan', 'off', @LOCAL@),"
    "pg_catalog.set_config('enable_bitmapscan', 'off', @LOCAL@),"
    "pg_catalog.set_config('enable_sort', 'off', @LOCAL@),"
    "pg_catalog.set_config('plan_cache_mode', 'force_generic_plan', @LOCAL@),"
    "pg_catalog.set_config('jit', 'off', @LOCAL@),"
    "pg_catalog.set_config('row_security', 'off', @LOCAL@),"
    "pg_catalog.set_config('client_min_messages', 'warning', @LOCAL@)";

// A dead client's statement ends soon instead of when it has finished. Timeouts of the role or
// the database are not meant for us; ours are set where they belong.
constexpr std::string_view kSessionSql =
    "select pg_catalog.set_config('search_path', $1, false),"
    "pg_catalog.set_config('client_connection_check_interval', '500ms', false),"
    "pg_catalog.set_config('lock_timeout', $2, false),"
    "pg_catalog.set_config('statement_timeout', $3, false),"
    "pg_catalog.set_config('idle_session_timeout', '0', false), @PINS@";

// The isolation is stated, because a database can have another default and a snapshot taken
// before the lock would make us number our rows from old ones.
constexpr std::string_view kBeginSql = "begin isolation level read committed read write";
constexpr std::string_view kBeginReadSql = "begin isolation level read committed read only";
constexpr std::string_view kScanBeginSql = "begin isolation level repeatable read read only";

constexpr std::string_view kTransactionPinsSql =
    "select pg_catalog.set_config('search_path', $1, true),"
    "pg_catalog.set_config('lock_timeout', $2, true),"
    "pg_catalog.set_config('statement_timeout', $3, true), @PINS@";

// A holder that stopped loses its session after five seconds, so that it cannot keep everybody out.
// The first column is for CheckStillSynchronous.
constexpr std::string_view kSettingsSql =
    "select pg_catalog.current_setting('synchronous_standby_names'),"
    "pg_catalog.set_config('lock_timeout', $1, true),"
    "pg_catalog.set_config('statement_timeout', $2, true),"
    "pg_catalog.set_config('search_path', $3, true),"
    "pg_catalog.set_config('idle_in_transaction_session_timeout', '5s', true),"
    "pg_catalog.set_config('synchronous_commit',"
    " case pg_catalog.current_setting('synchronous_commit')"
    " when 'remote_apply' then 'remote_apply' else 'on' end, true), @PINS@";

// In a statement of its own: one that reads as well would have its snapshot from before the wait.
constexpr std::string_view kLockSql =
    "select pg_catalog.int8(o.id), pg_catalog.pg_advisory_xact_lock(o.id::int4, 0)"
    " from (select '@JOURNAL@'::pg_catalog.regclass::pg_catalog.oid as id) o";

// What is left of the time, less the wait for the lock, and never more than ten seconds.
constexpr std::string_view kLockedSql =
    "select pg_catalog.set_config('statement_timeout', least(10000, greatest(1, $1::int8"
    " - (extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.transaction_timestamp())"
    " * 1000)::int8))::text, true)";

// One row without a stream when there is no news. A stream's rows end with the first one that
// does not fit its share of bytes, so that the reader knows that it was cut. A stream that was
// compacted past the position gives one row without a position instead: the floor is judged by the
// snapshot that reads the rows.
constexpr std::string_view kNewsSql =
    "select o.*, n.* from"
    " (select pg_catalog.pg_postmaster_start_time(),"
    "  pg_catalog.to_regclass('@JOURNAL@')::pg_catalog.oid,"
    "  pg_catalog.pg_is_in_recovery()) o"
    " left join lateral"
    " (select c.stream_id, r.position, r.tx, r.key, r.previous, r.flags, r.at, r.checksum,"
    "  r.digest, r.record"
    "  from unnest($1::int4[], $2::int8[]) c(stream_id, position),"
    "  lateral (select @GONE@ as gone from @SCHEMA@.halo_streams s"
    "   where s.stream_id = c.stream_id) f,"
    "  lateral (select w.position, w.tx, w.key, w.previous, w.flags, w.at, w.checksum, w.digest,"
    "    w.record from"
    "   (select j.*, pg_catalog.sum(pg_catalog.octet_length(j.record) + 128)"
    "     over (order by j.position rows between unbounded preceding and 1 preceding) as bytes"
    "    from (select * from @JOURNAL@ j where j.stream_id = c.stream_id"
    "     and j.position > c.position and not f.gone"
    "     order by j.position limit $3::int8) j) w"
    "   where w.bytes is null or w.bytes <= $4::int8"
    "   union all select null, null, null, null, null, null, null, null, null where f.gone"
    "  ) r) n on true";

// Most flights bring nothing. No floor is asked for: its own row remains, and is above every
// position that is below the floor. (A limit in a lateral query keeps to the index.)
constexpr std::string_view kAnyNewsSql =
    "select pg_catalog.pg_postmaster_start_time(),"
    " pg_catalog.to_regclass('@JOURNAL@')::pg_catalog.oid, pg_catalog.pg_is_in_recovery(),"
    " exists(select from unnest($1::int4[], $2::int8[]) c(stream_id, position),"
    "  lateral (select from @JOURNAL@ j where j.stream_id = c.stream_id"
    "   and j.position > c.position limit 1) n)";

constexpr std::string_view kTailsSql =
    "select s.stream_id, s.floor, s.floor_digest, s.floor_rows, s.floor_sum, t.position, t.tx, "
    "t.at, t.digest,"
    " case when s.stream_id = any($1::int4[]) then t.record end,"
    " pg_catalog.clock_timestamp(), pg_catalog.pg_postmaster_start_time(),"
    " pg_catalog.to_regclass('@JOURNAL@')::pg_catalog.oid, pg_catalog.pg_is_in_recovery()"
    " from @SCHEMA@.halo_streams s left join lateral"
    " (select j.position, j.tx, j.at, j.digest, j.record from @JOURNAL@ j"
    "  where j.stream_id = s.stream_id order by j.position desc limit 1) t on true"
    " order by s.stream_id";

// Fails, and with it the transaction, when fewer rows went in than were sent: a trigger, a rule
// or a policy can drop one without a word; and when it is too late: the statement can have been
// held up on its way for longer than its client waits. (Division by zero is the only error that
// plain SQL can raise.)
constexpr std::string_view kInsertSql =
    "with inserted as (insert into @JOURNAL@"
    " (stream_id, position, tx, key, previous, flags, at, checksum, digest, record)"
    " select * from unnest($1::int4[], $2::int8[], $3::int8[], $4::bytea[], $5::int8[],"
    " $6::int2[], $7::timestamptz[], $8::int8[], $9::int8[], $10::bytea[]) returning 1)"
    " select 1 / (count(*) >= $11::int8 and pg_catalog.clock_timestamp() <= $12::timestamptz)::int4"
    " from inserted";

constexpr std::string_view kAnswersSql =
    "select a.key, a.request, a.answer, a.tx, a.at from @SCHEMA@.halo_idempotency a"
    " where a.key = any($1::bytea[])";

// As kInsertSql: none may vanish on the way.
constexpr std::string_view kKeepSql =
    "with inserted as (insert into @SCHEMA@.halo_idempotency (key, request, answer, tx, at)"
    " select * from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::int8[], $5::timestamptz[])"
    " returning 1)"
    " select 1 / (count(*) >= $6::int8)::int4 from inserted";

constexpr std::string_view kPruneSql =
    "with old as (select a.key from @SCHEMA@.halo_idempotency a"
    " where a.at < pg_catalog.clock_timestamp() - $1::int8 * interval '1 microsecond'"
    " order by a.at limit $2::int8),"
    " pruned as (delete from @SCHEMA@.halo_idempotency a using old where a.key = old.key"
    " returning 1)"
    " select count(*) from pruned";

// Two compactors take turns here; writers, which only read the row, do not wait.
constexpr std::string_view kLockFloorSql =
    "select s.floor, s.floor_digest, s.floor_rows, s.floor_sum,"
    " (select j.position from @JOURNAL@ j where j.stream_id = s.stream_id"
    "  order by j.position desc limit 1)"
    " from @SCHEMA@.halo_streams s where s.stream_id = $1::int4 for no key update of s";

constexpr std::string_view kRemoveSql =
    "delete from @JOURNAL@ j using unnest($2::int8[], $3::bytea[]) d(position, key)"
    " where j.stream_id = $1::int4 and j.position = d.position and j.key = d.key"
    " returning j.checksum";

constexpr std::string_view kRaiseFloorSql =
    "update @SCHEMA@.halo_streams set floor = $2::int8, floor_digest = $3::int8,"
    " floor_rows = $4::int8, floor_sum = $5::int8 where stream_id = $1::int4";

constexpr std::string_view kAppliedSql =
    "select version, name, min_binary_schema from @SCHEMA@.halo_schema_migrations"
    " order by version";

constexpr std::string_view kPingSql =
    "select pg_catalog.pg_postmaster_start_time(),"
    " pg_catalog.to_regclass('@JOURNAL@')::pg_catalog.oid, pg_catalog.pg_is_in_recovery()";

// The life of the server that answers: this cluster, on this history of its log, since this start.
// (The control file shows a new timeline only after the next checkpoint.)
constexpr std::string_view kLifeSql =
    "(select c.system_identifier,"
    " ('x' || pg_catalog.substr(pg_catalog.pg_walfile_name("
    "pg_catalog.pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int4 as timeline,"
    " pg_catalog.pg_postmaster_start_time() as server_start"
    " from pg_catalog.pg_control_system() c)";

// A new life gets a greater epoch than all before it. Those that were lost with a failover or a
// restore cannot be seen; they are passed all the same, because an epoch is not less than the
// time in seconds since 2024.
constexpr std::string_view kNoteEpochSql =
    "insert into @SCHEMA@.halo_epoch (epoch, system_identifier, timeline, server_start)"
    " select greatest((select coalesce(max(h.epoch), 0) from @SCHEMA@.halo_epoch h) + 1,"
    "  @SECONDS@), l.system_identifier, l.timeline, l.server_start from @LIFE@ l"
    " where not exists (select 1 from @SCHEMA@.halo_epoch h"
    "  where (h.system_identifier, h.timeline, h.server_start)"
    "  = (l.system_identifier, l.timeline, l.server_start))"
    " on conflict do nothing";

constexpr std::string_view kEpochSql =
    "select h.epoch from @SCHEMA@.halo_epoch h join @LIFE@ l"
    " using (system_identifier, timeline, server_start)";

// Both as NextToken (engine/lease.h) says. Whoever has the row locked is waited for before the
// row is judged.
constexpr std::string_view kLeaseAcquireSql =
    "insert into @SCHEMA@.halo_leases as l (name, holder, token, expires_at)"
    " select $1::text, $2::bytea, (e.epoch << 32)"
    "  + least(greatest(@SECONDS@, 1), 4294967295), @NOW@ + @TTL@ from (@EPOCH@) e"
    " on conflict (name) do update set holder = excluded.holder, expires_at = @NOW@ + @TTL@,"
    " token = case when @LIVE@ and l.holder = excluded.holder then l.token"
    "  else greatest(l.token + 1, excluded.token) end"
    " where l.holder = excluded.holder or not (@LIVE@)"
    " returning l.token";
constexpr std::string_view kLeaseLiveSql = "l.expires_at > @NOW@ and l.expires_at <= @NOW@ + @TTL@";

constexpr std::string_view kLeaseRenewSql =
    "update @SCHEMA@.halo_leases l set expires_at = @NOW@ + $4::int8 * '1 microsecond'::interval"
    " where l.name = $1::text and l.holder = $2::bytea and l.token = $3::int8"
    " and l.expires_at > @NOW@ returning l.token";
constexpr std::string_view kLeaseReleaseSql =
    "update @SCHEMA@.halo_leases l set expires_at = @NOW@"
    " where l.name = $1::text and l.holder = $2::bytea and l.token = $3::int8"
    " and l.expires_at > @NOW@";
constexpr std::string_view kLeaseReadSql =
    "select l.token, l.expires_at, @NOW@ from (select 1) o"
    " left join @SCHEMA@.halo_leases l on l.name = $1::text";

// Not a share lock: overlapping ones would keep a renewal waiting for as long as there are any. A
// weaker one would not keep a takeover out.
constexpr std::string_view kFenceLockSql =
    "select l.name from @SCHEMA@.halo_leases l where l.name = any($1::text[])"
    " order by l.name for no key update";
constexpr std::string_view kFenceJudgeSql =
    "select f.ordinal, l.name is not null, l.holder = f.holder and l.token = f.token,"
    " l.expires_at > @NOW@"
    " from unnest($1::text[], $2::bytea[], $3::int8[])"
    "  with ordinality f(name, holder, token, ordinal)"
    " left join @SCHEMA@.halo_leases l on l.name = f.name";

// Rows that have expired do not exist, whatever is judged. On the way to a row that is there an
// insert locks it before it is looked at; what only deletes locks it first (`kv_lock`).
constexpr std::string_view kKvLiveSql = "(k.expires_at is null or k.expires_at > @NOW@)";
constexpr std::string_view kKvTtlSql = "nullif($3::int8, 0) * '1 microsecond'::interval";
constexpr std::string_view kKvLockSql =
    "select 1 from @SCHEMA@.halo_kv k where k.key = $1::bytea for update";
constexpr std::string_view kKvPutSql =
    "insert into @SCHEMA@.halo_kv as k (key, value, expires_at)"
    " values ($1::bytea, $2::bytea, @NOW@ + @TTL@)"
    " on conflict (key) do update set value = excluded.value, number = 0,"
    " expires_at = @NOW@ + @TTL@";
constexpr std::string_view kKvAddSql = " where not @LIVE@ returning 1";
constexpr std::string_view kKvGetSql =
    "select pg_catalog.pg_is_in_recovery(), k.value, k.number from (select 1) o"
    " left join @SCHEMA@.halo_kv k on k.key = $1::bytea and @LIVE@";
constexpr std::string_view kKvTakeSql =
    "delete from @SCHEMA@.halo_kv k where k.key = $1::bytea and @LIVE@"
    " returning k.value, k.number";
constexpr std::string_view kKvDeleteSql = "delete from @SCHEMA@.halo_kv k where k.key = $1::bytea";
constexpr std::string_view kKvUnlockSql =
    "delete from @SCHEMA@.halo_kv k where k.key = $1::bytea and k.value = $2::bytea"
    " returning @LIVE@";
constexpr std::string_view kKvRaiseSql =
    "insert into @SCHEMA@.halo_kv as k (key, value, number, expires_at)"
    " values ($1::bytea, '', $2::int8, @NOW@ + @TTL@)"
    " on conflict (key) do update set value = '',"
    " number = case when @LIVE@ then greatest(k.number, excluded.number)"
    "  else excluded.number end,"
    " expires_at = case when not @LIVE@ then @NOW@ + @TTL@"
    "  when k.expires_at is null or excluded.expires_at is null then null"
    "  else greatest(k.expires_at, @NOW@ + @TTL@) end"
    " returning k.number";

// The value holds the times of the events that count, 8 bytes each, oldest first, in an encoding
// that sorts as the times do. A time that lies ahead (the clock was set back) becomes the present.
constexpr std::string_view kKvEventsSql =
    "(select coalesce(pg_catalog.string_agg(least(e.at, n.now), ''::bytea order by e.i), '')"
    " from (select pg_catalog.int8send(m.micros) as now,"
    "  pg_catalog.int8send(m.micros - $2::int8) as from_then_on"
    "  from (select @MICROS@ as micros) m) n,"
    " lateral (select i, pg_catalog.substr(k.value, i * 8 + 1, 8) as at"
    "  from pg_catalog.generate_series(0, pg_catalog.octet_length(k.value) / 8 - 1) i) e"
    " where e.at > n.from_then_on)";
constexpr std::string_view kKvMicrosSql = "(extract(epoch from @NOW@) * 1000000)::int8";
constexpr std::string_view kKvCountSql =
    "insert into @SCHEMA@.halo_kv as k (key, value, expires_at)"
    " values ($1::bytea, pg_catalog.int8send(@MICROS@),"
    "  @NOW@ + $2::int8 * '1 microsecond'::interval)"
    " on conflict (key) do update set value = @EVENTS@ || pg_catalog.int8send(@MICROS@),"
    " number = 0, expires_at = @NOW@ + $2::int8 * '1 microsecond'::interval"
    " where pg_catalog.octet_length(@EVENTS@) / 8 < $3::int4"
    " returning pg_catalog.octet_length(k.value) / 8";

// What was dead when the statement began is dead; an index can only look for a fixed time.
constexpr std::string_view kKvSweepSql =
    "with swept as (delete from @SCHEMA@.halo_kv k where k.key = any(array("
    "  select d.key from @SCHEMA@.halo_kv d"
    "  where d.expires_at <= pg_catalog.statement_timestamp()"
    "  order by d.expires_at limit $1::int8 for update skip locked))"
    " and k.expires_at <= pg_catalog.statement_timestamp() returning 1)"
    " select count(*) from swept";

std::string Quote(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string Replace(std::string_view text, std::string_view what, std::string_view with) {
  std::string result(text);
  for (std::size_t at = result.find(what); at != std::string::npos;
       at = result.find(what, at + with.size())) {
    result.replace(at, what.size(), with);
  }
  return result;
}

// Inside a string literal a quote is doubled.
std::string ForSchema(std::string_view sql, const std::string& quoted_schema) {
  const std::string journal = quoted_schema + ".halo_journal";
  std::string text = Replace(sql, "'@JOURNAL@'", "'" + Replace(journal, "'", "''") + "'");
  text = Replace(text, "@JOURNAL@", journal);
  text = Replace(text, "@LIFE@", kLifeSql);
  text =
      Replace(text, "@SECONDS@", "pg_catalog.floor(extract(epoch from @NOW@) - 1704067200)::int8");
  text = Replace(text, "@NOW@", "pg_catalog.clock_timestamp()");
  return Replace(text, "@SCHEMA@", quoted_schema);
}

std::string Lease(std::string_view sql) {
  std::string text = Replace(sql, "@EPOCH@", kEpochSql);
  text = Replace(text, "@LIVE@", kLeaseLiveSql);
  return Replace(text, "@TTL@", "$3::int8 * '1 microsecond'::interval");
}

std::string Kv(std::string_view sql) {
  std::string text = Replace(sql, "@EVENTS@", kKvEventsSql);
  text = Replace(text, "@MICROS@", kKvMicrosSql);
  text = Replace(text, "@LIVE@", kKvLiveSql);
  return Replace(text, "@TTL@", kKvTtlSql);
}

std::string WithPins(std::string_view sql, std::string_view local) {
  return Replace(sql, "@PINS@", Replace(kPinsSql, "@LOCAL@", local));
}

}  // namespace

Statements::Statements(const std::string& schema_name)
    : schema(schema_name),
      schema_path(Quote(schema_name) + ", pg_temp"),
      journal(Quote(schema_name) + ".halo_journal") {
  const std::string quoted = Quote(schema_name);
  session = {"", WithPins(kSessionSql, "false")};
  begin = {"halo_begin",
           std::string(GUARD("postgres.isolation", false) ? std::string_view("begin") : kBeginSql)};
  begin_read = {"", std::string(kBeginReadSql)};
  scan_begin = {"", std::string(kScanBeginSql)};
  pins = {"", WithPins(kTransactionPinsSql, "true")};
  settings = {"halo_settings", WithPins(kSettingsSql, "true")};
  lock = {"halo_lock", ForSchema(kLockSql, quoted)};
  locked = {"halo_locked", std::string(kLockedSql)};
  const std::string news_sql = ForSchema(kNewsSql, quoted);
  news = {"halo_news", Replace(news_sql, "@GONE@", "s.floor > c.position + 1")};
  rows = {"halo_rows", Replace(news_sql, "@GONE@", "false")};
  any_news = {"halo_any_news", ForSchema(kAnyNewsSql, quoted)};
  lock_floor = {"", ForSchema(kLockFloorSql, quoted)};
  remove = {"", ForSchema(kRemoveSql, quoted)};
  raise_floor = {"", ForSchema(kRaiseFloorSql, quoted)};
  tails = {"halo_tails", ForSchema(kTailsSql, quoted)};
  insert = {"halo_insert", ForSchema(kInsertSql, quoted)};
  answers = {"halo_answers", ForSchema(kAnswersSql, quoted)};
  keep = {"halo_keep", ForSchema(kKeepSql, quoted)};
  prune = {"", ForSchema(kPruneSql, quoted)};
  applied = {"", ForSchema(kAppliedSql, quoted)};
  commit = {"", "commit"};
  rollback = {"", "rollback"};
  ping = {"halo_ping", ForSchema(kPingSql, quoted)};
  SetLeases(quoted);
  SetKeyValue(quoted);
}

void Statements::SetLeases(const std::string& quoted) {
  const auto lease = [&](std::string_view sql) { return ForSchema(Lease(sql), quoted); };
  note_epoch = {"", lease(kNoteEpochSql)};
  epoch = {"", lease(kEpochSql)};
  lease_acquire = {"", lease(kLeaseAcquireSql)};
  lease_renew = {"", lease(kLeaseRenewSql)};
  lease_release = {"", lease(kLeaseReleaseSql)};
  lease_read = {"", lease(kLeaseReadSql)};
  fence_lock = {"", lease(kFenceLockSql)};
  fence_judge = {"", lease(kFenceJudgeSql)};
  if (GUARD("postgres.fence-lock", false)) {
    fence_lock.sql = Replace(fence_lock.sql, "no key update", "key share");
  }
  if (GUARD("postgres.lease-clock-set-back", false)) {
    lease_acquire.sql =
        ForSchema(Replace(Lease(kLeaseAcquireSql), "l.expires_at <=", "now() <="), quoted);
  }
}

void Statements::SetKeyValue(const std::string& quoted) {
  const auto kv = [&](std::string_view sql) { return ForSchema(Kv(sql), quoted); };
  kv_lock = {"", kv(kKvLockSql)};
  kv_put = {"", kv(kKvPutSql)};
  kv_add = {"", kv(std::string(kKvPutSql) + std::string(kKvAddSql))};
  kv_get = {"", kv(kKvGetSql)};
  kv_take = {"", kv(kKvTakeSql)};
  kv_delete = {"", kv(kKvDeleteSql)};
  kv_unlock = {"", kv(kKvUnlockSql)};
  kv_raise = {"", kv(kKvRaiseSql)};
  kv_count = {"", kv(kKvCountSql)};
  kv_sweep = {"", kv(kKvSweepSql)};
}

}  // namespace engine::postgres
