// AuditCover: which rows an audit entry answers for, so that the one cryptographic chain covers
// the whole audited journal and not the audit alone.
//
// An entry names them in the detail `halo.records`, ranges of positions by stream
// (`killswitch:4,resources:17-18`), and their SHA-256 in `halo.sha256`: over the RowBytes of each,
// prefixed by its length as u32, in ascending order of stream and position.
//
// Thread-safe; never blocks.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/journal.h"

namespace engine {

inline constexpr char kCoverRecordsDetail[] = "halo.records";
inline constexpr char kCoverHashDetail[] = "halo.sha256";

struct CoveredRange {
  StreamId stream = StreamId::kInvalid;
  Position first = Position::kBeforeFirst;
  Position last = Position::kBeforeFirst;
  friend bool operator==(const CoveredRange&, const CoveredRange&) = default;
};

struct AuditCover {
  std::vector<CoveredRange> ranges;  // Ascending by stream, then position; none touch.
  std::string sha256;                // Lower-case hexadecimal.
};

// The cover of `rows`, in whatever order they come.
AuditCover CoverOf(std::span<const Record> rows);

// The text of `halo.records`. REQUIRES: the streams are in the catalogue.
std::string FormatCover(const AuditCover& cover, const Catalogue& catalogue);

// The inverse; `sha256` is left empty. Fails with kDataLoss when it is no such text or names a
// stream that is not in the catalogue.
absl::StatusOr<AuditCover> ParseCover(std::string_view text, const Catalogue& catalogue);

}  // namespace engine
