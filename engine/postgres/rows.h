// Rows: what statements answer, as the engine's types.
//
// Thread-safe; never blocks.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/journal.h"
#include "engine/postgres/params.h"
#include "engine/postgres/result.h"

namespace engine::postgres {

// More rows than fit a page of bytes by the page's own count, so bytes always decide.
inline constexpr std::int64_t kNewsRowLimit = static_cast<std::int64_t>(kNewsPageBytes / 128) + 1;

Params NewsParams(const Cursors& after, std::int64_t rows, std::int64_t bytes);
Params AnyNewsParams(const Cursors& after);

// Who answered. Fails with kUnavailable for a standby, whose answer counts for nothing, and when
// the journal's table is gone.
absl::StatusOr<Origin> OriginOf(const Result& result, int first_column);

// A floor in four columns from `first_column` on: position, digest, rows, sum.
Floor FloorAt(const Result& result, int row, int first_column);

// The rows of `news` or `rows`, ascending by stream and position.
std::vector<Record> NewsRows(const Result& result);

// `news` cut to whole transactions.
absl::StatusOr<News> NewsOf(const Cursors& after, const Result& result);

struct AllTails {
  std::vector<StreamTail> tails;  // Of the catalogue's streams, ascending.
  Tx last_tx = Tx::kBeforeFirst;  // Of all streams, also those of a newer catalogue.
  Timestamp now;                  // Not before any row's.
  Timestamp clock;                // As the database has it.
  Origin origin;
};
Params TailsParams(const Catalogue& catalogue);
// Fails with kUnavailable as OriginOf does, and with kFailedPrecondition when a stream of the
// catalogue has no row any more.
absl::StatusOr<AllTails> TailsOf(const Catalogue& catalogue, const Result& result);

// The rows of a transaction as parameters of `insert`, which fails after `latest`; none: never.
Params InsertParams(const std::vector<Record>& rows, std::optional<Timestamp> latest);

Params AnswersParams(const std::vector<std::string>& keys);
std::vector<KeptAnswer> AnswersOf(const Result& result);
// The answers of a transaction as parameters of `keep`.
Params KeepParams(const std::vector<KeptAnswer>& answers);

// A row of `COPY (...) TO STDOUT (FORMAT binary)` with the columns from kPosition on, without
// framing. Fails with kDataLoss.
absl::StatusOr<Record> CopiedRow(StreamId stream, std::string_view bytes);

}  // namespace engine::postgres
