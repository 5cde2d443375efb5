// `halo replay`.

#include <algorithm>
#include <charconv>
#include <iostream>
#include <vector>

#include <absl/strings/str_format.h>

#include "api/cli/commands.h"
#include "api/cli/print.h"
#include "api/cli/state_json.h"
#include "engine/base/bytes.h"
#include "engine/base/status_macros.h"
#include "engine/follower.h"
#include "engine/snapshot.h"
#include "projections/all.h"
#include "schemas/streams.h"

namespace api::cli {
namespace {

using engine::Deadline;
using engine::Record;
using engine::StreamView;
using engine::Tx;

// What a fold came to: the streams of both followers, in the order of their numbers.
struct Folded {
  Tx tx{};
  std::vector<StreamView> streams;
};

// Progress goes to standard error, one line about every million rows.
constexpr std::uint64_t kProgressRows = 1'000'000;

absl::StatusOr<Tx> LastTxUntil(engine::Journal& journal, engine::Timestamp time) {
  Tx last{};
  const auto take = [&](std::span<const Record> rows) {
    for (const Record& row : rows) {
      if (row.at <= time) {
        last = std::max(last, row.tx);
      }
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(journal.Scan({.after = FromTheStart(journal.catalogue()), .through = {}}, take,
                               Deadline::Infinite()));
  return last;
}

absl::StatusOr<std::optional<Tx>> ParseUntil(engine::Journal& journal, const std::string& until) {
  if (until.empty()) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  const char* const end = until.data() + until.size();
  if (const auto parsed = std::from_chars(until.data(), end, number);
      parsed.ec == std::errc() && parsed.ptr == end) {
    return Tx{number};
  }
  const auto time = engine::ParseTimestamp(until);
  if (!time.has_value()) {
    return absl::InvalidArgumentError("--until is neither a transaction nor an RFC 3339 time");
  }
  ASSIGN_OR_RETURN(const Tx tx, LastTxUntil(journal, *time));
  return std::optional<Tx>(tx);
}

absl::Status FoldInto(engine::Follower& follower, engine::Journal& journal, std::optional<Tx> until,
                      Folded& folded) {
  std::uint64_t reported = 0;
  const auto progress = [&](std::uint64_t rows) {
    if (rows - reported >= kProgressRows) {
      reported = rows;
      std::cerr << "replaying: " << rows << " rows\n";
    }
  };
  RETURN_IF_ERROR(follower.Replay(journal, until, Deadline::Infinite(), progress));
  const engine::ViewPtr view = follower.view();
  for (const StreamView& stream : view->streams) {
    RETURN_IF_ERROR(stream.health);
    folded.streams.push_back(stream);
  }
  folded.tx = std::max(folded.tx, view->tx);
  return absl::OkStatus();
}

absl::StatusOr<Folded> Fold(engine::Journal& journal, const ReplayFlags& flags) {
  ASSIGN_OR_RETURN(const std::optional<Tx> until, ParseUntil(journal, flags.until));
  Folded folded;
  engine::Follower main(projections::MainProjections());
  RETURN_IF_ERROR(FoldInto(main, journal, until, folded));
  engine::Follower audit(projections::AuditProjections());
  RETURN_IF_ERROR(FoldInto(audit, journal, until, folded));
  std::ranges::sort(folded.streams, {}, &StreamView::stream);
  if (!flags.stream.empty()) {
    std::erase_if(folded.streams, [&](const StreamView& stream) {
      return NameOf(journal.catalogue(), stream.stream) != flags.stream;
    });
    if (folded.streams.empty()) {
      return absl::NotFoundError("there is no projection of stream " + flags.stream);
    }
  }
  return folded;
}

absl::Status Compare(const Folded& here, const Folded& there, const engine::Catalogue& catalogue,
                     const std::string& source) {
  for (const StreamView& ours : here.streams) {
    const auto theirs = std::ranges::find(there.streams, ours.stream, &StreamView::stream);
    if (theirs == there.streams.end() ||
        theirs->image->StateDigest() != ours.image->StateDigest()) {
      return absl::DataLossError(absl::StrFormat("%s folds to another state of stream %s", source,
                                                 NameOf(catalogue, ours.stream)));
    }
  }
  return absl::OkStatus();
}

// A snapshot is of one follower's streams at one transaction: folds the journal up to there.
absl::Status CompareSnapshot(engine::Journal& journal, int file, const std::string& path) {
  ASSIGN_OR_RETURN(const engine::SnapshotReader reader, engine::SnapshotReader::Open(file));
  const engine::SnapshotHeader& header = reader.header();
  const bool audit =
      header.streams.size() == 1 && header.streams.front().cursor.stream == schemas::kAuditStream;
  const auto make = audit ? projections::AuditProjections : projections::MainProjections;
  engine::Follower saved(make());
  RETURN_IF_ERROR(engine::LoadSnapshot(file, saved).status());
  engine::Follower folded(make());
  RETURN_IF_ERROR(folded.Replay(journal, header.tx, Deadline::Infinite()));
  const engine::ViewPtr saved_view = saved.view();
  const engine::ViewPtr folded_view = folded.view();
  for (const StreamView& theirs : saved_view->streams) {
    const StreamView& ours = *folded_view->Find(theirs.stream);
    RETURN_IF_ERROR(ours.health);
    if (ours.position != theirs.position || ours.digest != theirs.digest ||
        ours.image->StateDigest() != theirs.image->StateDigest()) {
      return absl::DataLossError(
          absl::StrFormat("%s is not what the journal folds to: stream %s at transaction %d", path,
                          NameOf(journal.catalogue(), theirs.stream), Raw(header.tx)));
    }
  }
  return absl::OkStatus();
}

absl::Status CompareWith(const ReplayFlags& flags, const Folded& folded, engine::Journal& journal) {
  ASSIGN_OR_RETURN(const std::optional<engine::Fd> snapshot, engine::OpenIfSnapshot(flags.compare));
  if (snapshot.has_value()) {
    return CompareSnapshot(journal, snapshot->get(), flags.compare);
  }
  ASSIGN_OR_RETURN(const auto other, OpenStoreAt(flags.compare, flags.store.insecure_tls));
  ASSIGN_OR_RETURN(const Folded there, Fold(other->journal(), flags));
  return Compare(folded, there, journal.catalogue(), flags.compare);
}

void PrintText(const Folded& folded, const engine::Catalogue& catalogue, bool print,
               std::ostream& out) {
  out << absl::StrFormat("%-24s %12s  %-16s  %s\n", "STREAM", "POSITION", "STATE DIGEST", "FOLD");
  for (const StreamView& stream : folded.streams) {
    out << absl::StrFormat("%-24s %12d  %-16s  %d\n", NameOf(catalogue, stream.stream),
                           Raw(stream.position), engine::ToHex(stream.image->StateDigest()),
                           stream.fold_version);
  }
  out << absl::StrFormat("replayed to transaction %d\n", Raw(folded.tx));
  if (print) {
    for (const StreamView& stream : folded.streams) {
      out << StateJson(stream) << "\n";
    }
  }
}

void PrintJson(const Folded& folded, const engine::Catalogue& catalogue, bool print,
               std::ostream& out) {
  std::string document = absl::StrFormat("{\"tx\":%d,\"projections\":[", Raw(folded.tx));
  const char* separator = "";
  for (const StreamView& stream : folded.streams) {
    document += absl::StrFormat(
        "%s{\"name\":\"%s\",\"position\":%d,\"digest\":\"%s\",\"state_digest\":\"%s\","
        "\"fold_version\":%d",
        separator, NameOf(catalogue, stream.stream), Raw(stream.position),
        engine::ToHex(Raw(stream.digest)), engine::ToHex(stream.image->StateDigest()),
        stream.fold_version);
    if (print) {
      document += ",\"state\":" + StateJson(stream);
    }
    document += "}";
    separator = ",";
  }
  out << document << "]}\n";
}

}  // namespace

absl::Status Replay(const ReplayFlags& flags, Format format, std::ostream& out) {
  ASSIGN_OR_RETURN(const auto store, OpenStore(flags.store));
  const engine::Catalogue& catalogue = store->journal().catalogue();
  ASSIGN_OR_RETURN(const Folded folded, Fold(store->journal(), flags));
  (format == Format::kJson ? PrintJson : PrintText)(folded, catalogue, flags.print, out);
  if (!flags.compare.empty()) {
    RETURN_IF_ERROR(CompareWith(flags, folded, store->journal()));
    if (format == Format::kText) {
      out << flags.compare << " folds to the same state\n";
    }
  }
  return absl::OkStatus();
}

}  // namespace api::cli
