#include "engine/compactor.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

absl::Status Damage(const Record& row, std::string_view what) {
  return absl::DataLossError(
      absl::StrFormat("stream %d position %d: %s", Raw(row.stream), Raw(row.position), what));
}

bool IsTombstone(const Record& row) {
  return (row.flags & kTombstone) != 0;
}

absl::Status CheckFollows(const Record& row, Position before, Digest digest) {
  if (row.position != Next(before)) {
    return Damage(row, absl::StrFormat("position %d was expected", Raw(Next(before))));
  }
  if (!GUARD("compactor.checksum", row.checksum == RowChecksum(row))) {
    return Damage(row, "the checksum does not fit the row");
  }
  if (!GUARD("compactor.digest", row.digest == ChainDigest(digest, row.checksum))) {
    return Damage(row, "the digest does not continue the rows before");
  }
  if (row.previous >= row.position) {
    return Damage(row, "previous is not before it");
  }
  return absl::OkStatus();
}

// `12h`, `30d`. Empty when it is no positive number of those.
std::optional<Duration> ParseAge(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  constexpr std::int64_t kMost = 36'500;  // A hundred years of days.
  if (parsed.ec != std::errc() || parsed.ptr + 1 != end || number <= 0 || number > kMost) {
    return std::nullopt;
  }
  switch (*parsed.ptr) {
    case 'd':
      return std::chrono::hours(24) * number;
    case 'h':
      return std::chrono::hours(number);
    case 'm':
      return std::chrono::minutes(number);
    case 's':
      return std::chrono::seconds(number);
    default:
      return std::nullopt;
  }
}

bool MayBeCompacted(const StreamSpec& spec) {
  return spec.keyed && !spec.chained;
}

absl::Status ReadRetention(const Catalogue& catalogue, std::string_view item,
                           std::set<StreamId>& named, Retentions& retentions) {
  const std::size_t equals = std::min(item.find('='), item.size());
  const std::string_view name = item.substr(0, equals);
  const std::string_view age = item.substr(std::min(equals + 1, item.size()));
  const auto spec = std::ranges::find(catalogue, name, &StreamSpec::name);
  if (spec == catalogue.end()) {
    return absl::InvalidArgumentError(absl::StrFormat("there is no stream \"%s\"", name));
  }
  if (!MayBeCompacted(*spec)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("stream %s is never compacted: it keeps every record", name));
  }
  if (!named.insert(spec->id).second) {
    return absl::InvalidArgumentError(absl::StrFormat("stream %s is there twice", name));
  }
  if (age == "never") {
    retentions.erase(spec->id);
    return absl::OkStatus();
  }
  const std::optional<Duration> parsed = ParseAge(age);
  if (!parsed.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("\"%s\" is no age like 30d, 12h, 15m, 90s or never", age));
  }
  retentions[spec->id] = *parsed;
  return absl::OkStatus();
}

}  // namespace

struct Compactor::Reach {
  Timestamp before;  // Rows that are not younger, and
  Position last;     // not behind this one.
  std::function<bool()> go_on;
  Duration patience;
};

Retentions DefaultRetentions(const Catalogue& catalogue) {
  Retentions retentions;
  for (const StreamSpec& spec : catalogue) {
    if (MayBeCompacted(spec) && spec.retention > Duration::zero()) {
      retentions[spec.id] = spec.retention;
    }
  }
  return retentions;
}

absl::StatusOr<Retentions> ParseRetentions(const Catalogue& catalogue, std::string_view text) {
  Retentions retentions = DefaultRetentions(catalogue);
  std::set<StreamId> named;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    RETURN_IF_ERROR(ReadRetention(catalogue, text.substr(0, comma), named, retentions));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return retentions;
}

absl::StatusOr<CompactionStep> PlanCompaction(const Floor& from, const Record* at_floor,
                                              std::span<const Record> rows) {
  CompactionStep step{.stream = rows.front().stream,
                      .from = from,
                      .to = rows.back().position,
                      .digest = rows.back().digest,
                      .rows = rows.size(),
                      .sum = 0,
                      .remove = {}};
  Position before = from.position;
  Digest digest = from.digest;
  // It stayed only because the row at the floor always does.
  if (at_floor != nullptr && IsTombstone(*at_floor)) {
    step.remove.push_back({at_floor->position, at_floor->key});
  }
  for (const Record& row : rows) {
    RETURN_IF_ERROR(CheckFollows(row, before, digest));
    before = row.position;
    digest = row.digest;
    step.sum += row.checksum;
    if (row.previous != Position::kBeforeFirst) {
      step.remove.push_back({row.previous, row.key});
    }
    if (IsTombstone(row) && GUARD("compactor.floor-row", row.position != step.to)) {
      step.remove.push_back({row.position, row.key});
    }
  }
  std::ranges::sort(step.remove, {}, &RowKey::position);
  const auto doubled = std::ranges::unique(step.remove, {}, &RowKey::position);
  step.remove.erase(doubled.begin(), doubled.end());
  return step;
}

absl::StatusOr<CompactionReport> Compactor::Run(const std::function<bool()>& go_on,
                                                Duration patience) {
  CompactionReport report;
  if (options_.retentions.empty() || !go_on()) {
    return report;
  }
  LockedState state;
  {
    // Under the lock for a moment: only there the store tells its time.
    const Deadline deadline = Deadline::After(patience);
    ASSIGN_OR_RETURN(const auto transaction, journal_.Begin(deadline));
    ASSIGN_OR_RETURN(state, transaction->Read({}));
  }
  for (const StreamTail& tail : state.tails) {
    const auto retention = options_.retentions.find(tail.stream);
    if (retention == options_.retentions.end()) {
      continue;
    }
    const Timestamp before{
        state.now.micros -
        std::chrono::duration_cast<std::chrono::microseconds>(retention->second).count()};
    // The last row of a stream stays above the floor.
    const Position last{Raw(tail.position) - std::min<std::uint64_t>(Raw(tail.position), 1)};
    absl::Status status = CompactStream(tail, {before, last, go_on, patience}, report);
    if (absl::IsDataLoss(status)) {
      Log(Severity::kError, "a damaged stream is not compacted", {{"why", status.ToString()}});
      report.damaged.push_back(tail.stream);
    } else if (!status.ok() && !absl::IsAborted(status)) {
      return status;
    }
  }
  return report;
}

absl::StatusOr<CompactionReport> Compactor::RaiseTo(StreamId stream, Position to,
                                                    Duration patience) {
  ASSIGN_OR_RETURN(const std::vector<StreamTail> tails, journal_.Tails(Deadline::After(patience)));
  const auto tail = std::ranges::find(tails, stream, &StreamTail::stream);
  const auto spec = std::ranges::find(journal_.catalogue(), stream, &StreamSpec::id);
  if (tail == tails.end() || spec == journal_.catalogue().end() || !MayBeCompacted(*spec)) {
    return absl::InvalidArgumentError("that stream is never compacted: it keeps every record");
  }
  if (to >= tail->position) {
    return absl::InvalidArgumentError(absl::StrFormat("stream %s ends at %d: its last record stays",
                                                      spec->name, Raw(tail->position)));
  }
  CompactionReport report;
  const Timestamp forever{std::numeric_limits<std::int64_t>::max()};
  RETURN_IF_ERROR(CompactStream(*tail, {forever, to, [] { return true; }, patience}, report));
  return report;
}

absl::Status Compactor::CompactStream(StreamTail tail, const Reach& reach,
                                      CompactionReport& report) {
  bool more = true;
  while (more && reach.go_on()) {
    ASSIGN_OR_RETURN(more, Step(tail, reach, report));
  }
  return absl::OkStatus();
}

// False when nothing is left within reach.
absl::StatusOr<bool> Compactor::Step(StreamTail& tail, const Reach& reach,
                                     CompactionReport& report) {
  const bool compacted = tail.floor.position != Position::kBeforeFirst;
  // The row at the floor comes along.
  ASSIGN_OR_RETURN(const std::vector<Record> rows,
                   journal_.ReadStream(tail.stream, tail.floor.position,
                                       options_.rows_a_step + (compacted ? 1 : 0),
                                       Deadline::After(reach.patience)));
  if (compacted && (rows.empty() || rows.front().position != tail.floor.position)) {
    return absl::DataLossError(
        absl::StrFormat("stream %d position %d: the row at the floor is gone", Raw(tail.stream),
                        Raw(tail.floor.position)));
  }
  const auto first = rows.begin() + (compacted ? 1 : 0);
  const auto end = std::find_if(first, rows.end(), [&reach](const Record& row) {
    return !GUARD("compactor.retention", row.at <= reach.before) || row.position > reach.last;
  });
  if (first == end) {
    return false;
  }
  ASSIGN_OR_RETURN(const CompactionStep step,
                   PlanCompaction(tail.floor, compacted ? &rows.front() : nullptr,
                                  std::span<const Record>(first, end)));
  ASSIGN_OR_RETURN(tail.floor, journal_.Compact(step, Deadline::After(reach.patience)));
  ++report.steps;
  report.passed += step.rows;
  report.removed += step.remove.size();
  return true;
}

}  // namespace engine
