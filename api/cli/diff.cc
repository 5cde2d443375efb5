// `halo journal diff`.
//
// A row's digest stands for the whole stream up to it, so two streams have the same digest at a
// position exactly when they are the same up to there, and the first difference is found by
// halving. Below a floor rows are missing; the row at the floor is always there and vouches for
// what lies below it.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>

#include "api/cli/commands.h"
#include "api/cli/print.h"
#include "engine/base/status_macros.h"

namespace api::cli {
namespace {

using engine::Deadline;
using engine::Position;
using engine::StreamTail;

struct Source {
  engine::Journal& journal;
  std::vector<StreamTail> tails;

  // Of a stream that is not there: one without records.
  StreamTail TailOf(engine::StreamId stream) const {
    const auto tail = std::ranges::find(tails, stream, &StreamTail::stream);
    if (tail != tails.end()) {
      return *tail;
    }
    StreamTail empty;
    empty.stream = stream;
    return empty;
  }
};

struct Difference {
  Position at{};
  std::string why;
};

struct Compared {
  std::string name;
  StreamTail here;
  StreamTail there;
  std::optional<Difference> difference;
};

absl::StatusOr<engine::Digest> DigestAt(const Source& source, const std::string& name,
                                        engine::StreamId stream, Position position) {
  if (position == Position::kBeforeFirst) {
    return engine::Digest::kEmpty;
  }
  ASSIGN_OR_RETURN(const auto rows,
                   source.journal.ReadStream(stream, position, 1, Deadline::Infinite()));
  if (rows.empty() || rows.front().position != position) {
    return absl::DataLossError(
        absl::StrFormat("stream %s position %d is missing", name, Raw(position)));
  }
  return rows.front().digest;
}

absl::StatusOr<std::optional<Difference>> FirstDifference(const Source& a, const Source& b,
                                                          const Compared& stream) {
  const StreamTail& here = stream.here;
  const StreamTail& there = stream.there;
  if (here.position == there.position && here.digest == there.digest) {
    return std::nullopt;
  }
  const auto same_at = [&](Position position) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const auto left, DigestAt(a, stream.name, here.stream, position));
    ASSIGN_OR_RETURN(const auto right, DigestAt(b, stream.name, here.stream, position));
    return left == right;
  };
  Position same = std::max(here.floor.position, there.floor.position);
  const Position end = std::min(here.position, there.position);
  if (end < same) {
    return Difference{end, "one ends where the other is compacted: what differs cannot be told"};
  }
  ASSIGN_OR_RETURN(const bool floor_is_same, same_at(same));
  if (!floor_is_same) {
    return Difference{same, "at or below the floor"};
  }
  ASSIGN_OR_RETURN(const bool end_is_same, same_at(end));
  if (end_is_same) {
    return Difference{Next(end), here.position < there.position ? "it ends before the other"
                                                                : "the other ends before it"};
  }
  Position different = end;
  while (Next(same) < different) {
    const Position middle{Raw(same) + (Raw(different) - Raw(same)) / 2};
    ASSIGN_OR_RETURN(const bool is_same, same_at(middle));
    (is_same ? same : different) = middle;
  }
  return Difference{different, "another record"};
}

void PrintText(const std::vector<Compared>& streams, std::ostream& out) {
  out << absl::StrFormat("%-24s %12s %12s  %s\n", "STREAM", "HEAD", "OTHER HEAD", "DIFFERS");
  for (const Compared& stream : streams) {
    const std::string differs =
        stream.difference.has_value()
            ? absl::StrFormat("at %d: %s", Raw(stream.difference->at), stream.difference->why)
            : "no";
    out << absl::StrFormat("%-24s %12d %12d  %s\n", stream.name, Raw(stream.here.position),
                           Raw(stream.there.position), differs);
  }
}

void PrintJson(const std::vector<Compared>& streams, bool same, std::ostream& out) {
  std::string document = absl::StrFormat("{\"same\":%s,\"streams\":[", same ? "true" : "false");
  const char* separator = "";
  for (const Compared& stream : streams) {
    document += absl::StrFormat("%s{\"name\":\"%s\",\"head\":%d,\"other_head\":%d", separator,
                                stream.name, Raw(stream.here.position), Raw(stream.there.position));
    if (stream.difference.has_value()) {
      document += absl::StrFormat(",\"differs_at\":%d,\"why\":\"%s\"", Raw(stream.difference->at),
                                  stream.difference->why);
    }
    document += "}";
    separator = ",";
  }
  out << document << "]}\n";
}

absl::StatusOr<std::vector<Compared>> Compare(const Source& here, const Source& there) {
  // Either may know streams that the other does not.
  engine::Catalogue catalogue = here.journal.catalogue();
  for (const engine::StreamSpec& spec : there.journal.catalogue()) {
    if (std::ranges::find(catalogue, spec.id, &engine::StreamSpec::id) == catalogue.end()) {
      catalogue.push_back(spec);
    }
  }
  std::vector<Compared> streams;
  for (const engine::StreamSpec& spec : catalogue) {
    Compared& stream = streams.emplace_back(
        Compared{spec.name, here.TailOf(spec.id), there.TailOf(spec.id), std::nullopt});
    ASSIGN_OR_RETURN(stream.difference, FirstDifference(here, there, stream));
  }
  return streams;
}

}  // namespace

absl::Status JournalDiff(const DiffFlags& flags, Format format, std::ostream& out) {
  if (flags.compare.empty()) {
    return absl::InvalidArgumentError("--compare names no second journal");
  }
  ASSIGN_OR_RETURN(const auto store, OpenStore(flags.store));
  ASSIGN_OR_RETURN(const auto other, OpenStoreAt(flags.compare, flags.store.insecure_tls));
  ASSIGN_OR_RETURN(auto tails, store->journal().Tails(Deadline::Infinite()));
  ASSIGN_OR_RETURN(auto other_tails, other->journal().Tails(Deadline::Infinite()));
  ASSIGN_OR_RETURN(
      const std::vector<Compared> streams,
      Compare({store->journal(), std::move(tails)}, {other->journal(), std::move(other_tails)}));
  const auto differs = [](const Compared& stream) { return stream.difference.has_value(); };
  const auto first = std::ranges::find_if(streams, differs);
  if (format == Format::kText) {
    PrintText(streams, out);
  } else {
    PrintJson(streams, first == streams.end(), out);
  }
  return first == streams.end()
             ? absl::OkStatus()
             : absl::AbortedError(absl::StrFormat("the journals differ: stream %s at position %d",
                                                  first->name, Raw(first->difference->at)));
}

}  // namespace api::cli
