#include "api/control/audit_page.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/audit_chain.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/audit.h"

namespace api {
namespace {

constexpr std::size_t kMaxLimit = 500;
constexpr std::uint64_t kChunk = 256;  // Entries read at once.

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

struct Entry {
  std::uint64_t seq = 0;
  engine::Payload payload;
};
using Entries = std::vector<Entry>;

// Reads ranges of the chain, from memory where they are there.
class ChainReader {
 public:
  ChainReader(const projections::AuditTrail& trail, engine::Journal& journal,
              engine::Deadline deadline)
      : trail_(trail), journal_(journal), deadline_(deadline) {
    const auto begin = trail.recent().begin();
    oldest_ = begin == trail.recent().end() ? trail.total() + 1 : engine::Raw((*begin).seq);
  }

  // The entries `first` to `last`. kDataLoss names the first bad one.
  absl::StatusOr<Entries> Read(std::uint64_t first, std::uint64_t last) {
    Entries entries;
    while (first <= last && first < oldest_) {
      const std::uint64_t end = std::min(last, oldest_ - 1);
      RETURN_IF_ERROR(ReadStored(first, end, entries));
      first = entries.back().seq + 1;
    }
    if (first > last) {
      return entries;
    }
    auto entry = trail_.recent().LowerBound(engine::Position{first});
    for (; entry != trail_.recent().end() && engine::Raw((*entry).seq) <= last; ++entry) {
      entries.push_back({engine::Raw((*entry).seq), (*entry).payload});
    }
    return entries;
  }

 private:
  absl::Status ReadStored(std::uint64_t first, std::uint64_t last, Entries& entries) {
    const int count = static_cast<int>(std::min(last - first + 1, kChunk));
    auto rows = journal_.ReadStream(projections::AuditTrail::kStream, engine::Position{first},
                                    count, deadline_);
    if (absl::IsDataLoss(rows.status()) && count > 1) {
      // One by one, so that the bad one can be named.
      rows = journal_.ReadStream(projections::AuditTrail::kStream, engine::Position{first}, 1,
                                 deadline_);
    }
    if (absl::IsDataLoss(rows.status())) {
      return Bad(first, "the stored row is damaged");
    }
    RETURN_IF_ERROR(rows.status());
    if (rows->empty()) {
      return Bad(first, "the entry is missing");
    }
    for (const engine::Record& row : *rows) {
      RETURN_IF_ERROR(Check(row));
      entries.push_back({engine::Raw(row.position), row.payload});
    }
    return absl::OkStatus();
  }

  absl::Status Check(const engine::Record& row) {
    const std::uint64_t seq = engine::Raw(row.position);
    const auto entry = engine::DecodeAuditEntry(row.payload.view());
    if (!entry.ok() || entry->seq != row.position) {
      return Bad(seq, "the stored bytes are not this entry");
    }
    hashes_[seq] = engine::AuditHash(row.payload.view());
    prevs_[seq] = entry->prev;
    if (seq + 1 == oldest_) {
      // The first one in memory was verified; it names its predecessor.
      const auto next = engine::DecodeAuditEntry((*trail_.recent().begin()).payload.view());
      prevs_[oldest_] = next.ok() ? next->prev : "";
    }
    RETURN_IF_ERROR(CheckLink(seq - 1));
    return CheckLink(seq);
  }

  // Whether `seq` is the entry that the next one names, as far as both have been read.
  absl::Status CheckLink(std::uint64_t seq) {
    const auto hash = hashes_.find(seq);
    const auto prev = prevs_.find(seq + 1);
    if (hash == hashes_.end() || prev == prevs_.end() ||
        GUARD("audit.page-chain", hash->second == prev->second)) {
      return absl::OkStatus();
    }
    return Bad(seq, "its hash is not what the next entry names");
  }

  static absl::Status Bad(std::uint64_t seq, std::string_view what) {
    return absl::DataLossError(absl::StrFormat("seq %d: %s", seq, what));
  }

  const projections::AuditTrail& trail_;
  engine::Journal& journal_;
  const engine::Deadline deadline_;
  std::uint64_t oldest_;  // In memory.
  std::map<std::uint64_t, std::string> hashes_;
  std::map<std::uint64_t, std::string> prevs_;
};

bool Matches(const AuditQuery& query, const Entry& entry) {
  if (!query.actor && !query.action) {
    return true;
  }
  const auto decoded = engine::DecodeAuditEntry(entry.payload.view());
  return decoded.ok() && (!query.actor || decoded->what.actor == *query.actor) &&
         (!query.action || decoded->what.action == *query.action);
}

// The last entry at or before `time`; 0 when there is none. Times never fall.
absl::StatusOr<std::uint64_t> LastAt(engine::Timestamp time, std::uint64_t total,
                                     ChainReader& reader) {
  std::uint64_t before = 0;
  std::uint64_t after = total + 1;
  while (before + 1 < after) {
    const std::uint64_t middle = before + (after - before) / 2;
    ASSIGN_OR_RETURN(const Entries one, reader.Read(middle, middle));
    ASSIGN_OR_RETURN(const engine::AuditEntry entry,
                     engine::DecodeAuditEntry(one.front().payload.view()));
    (entry.time > time ? after : before) = middle;
  }
  return before;
}

absl::Status ReadForward(const AuditQuery& query, std::uint64_t since, ChainReader& reader,
                         AuditPage& page) {
  page.next = since;
  if (since >= page.total) {
    return absl::OkStatus();  // Also the greatest number, which has no successor.
  }
  for (std::uint64_t first = since + 1; first <= page.total; first += kChunk) {
    ASSIGN_OR_RETURN(const Entries entries,
                     reader.Read(first, std::min(first + kChunk - 1, page.total)));
    for (const Entry& entry : entries) {
      if (!Matches(query, entry)) {
        continue;
      }
      page.entries.push_back(entry.payload);
      page.next = entry.seq;
      if (page.entries.size() == query.limit) {
        return absl::OkStatus();
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ReadNewest(const AuditQuery& query, ChainReader& reader, AuditPage& page) {
  absl::Status read;
  std::uint64_t last = page.total;
  while (last > 0 && page.entries.size() < query.limit) {
    const std::uint64_t want = query.actor || query.action ? kChunk : query.limit;
    const std::uint64_t first = last > want ? last - want + 1 : 1;
    auto entries = reader.Read(first, last);
    if (!entries.ok()) {
      read = entries.status();
      break;
    }
    for (auto entry = entries->rbegin(); entry != entries->rend(); ++entry) {
      if (page.entries.size() < query.limit && Matches(query, *entry)) {
        page.next = std::max(page.next, entry->seq);
        page.entries.push_back(entry->payload);
      }
    }
    last = first - 1;
  }
  std::ranges::reverse(page.entries);
  return read;
}

absl::Status ReadEntries(const AuditQuery& query, ChainReader& reader, AuditPage& page) {
  if (!query.since) {
    return ReadNewest(query, reader, page);
  }
  if (const auto* seq = std::get_if<std::uint64_t>(&*query.since)) {
    return ReadForward(query, *seq, reader, page);
  }
  ASSIGN_OR_RETURN(const std::uint64_t since,
                   LastAt(std::get<engine::Timestamp>(*query.since), page.total, reader));
  return ReadForward(query, since, reader, page);
}

}  // namespace

absl::StatusOr<AuditQuery> ParseAuditQuery(const Request& request) {
  AuditQuery query;
  if (const auto limit = request.Query("limit")) {
    const auto number = ParseNumber(*limit);
    if (!number || *number < 1 || *number > kMaxLimit) {
      return absl::InvalidArgumentError("limit must be 1 to 500");
    }
    query.limit = *number;
  }
  if (const auto since = request.Query("since")) {
    const auto seq = ParseNumber(*since);
    const auto time = engine::ParseTimestamp(*since);
    if (!seq && !time) {
      return absl::InvalidArgumentError("since must be a seq or an RFC 3339 time");
    }
    if (seq) {
      query.since = *seq;
    } else {
      query.since = *time;
    }
  }
  const auto exact = [&request](std::string_view name) -> std::optional<std::string> {
    const auto value = request.Query(name);
    return value && !value->empty() ? std::optional<std::string>(*value) : std::nullopt;
  };
  query.actor = exact("actor");
  query.action = exact("action");
  return query;
}

absl::StatusOr<AuditPage> ReadAuditPage(const AuditQuery& query, const engine::StreamView& audit,
                                        engine::Journal& journal, engine::Deadline deadline) {
  const auto& trail = static_cast<const projections::AuditTrail&>(*audit.image);
  AuditPage page;
  page.total = trail.total();
  page.head = trail.head();
  if (!audit.health.ok()) {
    page.verify_error =
        absl::StrFormat("seq %d: %s", engine::Raw(engine::Next(audit.position)),
                        std::string(audit.health.message().data(), audit.health.message().size()));
  }
  ChainReader reader(trail, journal, deadline);
  const absl::Status read = ReadEntries(query, reader, page);
  if (!absl::IsDataLoss(read)) {
    RETURN_IF_ERROR(read);
  } else if (page.verify_error.empty() || !page.entries.empty()) {
    page.verify_error = std::string(read.message().data(), read.message().size());
  }
  return page;
}

}  // namespace api
