// `halo audit verify`.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>

#include <absl/strings/str_format.h>

#include "api/cli/commands.h"
#include "api/cli/print.h"
#include "engine/audit_chain.h"
#include "engine/audit_cover.h"
#include "engine/base/status_macros.h"
#include "schemas/streams.h"

namespace api::cli {
namespace {

using engine::Deadline;
using engine::Position;
using engine::Record;

constexpr int kRowsAtOnce = 1000;

// Reads a stream forward, in pieces. Entries cover rising positions, so each row is read once.
class ForwardReader {
 public:
  ForwardReader(engine::Journal& journal, engine::StreamId stream)
      : journal_(journal), stream_(stream) {}

  // Appends the rows of `range` to `rows`, as many as there are.
  absl::Status Read(const engine::CoveredRange& range, std::vector<Record>& rows) {
    for (Position next = range.first; next <= range.last; next = Next(next)) {
      while (!ahead_.empty() && ahead_.front().position < next) {
        ahead_.pop_front();
      }
      if (ahead_.empty()) {
        ASSIGN_OR_RETURN(const std::vector<Record> read,
                         journal_.ReadStream(stream_, next, kRowsAtOnce, Deadline::Infinite()));
        ahead_.assign(read.begin(), read.end());
      }
      if (ahead_.empty() || ahead_.front().position != next) {
        return absl::OkStatus();
      }
      rows.push_back(ahead_.front());
    }
    return absl::OkStatus();
  }

 private:
  engine::Journal& journal_;
  const engine::StreamId stream_;
  std::deque<Record> ahead_;
};

class ChainVerifier {
 public:
  explicit ChainVerifier(engine::Journal& journal) : journal_(journal) {
    for (const engine::StreamSpec& spec : journal.catalogue()) {
      readers_.emplace(spec.id, ForwardReader(journal, spec.id));
    }
  }

  absl::Status Take(const Record& row) {
    RETURN_IF_ERROR(CheckRow(row, "audit"));
    const auto entry = engine::DecodeAuditEntry(row.payload.view());
    if (!entry.ok()) {
      return Broken(row, Text(entry.status()));
    }
    if (Raw(row.position) != total_ + 1 || entry->seq != row.position) {
      return Broken(row, absl::StrFormat("seq %d was expected", total_ + 1));
    }
    if (entry->prev != head_) {
      return Broken(row, "prev is not the hash of the entry before");
    }
    RETURN_IF_ERROR(CheckCover(row, entry->what.details));
    head_ = engine::AuditHash(row.payload.view());
    ++total_;
    return absl::OkStatus();
  }

  std::uint64_t total() const { return total_; }
  std::uint64_t covered() const { return covered_; }
  std::uint64_t compacted() const { return compacted_; }
  const std::string& head() const { return head_; }

 private:
  static absl::Status Broken(const Record& row, std::string_view what) {
    return absl::DataLossError(absl::StrFormat("audit entry %d: %s", Raw(row.position), what));
  }

  // Whether compaction may have taken rows of it, so that its hash cannot be made again.
  absl::StatusOr<bool> IsCompacted(const engine::AuditCover& cover) {
    ASSIGN_OR_RETURN(const auto tails, journal_.Tails(Deadline::Infinite()));
    return std::ranges::any_of(cover.ranges, [&](const engine::CoveredRange& range) {
      const auto tail = std::ranges::find(tails, range.stream, &engine::StreamTail::stream);
      return tail != tails.end() && range.first <= tail->floor.position;
    });
  }

  absl::Status CheckCover(const Record& row, const std::map<std::string, std::string>& details) {
    const auto records = details.find(engine::kCoverRecordsDetail);
    const auto hash = details.find(engine::kCoverHashDetail);
    if (records == details.end() && hash == details.end()) {
      return absl::OkStatus();
    }
    if (records == details.end() || hash == details.end()) {
      return Broken(row, "one of halo.records and halo.sha256 is missing");
    }
    const auto cover = engine::ParseCover(records->second, journal_.catalogue());
    if (!cover.ok()) {
      return Broken(row, Text(cover.status()));
    }
    std::vector<Record> rows;
    for (const engine::CoveredRange& range : cover->ranges) {
      RETURN_IF_ERROR(readers_.at(range.stream).Read(range, rows));
    }
    if (engine::CoverOf(rows).sha256 != hash->second) {
      ASSIGN_OR_RETURN(const bool compacted, IsCompacted(*cover));
      if (compacted) {
        ++compacted_;
        return absl::OkStatus();
      }
      return Broken(row, "the records " + records->second + " are not those it was committed with");
    }
    covered_ += rows.size();
    return absl::OkStatus();
  }

  engine::Journal& journal_;
  std::map<engine::StreamId, ForwardReader> readers_;
  std::uint64_t total_ = 0;
  std::uint64_t covered_ = 0;
  std::uint64_t compacted_ = 0;  // Entries whose records are not all there any more.
  std::string head_;
};

absl::Status CheckExpected(const AuditVerifyFlags& flags, const ChainVerifier& chain) {
  if (flags.expect_total.has_value() && *flags.expect_total != chain.total()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the chain has %d entries, %d were expected", chain.total(), *flags.expect_total));
  }
  if (!flags.expect_head.empty() && flags.expect_head != chain.head()) {
    return absl::FailedPreconditionError(absl::StrFormat("the chain ends with %s, %s was expected",
                                                         chain.head(), flags.expect_head));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AuditVerify(const AuditVerifyFlags& flags, Format format, std::ostream& out) {
  ASSIGN_OR_RETURN(const auto store, OpenStore(flags.store));
  ChainVerifier chain(store->journal());
  const auto take = [&](std::span<const Record> rows) {
    for (const Record& row : rows) {
      RETURN_IF_ERROR(chain.Take(row));
    }
    return absl::OkStatus();
  };
  const engine::ScanOptions options{.after = {{schemas::kAuditStream, {}, {}}}, .through = {}};
  RETURN_IF_ERROR(store->journal().Scan(options, take, Deadline::Infinite()));
  RETURN_IF_ERROR(CheckExpected(flags, chain));
  if (format == Format::kJson) {
    out << absl::StrFormat(
        "{\"verified\":true,\"total\":%d,\"records\":%d,\"compacted\":%d,\"head\":\"%s\"}\n",
        chain.total(), chain.covered(), chain.compacted(), chain.head());
  } else {
    out << absl::StrFormat("audit verified: %d entries over %d records, head %s\n", chain.total(),
                           chain.covered(), chain.head().empty() ? "none" : chain.head());
    if (chain.compacted() > 0) {
      out << absl::StrFormat("of %d entries the records were compacted and cannot be compared\n",
                             chain.compacted());
    }
  }
  return absl::OkStatus();
}

}  // namespace api::cli
