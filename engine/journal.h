// Journal is the seam for the one ordered history that everything else is folded from.
//
// A stream is a named, densely numbered sequence of records. A transaction appends to any streams
// at once; transactions are numbered densely over the whole journal (`tx`), and at most one of
// them is open in the world at any time: `Begin` takes the journal's lock. So there is one commit
// order, and a number that names a point of it.
//
// Implementations: engine/memory, engine/file, engine/postgres; tests/conformance holds for all.
// What a row is hashed over: docs/formats/row.md. Why the order holds: docs/journal.md.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/base/deadline.h"
#include "engine/base/payload.h"
#include "engine/fence.h"

namespace engine {

// Numbers a stream in the catalogue; part of every row's checksum, so never reused. 0 is invalid.
enum class StreamId : std::uint32_t { kInvalid = 0 };
// The place of a record in its stream: 1, 2, 3, ... without gaps.
enum class Position : std::uint64_t { kBeforeFirst = 0 };
// The number of a transaction: 1, 2, 3, ... over the whole journal, without gaps.
enum class Tx : std::uint64_t { kBeforeFirst = 0 };
// XXH3 over (digest of the row before, this row's checksum); names a whole history of a stream.
enum class Digest : std::uint64_t { kEmpty = 0 };

constexpr std::uint64_t Raw(StreamId id) {
  return static_cast<std::uint64_t>(id);
}
constexpr std::uint64_t Raw(Position position) {
  return static_cast<std::uint64_t>(position);
}
constexpr std::uint64_t Raw(Tx tx) {
  return static_cast<std::uint64_t>(tx);
}
constexpr std::uint64_t Raw(Digest digest) {
  return static_cast<std::uint64_t>(digest);
}
constexpr Position Next(Position position) {
  return Position{Raw(position) + 1};
}
constexpr Tx Next(Tx tx) {
  return Tx{Raw(tx) + 1};
}

struct StreamSpec {
  StreamId id = StreamId::kInvalid;
  std::string name;  // [a-z0-9-], unique.
  bool keyed = false;
  // Writers need the last record itself (a hash chain), so `StreamTail::last_payload` is filled.
  bool chained = false;
  // Only commands that act in a term write it (Command::fence); the committer sees to that.
  bool fenced = false;
  // How long records that were replaced are kept before compaction may remove them. Zero: for
  // ever. Of keyed streams only.
  Duration retention = Duration::zero();
};
using Catalogue = std::vector<StreamSpec>;

// Limits that every backend enforces with kInvalidArgument before anything is written.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxKeyBytes = 512;
// A transaction's rows together, as RowCost counts them; the committer closes a batch before it is
// reached.
inline constexpr std::size_t kMaxTransactionBytes = std::size_t{4} << 20;
// A page of news; larger than any transaction, so that a page always makes progress.
inline constexpr std::size_t kNewsPageBytes = std::size_t{8} << 20;
// What a row counts for: key, payload, and its other fields, generously.
constexpr std::size_t RowCost(std::size_t key_bytes, std::size_t payload_bytes) {
  return key_bytes + payload_bytes + 128;
}

// One row of the journal.
struct Record {
  StreamId stream = StreamId::kInvalid;
  Position position = Position::kBeforeFirst;
  Tx tx = Tx::kBeforeFirst;
  std::string key;  // Empty for an unkeyed record.
  // The key's older record; kBeforeFirst for none, also when that one is a tombstone. Compaction
  // removes what it names.
  Position previous = Position::kBeforeFirst;
  std::uint16_t flags = 0;         // RecordFlag bits.
  Timestamp at;                    // The store's clock under the lock; never falls.
  std::uint64_t checksum = 0;      // RowChecksum of all fields above and the payload.
  Digest digest = Digest::kEmpty;  // ChainDigest(digest of position - 1, checksum).
  Payload payload;                 // Opaque to the engine.
};

enum RecordFlag : std::uint16_t {
  // The record removes its key: no state is left of it.
  kTombstone = 1,
};

// The bytes that a row's checksum is taken over, all integers little-endian:
//   stream u32, position u64, tx u64, key length u32, key, previous u64, flags u16,
//   at i64 (microseconds), payload length u32, payload.
// The audit's cover hash is SHA-256 over the same bytes, row after row.
std::string RowBytes(const Record& record);
std::uint64_t RowChecksum(const Record& record);
Digest ChainDigest(Digest before, std::uint64_t checksum);

// What a request that came with an idempotency key was answered, kept so that its retry gets the
// same instead of doing it again. Written in the transaction that did it, never changed, pruned by
// age.
struct KeptAnswer {
  std::string key;           // SHA-256: who asked, for what, under which key.
  std::string request;       // SHA-256 of the rest of the request.
  std::string answer;        // Opaque to the engine.
  Tx tx = Tx::kBeforeFirst;  // The transaction that did it.
  Timestamp at;              // Of its rows.
  friend bool operator==(const KeptAnswer&, const KeptAnswer&) = default;
};
inline constexpr std::size_t kAnswerHashBytes = 32;
// Answers are kept for at least this long.
inline constexpr Duration kAnswerLifetime = std::chrono::hours(24);
// What an answer counts for in its transaction.
constexpr std::size_t AnswerCost(std::size_t answer_bytes) {
  return answer_bytes + 128;
}

// How far a reader is in one stream.
struct StreamCursor {
  StreamId stream = StreamId::kInvalid;
  Position position = Position::kBeforeFirst;
  Digest digest = Digest::kEmpty;
  friend bool operator==(const StreamCursor&, const StreamCursor&) = default;
};
// One cursor a stream: a single cursor over all streams would be wrong wherever streams are read
// apart (the audit is). Ascending by stream.
using Cursors = std::vector<StreamCursor>;

// What compaction left of a stream. Of the rows at or below `position` only the newest of each
// key remain, and none of a key that was removed; how many they are and the sum of their checksums
// prove that none is missing and none was put in. The row at `position` itself always remains.
struct Floor {
  Position position = Position::kBeforeFirst;  // kBeforeFirst: nothing was compacted.
  Digest digest = Digest::kEmpty;              // Of the row at `position`.
  std::uint64_t rows = 0;                      // That remain at or below it.
  std::uint64_t sum = 0;                       // Of their checksums, modulo 2^64.
  friend bool operator==(const Floor&, const Floor&) = default;
};

// Where a stream ends.
struct StreamTail {
  StreamId stream = StreamId::kInvalid;
  Position position = Position::kBeforeFirst;
  Tx tx = Tx::kBeforeFirst;
  Timestamp at;
  Digest digest = Digest::kEmpty;
  Floor floor;
  Payload last_payload;  // Of chained streams only.
};

// Which life of which store answered. A reply is judged against what was known when it was sent;
// another origin means: compare the digests at all cursors before believing anything.
struct Origin {
  // Postgres: server start, oid of the journal table. Constant in process and on files.
  std::string id;
  friend bool operator==(const Origin&, const Origin&) = default;
};

// What happened in some streams after some cursors: one consistent cut.
struct News {
  Cursors after;             // As asked.
  std::vector<Record> rows;  // Ascending by stream, then position.
  // False: the page was full. Then `rows` holds whole transactions only: all rows of the asked
  // streams up to some transaction. Ask again from there.
  bool complete = true;
  Origin origin;
  // The asked streams whose floor lies above the row that follows the cursor: what is left there is
  // not the whole history, so none of their rows are here. A reader of such a stream has to forget
  // it and read it anew, with Scan.
  std::vector<StreamId> compacted = {};
};

// What a writer wants to know under the lock.
struct Question {
  Cursors after = {};                     // News of these streams.
  std::vector<std::string> answers = {};  // Keys of answers.
  std::vector<Fence> fences = {};         // Terms that want to write in this transaction.
};

// What a writer sees under the lock.
struct LockedState {
  News news;
  std::vector<StreamTail> tails;         // Every stream of the catalogue, ascending.
  Tx last_tx = Tx::kBeforeFirst;         // The greatest of the journal.
  Timestamp now;                         // The store's clock, read under the lock.
  std::vector<KeptAnswer> answers = {};  // Those that are kept, in no order.
  // One for each fence, in their order: Ok, or FencedError. Where it is Ok nobody else can get
  // that lease before the transaction has ended.
  std::vector<absl::Status> fences = {};
};

// The end of a transaction is never a bool.
struct CommitOutcome {
  enum class Kind {
    kCommitted,  // Durable, and visible to whoever asks from now on.
    kFailed,     // Nothing was written, now or later.
    kUnknown,    // The answer got lost: it may be durable, now or in a moment. Settle it under
                 // the lock (engine/committer.h); never try again blindly.
  };
  Kind kind = Kind::kFailed;
  absl::Status why;  // Ok exactly when kCommitted.
};

// An open transaction: it holds the journal's lock from `Begin` until it commits or is dropped.
// Dropping it rolls it back and leaves no trace.
//
// One thread. Every call may block on the store, at most until the deadline given to `Begin`, and
// Commit until its own if that is earlier.
class Transaction {
 public:
  virtual ~Transaction() = default;

  // News, all tails, the time, answers and fences, as one cut under the lock. Called at most once.
  // If `news.complete` is false the delta was larger than a page: drop the transaction, catch up
  // without the lock and begin again.
  //
  // A fence is judged after its lease was locked for the rest of the transaction, on the clock as
  // it is then.
  virtual absl::StatusOr<LockedState> Read(const Question& question) = 0;

  // Hands over the rows of the transaction, finished: positions follow the tails, one new `tx`,
  // checksums and digests set; and the answers to keep with them, under keys that Read was asked
  // about and did not find. Called at most once. A backend may send them only with `Commit`, so
  // errors of the store can come from there. REQUIRES: Read was called.
  //
  // Fails as CheckAppend (engine/append_check.h) does: kInvalidArgument over a limit, kAborted for
  // rows that do not follow the tails that Read showed. Nothing was written then.
  virtual absl::Status Append(std::vector<Record> rows, std::vector<KeptAnswer> answers) = 0;

  // Ends the transaction, whatever the outcome. Call nothing after it. What the store has not begun
  // to write by `deadline` is not written, also when the request for it is still on its way then:
  // kFailed with kDeadlineExceeded, or kUnknown when the answer was waited for until then.
  virtual CommitOutcome Commit(Deadline deadline) = 0;
};

struct ScanOptions {
  Cursors after;                   // The streams to read, and from where.
  std::optional<Tx> through = {};  // Stop after this transaction.
  // Called once, before the first row, with where all streams end in the cut that is scanned, and
  // their floors: rows at or below a floor have gaps. An error ends the scan with it.
  std::function<absl::Status(std::span<const StreamTail> tails)> on_tails = {};
};
// Takes the next rows of a scan; an error ends the scan with it.
using RowSink = std::function<absl::Status(std::span<const Record> rows)>;

struct RowKey {
  Position position = Position::kBeforeFirst;
  std::string key;
};
// One step of compaction; engine/compactor.h makes them.
struct CompactionStep {
  StreamId stream = StreamId::kInvalid;
  Floor from;                            // The floor as it is.
  Position to = Position::kBeforeFirst;  // Where it shall be; the stream goes on above.
  Digest digest = Digest::kEmpty;        // Of the row at `to`.
  std::uint64_t rows = 0;                // Behind `from`, up to `to`, and
  std::uint64_t sum = 0;                 // the sum of their checksums.
  std::vector<RowKey> remove;            // Ascending, each once; all below `to`.
};

// News that was asked for while nobody's thread waits (a flight of an event loop). One thread at a
// time; never blocks. Destroy it before the journal; unanswered it leaves nothing behind.
class PendingNews {
 public:
  virtual ~PendingNews() = default;
  // Poll may have more to say whenever it can be read. Stays open as long as this is there.
  virtual int descriptor() const = 0;
  // The answer, as ReadAfter's, or nothing yet. Not called again after an answer.
  virtual std::optional<absl::StatusOr<News>> Poll() = 0;
};

// Thread-safe. Calls block on the store, at most until their deadline.
//
// Unless said otherwise calls fail with
//   kUnavailable       the store could not be asked; nothing is known, nothing was written
//   kDeadlineExceeded  likewise, and the deadline has passed
//   kDataLoss          the store answered with rows that cannot be right; the message names
//                      stream and position
class Journal {
 public:
  virtual ~Journal() = default;

  virtual const Catalogue& catalogue() const = 0;

  // Waits for the journal's lock and opens a transaction.
  virtual absl::StatusOr<std::unique_ptr<Transaction>> Begin(Deadline deadline) = 0;

  // The news after `after` from a snapshot taken after this call began (a flight).
  virtual absl::StatusOr<News> ReadAfter(const Cursors& after, Deadline deadline) = 0;
  // The same without waiting, if that can be had right now: the question is sent when this returns.
  // Null: it cannot, call ReadAfter.
  virtual std::unique_ptr<PendingNews> AskAfter(const Cursors& after) {
    static_cast<void>(after);
    return nullptr;
  }

  // Up to `limit` rows of one stream from `from` on, oldest first; fewer at the end and when the
  // page is full, but at least one if there is one. At or below the stream's floor there are gaps.
  // REQUIRES: limit > 0.
  virtual absl::StatusOr<std::vector<Record>> ReadStream(StreamId stream, Position from, int limit,
                                                         Deadline deadline) = 0;

  // Where every stream of the catalogue ends, as one cut.
  virtual absl::StatusOr<std::vector<StreamTail>> Tails(Deadline deadline) = 0;

  // Hands all rows after the cursors to `sink`, from one cut of the journal: each stream in the
  // order of its positions, the streams interleaved or one after another as suits the store.
  virtual absl::Status Scan(const ScanOptions& options, const RowSink& sink, Deadline deadline) = 0;

  // Forgets up to `limit` kept answers that are older than `age` on the store's clock, the oldest
  // first; how many. Takes no lock that a transaction waits for. REQUIRES: limit > 0.
  virtual absl::StatusOr<int> PruneAnswers(Duration age, int limit, Deadline deadline) = 0;

  // Raises a stream's floor and removes rows, all or nothing; returns the new floor. Takes no lock
  // that appends or readers wait for: rows at or below the floor are news to nobody.
  //
  // Fails as CheckCompaction (engine/compaction_check.h) does, and with kDataLoss when a row that
  // is to be removed is not there under its key. Nothing was changed then.
  virtual absl::StatusOr<Floor> Compact(const CompactionStep& step, Deadline deadline) = 0;
};

}  // namespace engine
