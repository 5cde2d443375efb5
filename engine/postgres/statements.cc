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
constexpr std::string_view kPinsSql =
    "pg_catalog.set_config('enable_indexscan', 'on', @LOCAL@),"
    "pg_catalog.set_config('enable_nestloop', 'on', @LOCAL@),"
    "pg_catalog.set_config('enable_seqscan', 'off', @LOCAL@),"
    "pg_catalog.set_config('enable_bitmapscan', 'off', @LOCAL@),"
    "pg_catalog.set_config('enable_sort', 'off', @LOCAL@),"
    "pg_catalog.set_config('plan_cache_mode', 'force_generic_plan', @LOCAL@),"
    "pg_catalog.set_config('jit', 'off', @LOCAL@),"
    "pg_catalog.set_config('client_min_messages', 'warning', @LOCAL@)";

// A dead client's statement ends soon instead of when it has finished. Timeouts of the role or
// the database are not meant for us; ours are set where they belong.
constexpr std::string_view kSessionSql =
    "select pg_catalog.set_config('search_path', $1, false),"
    "pg_catalog.set_config('client_connection_check_interval', '500ms', false),"
    "pg_catalog.set_config('statement_timeout', '60s', false),"
    "pg_catalog.set_config('lock_timeout', '60s', false),"
    "pg_catalog.set_config('idle_session_timeout', '0', false), @PINS@";

// The isolation is stated, because a database can have another default and a snapshot taken
// before the lock would make us number our rows from old ones.
constexpr std::string_view kBeginSql = "begin isolation level read committed read write";
constexpr std::string_view kBeginReadSql = "begin isolation level read committed read only";
constexpr std::string_view kScanBeginSql = "begin isolation level repeatable read read only";

constexpr std::string_view kTransactionPinsSql =
    "select pg_catalog.set_config('search_path', $1, true),"
    "pg_catalog.set_config('statement_timeout', '60s', true),"
    "pg_catalog.set_config('lock_timeout', '60s', true), @PINS@";

// Waiting for the lock is bounded by lock_timeout alone: the statement that waits must not be
// ended by the limit that is meant for the others. A holder that stopped loses its session after
// five seconds, so that it cannot keep everybody out.
constexpr std::string_view kSettingsSql =
    "select pg_catalog.set_config('lock_timeout', $1, true),"
    "pg_catalog.set_config('search_path', $2, true),"
    "pg_catalog.set_config('statement_timeout', '0', true),"
    "pg_catalog.set_config('idle_in_transaction_session_timeout', '5s', true),"
    "pg_catalog.set_config('synchronous_commit',"
    " case pg_catalog.current_setting('synchronous_commit')"
    " when 'remote_apply' then 'remote_apply' else 'on' end, true), @PINS@";

// In a statement of its own: one that reads as well would have its snapshot from before the wait.
constexpr std::string_view kLockSql =
    "select pg_catalog.int8(o.id), pg_catalog.pg_advisory_xact_lock(o.id::int4, 0)"
    " from (select '@JOURNAL@'::pg_catalog.regclass::pg_catalog.oid as id) o";
constexpr std::string_view kLockedSql =
    "select pg_catalog.set_config('statement_timeout', '10s', true)";

// One row without a stream when there is no news. A stream's rows end with the first one that
// does not fit its share of bytes, so that the reader knows that it was cut.
constexpr std::string_view kNewsSql =
    "select o.*, n.* from"
    " (select pg_catalog.pg_postmaster_start_time(),"
    "  pg_catalog.to_regclass('@JOURNAL@')::pg_catalog.oid,"
    "  pg_catalog.pg_is_in_recovery()) o"
    " left join lateral"
    " (select c.stream_id, r.position, r.tx, r.key, r.previous, r.flags, r.at, r.checksum,"
    "  r.digest, r.record"
    "  from unnest($1::int4[], $2::int8[]) c(stream_id, position),"
    "  lateral (select w.* from"
    "   (select j.*, pg_catalog.sum(pg_catalog.octet_length(j.record) + 128)"
    "     over (order by j.position rows between unbounded preceding and 1 preceding) as bytes"
    "    from (select * from @JOURNAL@ j where j.stream_id = c.stream_id"
    "     and j.position > c.position order by j.position limit $3::int8) j) w"
    "   where w.bytes is null or w.bytes <= $4::int8) r) n on true";

constexpr std::string_view kTailsSql =
    "select s.stream_id, s.floor, t.position, t.tx, t.at, t.digest,"
    " case when s.stream_id = any($1::int4[]) then t.record end,"
    " pg_catalog.clock_timestamp(), pg_catalog.pg_postmaster_start_time(),"
    " pg_catalog.to_regclass('@JOURNAL@')::pg_catalog.oid, pg_catalog.pg_is_in_recovery()"
    " from @SCHEMA@.halo_streams s left join lateral"
    " (select j.position, j.tx, j.at, j.digest, j.record from @JOURNAL@ j"
    "  where j.stream_id = s.stream_id order by j.position desc limit 1) t on true"
    " order by s.stream_id";

// Fails, and with it the transaction, when fewer rows went in than were sent: a trigger, a rule
// or a policy can drop one without a word. (Division by zero is the only error that plain SQL can
// raise.)
constexpr std::string_view kInsertSql =
    "with inserted as (insert into @JOURNAL@"
    " (stream_id, position, tx, key, previous, flags, at, checksum, digest, record)"
    " select * from unnest($1::int4[], $2::int8[], $3::int8[], $4::bytea[], $5::int8[],"
    " $6::int2[], $7::timestamptz[], $8::int8[], $9::int8[], $10::bytea[]) returning 1)"
    " select 1 / (count(*) >= $11::int8)::int4 from inserted";

constexpr std::string_view kAppliedSql =
    "select version, name, min_binary_schema from @SCHEMA@.halo_schema_migrations"
    " order by version";

constexpr std::string_view kPingSql =
    "select pg_catalog.pg_postmaster_start_time(),"
    " pg_catalog.to_regclass('@JOURNAL@')::pg_catalog.oid, pg_catalog.pg_is_in_recovery()";

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
  return Replace(text, "@SCHEMA@", quoted_schema);
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
  news = {"halo_news", ForSchema(kNewsSql, quoted)};
  tails = {"halo_tails", ForSchema(kTailsSql, quoted)};
  insert = {"halo_insert", ForSchema(kInsertSql, quoted)};
  applied = {"", ForSchema(kAppliedSql, quoted)};
  commit = {"", "commit"};
  rollback = {"", "rollback"};
  ping = {"halo_ping", ForSchema(kPingSql, quoted)};
}

}  // namespace engine::postgres
