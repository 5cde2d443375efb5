// The storage commands of `halo`: what each does, with its flags. Each prints to `out` and
// returns why it failed; main (api/main/halo.cc) prints that as `error: ...` and exits with 1.
//
// Output is text for people or, with Format::kJson, one JSON document (`cat` prints one object a
// line either way). One thread; they block on the store as long as it takes.

#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include <absl/status/status.h>

#include "api/cli/storage.h"

namespace api::cli {

enum class Format { kText, kJson };

struct AuditVerifyFlags {
  StorageFlags store;
  std::string expect_head;  // Hexadecimal; empty: any.
  std::optional<std::uint64_t> expect_total;
};
// Reads the whole chain again: every entry's hash and link, and that each entry's `halo.sha256`
// is that of the records it was committed with. Fails with kDataLoss and the first broken seq,
// with kFailedPrecondition when the chain is sound but does not end as expected.
absl::Status AuditVerify(const AuditVerifyFlags& flags, Format format, std::ostream& out);

struct StreamsFlags {
  StorageFlags store;
};
// Every stream's head, transaction, floor and digest.
absl::Status JournalStreams(const StreamsFlags& flags, Format format, std::ostream& out);

struct CatFlags {
  StorageFlags store;
  std::string stream = {};  // Empty: all, one after another.
  // The first position. Empty: the first there is, or, of `tail`, what is written from now on.
  std::optional<std::uint64_t> from = {};
  std::optional<std::uint64_t> to = {};
  bool follow = false;  // Wait for more, until all streams have passed `to`.
  bool tail = false;    // See `from`.
};
// Records as JSON lines, secrets masked. Stops at the first row that cannot be right. With `follow`
// it looks for more every half second.
// Fails with kInvalidArgument when `to` lies before `from`.
absl::Status JournalCat(const CatFlags& flags, std::ostream& out);

struct VerifyFlags {
  StorageFlags store;
};
// Positions and transactions without gaps, checksums, digests, and that every payload decodes.
// Fails with kDataLoss, naming stream and position.
absl::Status JournalVerify(const VerifyFlags& flags, Format format, std::ostream& out);

struct ExportFlags {
  StorageFlags store;
  std::string stream;
  std::string file;  // Made; must not be there.
  std::uint64_t from = 1;
  std::optional<std::uint64_t> to;
};
// Writes a stream's records to a file, one JSON object a line, with everything that their
// checksums are taken over; nothing is masked. The file is there whole and durable, or not at all.
// Fails with kFailedPrecondition when it is there already, with kDataLoss for a damaged row, with
// kInvalidArgument when `to` lies before `from`.
absl::Status JournalExport(const ExportFlags& flags, Format format, std::ostream& out);

struct TrimFlags {
  StorageFlags store;
  std::string stream;
  std::string older_than;  // `30d`, `12h`, ...
  std::string file;        // As in ExportFlags.
};
// Exports all records of a stream up to the newest one that is old enough, then compacts the
// stream up to there, whatever its retention. Of a data directory the server must be stopped.
// Fails as JournalExport does (nothing was removed then), with kInvalidArgument for a stream that
// keeps every record, like the audit, and with kAborted when a server compacts it right now.
absl::Status JournalTrim(const TrimFlags& flags, Format format, std::ostream& out);

struct DiffFlags {
  StorageFlags store;
  std::string compare;  // A data directory or a file with a database URL.
};
// Compares two journals by their digests and prints, of each stream, the first position where they
// differ. Reads some rows of each stream, not all of them; damage is for JournalVerify to find.
// Fails with kAborted when they differ anywhere.
absl::Status JournalDiff(const DiffFlags& flags, Format format, std::ostream& out);

struct ReplayFlags {
  StorageFlags store;
  std::string until;   // A transaction's number or an RFC 3339 time; empty: the end.
  std::string stream;  // Only this one's projection; empty: all.
  bool print = false;  // The state as JSON too.
  // A data directory, a file with a database URL, or a snapshot; empty: nothing.
  std::string compare;
};
// Folds the journal into projections and prints each one's position and state digest. With
// `compare`, fails with kDataLoss when another source folds to something else, or when the journal
// does not fold to that snapshot.
absl::Status Replay(const ReplayFlags& flags, Format format, std::ostream& out);

}  // namespace api::cli
