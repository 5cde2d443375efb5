#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"
#include "engine/file/directory.h"
#include "engine/file/file.h"
#include "engine/file/floors.h"
#include "engine/file/format.h"
#include "engine/file/head_file.h"
#include "engine/file/journal.h"
#include "engine/file/recovery.h"
#include "engine/file/sealed.h"
#include "engine/file/segment_log.h"
#include "engine/file/state_log.h"

namespace engine::file {
namespace {

constexpr char kStreamsName[] = "streams";
constexpr std::uint64_t kMinSegmentBytes = std::uint64_t{4} << 10;
// Offsets are kept in 32 bits, and the last frame may reach over the size by its own.
constexpr std::uint64_t kMaxSegmentBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMaxStreamsBytes = std::size_t{1} << 20;

absl::StatusOr<Catalogue> ReadStreams(const Directory& directory) {
  ASSIGN_OR_RETURN(const std::string bytes, directory.ReadFile(kStreamsName, kMaxStreamsBytes));
  absl::StatusOr<Catalogue> streams = DecodeStreams(bytes);
  if (!streams.ok()) {
    return ErrorAt(directory.path() + "/" + kStreamsName, 0, streams.status());
  }
  return streams;
}

// The stored streams and the program's together. A stream that only the store knows stays: its
// rows are part of the journal.
absl::StatusOr<Catalogue> Merge(Catalogue stored, const Catalogue& wanted) {
  for (const StreamSpec& spec : wanted) {
    const auto same_id = std::ranges::find(stored, spec.id, &StreamSpec::id);
    const auto same_name = std::ranges::find(stored, spec.name, &StreamSpec::name);
    if (same_id != same_name) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "stream %d is called %s here, but not in the data directory", Raw(spec.id), spec.name));
    }
    if (same_id == stored.end()) {
      stored.push_back(spec);
    } else {
      *same_id = spec;
    }
  }
  std::ranges::sort(stored, {}, &StreamSpec::id);
  return stored;
}

absl::StatusOr<Catalogue> SettleStreams(const Directory& directory, const Catalogue& wanted) {
  absl::StatusOr<Catalogue> stored = ReadStreams(directory);
  if (absl::IsNotFound(stored.status())) {
    stored = Catalogue();
  }
  RETURN_IF_ERROR(stored.status());
  ASSIGN_OR_RETURN(Catalogue merged, Merge(*stored, wanted));
  if (merged.size() != stored->size()) {
    RETURN_IF_ERROR(directory.Replace(kStreamsName, EncodeStreams(merged)).status());
  }
  return merged;
}

absl::Status Missing(const Directory& directory, const std::string& name) {
  return absl::DataLossError(
      absl::StrFormat("%s/%s at byte 0: the file is missing", directory.path(), name));
}

// Without a list of streams or a head mark there may be no segment: they are made first.
absl::Status CheckComplete(const Directory& directory) {
  ASSIGN_OR_RETURN(const std::vector<SegmentId> segments, directory.Segments());
  for (const char* name : {kStreamsName, "head"}) {
    if (!segments.empty() && absl::IsNotFound(directory.OpenFile(name, false).status())) {
      return Missing(directory, name);
    }
  }
  return absl::OkStatus();
}

// Likewise. Leases and short-lived facts that are gone would let twice happen what may happen once.
absl::Status CheckState(const Directory& directory) {
  ASSIGN_OR_RETURN(const std::vector<SegmentId> segments, directory.Segments());
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> states, directory.States());
  if (!GUARD("file.state-present", segments.empty() || !states.empty())) {
    return Missing(directory, "state-*");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<HeadFile>> OpenHead(const Directory& directory) {
  absl::StatusOr<std::unique_ptr<HeadFile>> head = HeadFile::Open(directory);
  if (absl::IsNotFound(head.status())) {
    head = HeadFile::Create(directory, HeadMark{.segment = Next(Tx::kBeforeFirst),
                                                .offset = kSegmentHeaderBytes,
                                                .tx = Tx::kBeforeFirst,
                                                .digest = FrameDigest::kNone});
  }
  return head;
}

absl::StatusOr<Contents> OpenContents(const Directory& directory, const Catalogue& catalogue,
                                      HeadFile& head) {
  ASSIGN_OR_RETURN(const HeadMark mark, ReadHeadMark(directory));
  ASSIGN_OR_RETURN(const Floors floors, Floors::Read(directory));
  ASSIGN_OR_RETURN(Contents contents,
                   ReadContents(directory, catalogue, mark, floors, ReadSealed(directory)));
  RETURN_IF_ERROR(MakeDurable(directory, contents, mark));
  RETURN_IF_ERROR(head.Write(contents.end));
  return contents;
}

// A process that compacts meanwhile replaces the floors and segments; then all is read again.
absl::StatusOr<Contents> ReadUndisturbed(const Directory& directory, const Catalogue& catalogue) {
  constexpr int kAttempts = 20;
  absl::StatusOr<Contents> contents = absl::UnavailableError("");
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // The mark before the segments: a process that writes meanwhile moves it only forward.
    ASSIGN_OR_RETURN(const HeadMark mark, ReadHeadMark(directory));
    ASSIGN_OR_RETURN(const Floors floors, Floors::Read(directory));
    ASSIGN_OR_RETURN(const std::vector<SegmentId> segments, directory.Segments());
    contents = ReadContents(directory, catalogue, mark, floors);
    ASSIGN_OR_RETURN(const Floors floors_now, Floors::Read(directory));
    ASSIGN_OR_RETURN(std::vector<SegmentId> segments_now, directory.Segments());
    segments_now.resize(std::min(segments.size(), segments_now.size()));
    if (contents.ok() || (floors_now == floors && segments_now == segments)) {
      break;
    }
  }
  return contents;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> Open(const Catalogue& catalogue, Options options) {
  if (options.segment_bytes < kMinSegmentBytes || options.segment_bytes > kMaxSegmentBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a segment must have %d to %d bytes", kMinSegmentBytes, kMaxSegmentBytes));
  }
  Disk& disk = options.disk != nullptr ? *options.disk : SystemDisk();
  ASSIGN_OR_RETURN(Directory opened, Directory::OpenForWriting(options.dir, disk));
  auto directory = std::make_unique<Directory>(std::move(opened));
  RETURN_IF_ERROR(CheckComplete(*directory));
  RETURN_IF_ERROR(CheckState(*directory));
  ASSIGN_OR_RETURN(Catalogue merged, SettleStreams(*directory, catalogue));
  Writing writing;
  ASSIGN_OR_RETURN(writing.head, OpenHead(*directory));
  ASSIGN_OR_RETURN(Contents contents, OpenContents(*directory, merged, *writing.head));
  // Before the first segment: see CheckState.
  ASSIGN_OR_RETURN(writing.rows,
                   StateLog::Open(*directory, {.clock = options.clock,
                                               .random = options.random,
                                               .rewrite_bytes = options.state_bytes}));
  ASSIGN_OR_RETURN(writing.log, SegmentLog::Open(*directory, *writing.head, contents,
                                                 {options.segment_bytes, options.random}));
  auto journal =
      std::make_unique<FileJournal>(std::move(directory), std::move(merged), std::move(contents),
                                    std::move(writing), std::move(options));
  RETURN_IF_ERROR(journal->ReadLastPayloads());
  return journal;
}

absl::StatusOr<std::unique_ptr<Engine>> OpenReadOnly(const std::string& dir) {
  ASSIGN_OR_RETURN(Directory opened, Directory::OpenForReading(dir));
  auto directory = std::make_unique<Directory>(std::move(opened));
  RETURN_IF_ERROR(CheckComplete(*directory));
  ASSIGN_OR_RETURN(Catalogue catalogue, ReadStreams(*directory));
  ASSIGN_OR_RETURN(Contents contents, ReadUndisturbed(*directory, catalogue));
  if (contents.torn_bytes > 0) {
    Log(Severity::kInfo, "the last frame is torn, or is being written; it is left out",
        {{"segment", SegmentName(contents.end.segment)},
         {"offset", contents.end.offset},
         {"bytes", contents.torn_bytes},
         {"why", contents.torn_why}});
  }
  auto journal = std::make_unique<FileJournal>(std::move(directory), std::move(catalogue),
                                               std::move(contents), Writing{}, Options{});
  RETURN_IF_ERROR(journal->ReadLastPayloads());
  return journal;
}

}  // namespace engine::file
