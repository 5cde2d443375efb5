// `halo journal streams` and `verify`.

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <absl/strings/str_format.h>

#include "api/cli/commands.h"
#include "api/cli/print.h"
#include "engine/base/bytes.h"
#include "engine/base/status_macros.h"
#include "engine/floor_proof.h"
#include "schemas/json.h"
#include "schemas/streams.h"

namespace api::cli {
namespace {

using engine::Deadline;
using engine::Record;
using engine::StreamSpec;

// What a scan has seen of one stream.
struct Verified {
  engine::StreamCursor cursor;
  engine::Tx tx{};
  std::uint64_t rows = 0;
  std::optional<engine::FloorProof> floor;  // Of a stream that was compacted.
};

class Verifier {
 public:
  explicit Verifier(const engine::Catalogue& catalogue) : catalogue_(catalogue) {
    for (const StreamSpec& spec : catalogue) {
      streams_[spec.id].cursor.stream = spec.id;
    }
  }

  // Where the streams end, and their floors, in the cut that is verified.
  absl::Status TakeTails(std::span<const engine::StreamTail> tails) {
    for (const engine::StreamTail& tail : tails) {
      if (tail.floor.position != engine::Position::kBeforeFirst) {
        streams_[tail.stream].floor.emplace(tail.floor);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Take(std::span<const Record> rows) {
    for (const Record& row : rows) {
      RETURN_IF_ERROR(TakeRow(row));
    }
    return absl::OkStatus();
  }

  absl::Status CheckFloors() const {
    for (const auto& [id, seen] : streams_) {
      if (seen.floor.has_value() && !seen.floor->complete()) {
        return absl::DataLossError(
            absl::StrFormat("stream %s: the row at the floor is missing", NameOf(catalogue_, id)));
      }
    }
    return absl::OkStatus();
  }

  // Every transaction has a row somewhere: a number without one was lost, unless compaction took
  // its rows.
  absl::Status CheckTransactions() const {
    for (std::size_t tx = Raw(compacted_) + 1; tx < transactions_.size(); ++tx) {
      if (!transactions_[tx]) {
        return absl::DataLossError(absl::StrFormat("transaction %d is missing", tx));
      }
    }
    return absl::OkStatus();
  }

  const std::map<engine::StreamId, Verified>& streams() const { return streams_; }
  std::size_t transactions() const { return transactions_.empty() ? 0 : transactions_.size() - 1; }

 private:
  absl::Status TakeRow(const Record& row) {
    Verified& seen = streams_[row.stream];
    const std::string& name = NameOf(catalogue_, row.stream);
    const bool sparse = seen.floor.has_value() && seen.floor->Covers(row.position);
    if (!sparse && row.position != Next(seen.cursor.position)) {
      return Damaged(row, name, absl::StrFormat("follows %d", Raw(seen.cursor.position)));
    }
    RETURN_IF_ERROR(CheckRow(row, name));
    if (sparse) {
      RETURN_IF_ERROR(seen.floor->Take(row, seen.cursor));
      compacted_ = std::max(compacted_, row.tx);
    } else if (row.digest != ChainDigest(seen.cursor.digest, row.checksum)) {
      return Damaged(row, name, "the digest does not continue the rows before");
    }
    if (row.tx < seen.tx) {
      return Damaged(row, name, "the transaction goes back");
    }
    if (const auto decoded = schemas::RecordJson(row.stream, row.payload); !decoded.ok()) {
      return Damaged(row, name, std::string(Text(decoded.status())));
    }
    seen.cursor.position = row.position;
    seen.cursor.digest = row.digest;
    seen.tx = row.tx;
    ++seen.rows;
    if (transactions_.size() <= Raw(row.tx)) {
      transactions_.resize(Raw(row.tx) + 1, false);
    }
    transactions_[Raw(row.tx)] = true;
    return absl::OkStatus();
  }

  const engine::Catalogue& catalogue_;
  std::map<engine::StreamId, Verified> streams_;
  std::vector<bool> transactions_;
  engine::Tx compacted_{};  // The newest one at or below a floor.
};

void PrintVerified(const Verifier& verifier, const engine::Catalogue& catalogue, Format format,
                   std::ostream& out) {
  if (format == Format::kText) {
    for (const auto& [id, seen] : verifier.streams()) {
      out << absl::StrFormat("%-24s %10d rows  digest %s  ok\n", NameOf(catalogue, id), seen.rows,
                             engine::ToHex(Raw(seen.cursor.digest)));
    }
    out << absl::StrFormat("journal verified: %d transactions\n", verifier.transactions());
    return;
  }
  std::string document = absl::StrFormat("{\"verified\":true,\"transactions\":%d,\"streams\":[",
                                         verifier.transactions());
  const char* separator = "";
  for (const auto& [id, seen] : verifier.streams()) {
    document +=
        absl::StrFormat("%s{\"name\":\"%s\",\"rows\":%d,\"digest\":\"%s\"}", separator,
                        NameOf(catalogue, id), seen.rows, engine::ToHex(Raw(seen.cursor.digest)));
    separator = ",";
  }
  out << document << "]}\n";
}

}  // namespace

absl::Status JournalStreams(const StreamsFlags& flags, Format format, std::ostream& out) {
  ASSIGN_OR_RETURN(const auto store, OpenStore(flags.store));
  const engine::Catalogue& catalogue = store->journal().catalogue();
  ASSIGN_OR_RETURN(const auto tails, store->journal().Tails(Deadline::Infinite()));
  if (format == Format::kText) {
    out << absl::StrFormat("%-24s %12s %12s %12s  %s\n", "STREAM", "HEAD", "TX", "FLOOR", "DIGEST");
    for (const engine::StreamTail& tail : tails) {
      out << absl::StrFormat("%-24s %12d %12d %12d  %s\n", NameOf(catalogue, tail.stream),
                             Raw(tail.position), Raw(tail.tx), Raw(tail.floor.position),
                             engine::ToHex(Raw(tail.digest)));
    }
    return absl::OkStatus();
  }
  std::string document = "{\"streams\":[";
  const char* separator = "";
  for (const engine::StreamTail& tail : tails) {
    document +=
        absl::StrFormat("%s{\"name\":\"%s\",\"head\":%d,\"tx\":%d,\"floor\":%d,\"digest\":\"%s\"}",
                        separator, NameOf(catalogue, tail.stream), Raw(tail.position), Raw(tail.tx),
                        Raw(tail.floor.position), engine::ToHex(Raw(tail.digest)));
    separator = ",";
  }
  out << document << "]}\n";
  return absl::OkStatus();
}

absl::Status JournalVerify(const VerifyFlags& flags, Format format, std::ostream& out) {
  ASSIGN_OR_RETURN(const auto store, OpenStore(flags.store));
  engine::Journal& journal = store->journal();
  Verifier verifier(journal.catalogue());
  const auto take = [&](std::span<const Record> rows) { return verifier.Take(rows); };
  const engine::ScanOptions options{.after = FromTheStart(journal.catalogue()),
                                    .on_tails = [&](std::span<const engine::StreamTail> tails) {
                                      return verifier.TakeTails(tails);
                                    }};
  RETURN_IF_ERROR(journal.Scan(options, take, Deadline::Infinite()));
  RETURN_IF_ERROR(verifier.CheckFloors());
  RETURN_IF_ERROR(verifier.CheckTransactions());
  PrintVerified(verifier, journal.catalogue(), format, out);
  return absl::OkStatus();
}

}  // namespace api::cli
