// Statements: the SQL of the hot paths, for the schema that our tables are in.
//
// Names are qualified, because a role's search_path is not ours to choose, and plans are pinned:
// each of these is a walk of the journal's primary key, on an empty table and on a full one.
//
// Immutable; thread-safe.

#pragma once

#include <string>

#include "engine/postgres/connection.h"

namespace engine::postgres {

// Columns of `news` and of a copied row. The first three only in `news`.
enum NewsColumn {
  kServerStart,
  kJournalOid,
  kInRecovery,
  kStream,
  kPosition,
  kTx,
  kKey,
  kPrevious,
  kFlags,
  kAt,
  kChecksum,
  kDigest,
  kRecord,
  kNewsColumns,
};

// Of `any_news`, behind who answers.
inline constexpr int kAnyNews = kInRecovery + 1;

// Of `lock_floor`.
enum FloorColumn { kFloor, kFloorDigest, kFloorRows, kFloorSum, kFloorEnd };

enum TailColumn {
  kTailStream,
  kTailFloor,
  kTailFloorDigest,
  kTailFloorRows,
  kTailFloorSum,
  kTailPosition,
  kTailTx,
  kTailAt,
  kTailDigest,
  kTailRecord,
  kTailNow,
  kTailServerStart,
  kTailJournalOid,
  kTailInRecovery,
};

struct Statements {
  // `schema_name` is as it is in the catalogue, not quoted.
  explicit Statements(const std::string& schema_name);

  std::string schema;       // As given.
  std::string schema_path;  // For search_path: the quoted schema, temporary tables last.
  std::string journal;      // The quoted, qualified name of halo_journal.

  Statement
      session;  // $1 search_path, $2 lock_timeout, $3 statement_timeout: for a direct session.
  Statement begin;
  Statement begin_read;  // For a flight behind a pooler.
  Statement scan_begin;
  Statement pins;  // Parameters as `session`: for one transaction.
  // $1 lock_timeout, $2 statement_timeout, $3 search_path: for a transaction that writes.
  Statement settings;
  Statement lock;    // Answers the journal's oid, 64 bits wide.
  Statement locked;  // $1 statement_timeout as at first: from now on statements must be quick.
  // Both: $1 streams, $2 positions, $3 rows a stream, $4 bytes a stream.
  Statement news;      // A stream whose floor lies above its position: one row without a position.
  Statement rows;      // With the gaps that compaction left.
  Statement any_news;  // $1, $2 as `news`: whether it would answer anything; takes half the time.
  Statement tails;     // $1 streams whose last record is wanted.
  // $1..$10 columns as arrays, $11 how many rows at least, $12 until when on the server's clock.
  Statement insert;
  Statement answers;      // $1 keys: key, request, answer, tx, at.
  Statement keep;         // $1..$5 columns of answers as arrays, $6 how many rows at least.
  Statement prune;        // $1 age in microseconds, $2 how many at most: the oldest answers.
  Statement lock_floor;   // $1 stream: its floor, and where it ends.
  Statement remove;       // $1 stream, $2 positions, $3 keys: answers the checksums of what went.
  Statement raise_floor;  // $1 stream, $2 floor, $3 digest, $4 rows, $5 sum.
  Statement applied;      // Which migrations were.
  Statement commit;
  Statement rollback;
  Statement ping;  // Server start, journal's oid, in recovery.

  // The present life of the server: noted in halo_epoch if it is not there yet; then, as a
  // statement of its own (somebody else may just have noted it), its epoch.
  Statement note_epoch;
  Statement epoch;

  Statement lease_acquire;  // $1 name, $2 holder, $3 microseconds to live; after note_epoch.
  Statement lease_renew;    // $1 name, $2 holder, $3 token, $4 microseconds to live.
  Statement lease_release;  // $1 name, $2 holder, $3 token.
  Statement lease_read;     // $1 name: token, expiry, the time.
  Statement fence_lock;     // $1 names.
  Statement fence_judge;    // $1 names, $2 holders, $3 tokens.

  // $1 is the key, $3 microseconds to live where there are any (0: for ever).
  Statement kv_lock;
  Statement kv_put;   // $2 value.
  Statement kv_add;   // $2 value.
  Statement kv_get;   // In recovery, value, number.
  Statement kv_take;  // Value, number.
  Statement kv_delete;
  Statement kv_unlock;  // $2 owner.
  Statement kv_raise;   // $2 number.
  Statement kv_count;   // $2 microseconds of the window, $3 limit.
  Statement kv_sweep;   // $1 limit.

 private:
  void SetLeases(const std::string& quoted);
  void SetKeyValue(const std::string& quoted);
};

}  // namespace engine::postgres
