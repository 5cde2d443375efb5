#include "engine/file/recovery.h"

#include <algorithm>

#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/file/contents_reader.h"

namespace engine::file {
namespace {

absl::Status CutOff(const Directory& directory, int fd, const Contents& contents) {
  const std::string name = SegmentName(contents.segments.back());
  if (directory.disk().Truncate(fd, contents.end.offset) != 0) {
    return DiskError("cutting the torn frame off " + name);
  }
  if (directory.disk().Sync(fd) != 0) {
    return SyncError("syncing " + name);
  }
  Log(Severity::kWarning, "cut a torn frame off the journal; it was never acknowledged",
      {{"segment", name},
       {"offset", contents.end.offset},
       {"bytes", contents.torn_bytes},
       {"why", contents.torn_why}});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Contents> ReadContents(const Directory& directory, const Catalogue& catalogue,
                                      const HeadMark& mark, const Floors& floors,
                                      const std::vector<SegmentFacts>& sealed) {
  return ContentsReader(directory, catalogue, mark, floors, sealed).Read();
}

absl::StatusOr<Index> ReadUnread(const Directory& directory, const Catalogue& catalogue,
                                 const UnreadSegment& segment) {
  return ContentsReader(directory, catalogue, {}, *segment.floors, {}).ReadOnly(segment);
}

absl::Status WriteAgain(const Directory& directory, int fd, std::uint64_t begin,
                        std::uint64_t end) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
  std::string bytes;
  for (std::uint64_t offset = begin; offset < end; offset += bytes.size()) {
    bytes.resize(std::min(kChunk, end - offset));
    ASSIGN_OR_RETURN(const std::size_t got, ReadAt(fd, bytes.data(), bytes.size(), offset));
    if (got != bytes.size()) {
      return absl::DataLossError("a file became shorter while it was opened");
    }
    RETURN_IF_ERROR(WriteAll(directory.disk(), fd, bytes, offset));
  }
  if (directory.disk().SyncData(fd) != 0) {
    return SyncError("syncing what was written again");
  }
  return absl::OkStatus();
}

absl::Status MakeDurable(const Directory& directory, const Contents& contents,
                         const HeadMark& mark) {
  const HeadMark& end = contents.end;
  for (const SegmentId& segment : contents.segments) {
    const Tx first = segment.first;
    if (first < mark.segment) {
      continue;
    }
    ASSIGN_OR_RETURN(const Fd file, directory.OpenFile(SegmentName(segment), true));
    const bool last = first == end.segment;
    if (last && contents.torn_bytes > 0) {
      RETURN_IF_ERROR(CutOff(directory, file.get(), contents));
    }
    ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(file.get()));
    const std::uint64_t begin = first == mark.segment ? mark.offset : 0;
    if (begin < size) {
      RETURN_IF_ERROR(WriteAgain(directory, file.get(), begin, size));
    }
  }
  if (end != mark && directory.disk().Sync(directory.fd()) != 0) {
    return SyncError("syncing directory " + directory.path());
  }
  return absl::OkStatus();
}

}  // namespace engine::file
