#include "engine/file/frame_reader.h"

#include <algorithm>
#include <cstring>

#include "engine/base/bytes.h"
#include "engine/base/disk.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"

namespace engine::file {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

}  // namespace

absl::StatusOr<SegmentHeader> ReadSegmentHeader(int fd, const std::string& name, FrameType type) {
  std::string bytes(kSegmentHeaderBytes, '\0');
  ASSIGN_OR_RETURN(const std::size_t got, ReadAt(fd, bytes.data(), bytes.size(), 0));
  bytes.resize(got);
  absl::StatusOr<SegmentHeader> header = DecodeSegmentHeader(bytes, type);
  if (!header.ok()) {
    // Only the version is wrong, or all of it.
    const std::uint64_t offset = absl::IsFailedPrecondition(header.status()) ? 8 : 0;
    return ErrorAt(name, offset, header.status());
  }
  return header;
}

FrameReader::FrameReader(int fd, std::uint64_t marker, std::uint64_t begin, std::uint64_t end,
                         FrameType type)
    : fd_(fd),
      type_(type),
      marker_(marker),
      end_(end),
      offset_(begin),
      next_(begin),
      buffer_offset_(begin) {}

absl::StatusOr<std::string_view> FrameReader::Look(std::size_t size) {
  std::size_t used = static_cast<std::size_t>(next_ - buffer_offset_);
  const std::uint64_t left = end_ - next_;
  if (buffered_ - used < size && buffered_ - used < left) {
    buffered_ -= used;
    std::memmove(buffer_.data(), buffer_.data() + used, buffered_);
    buffer_offset_ = next_;
    used = 0;
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(left, std::max(size, kReadBytes)));
    buffer_.resize(std::max(buffer_.size(), wanted));
    ASSIGN_OR_RETURN(const std::size_t got, ReadAt(fd_, buffer_.data() + buffered_,
                                                   wanted - buffered_, buffer_offset_ + buffered_));
    buffered_ += got;
  }
  return std::string_view(buffer_.data() + used, buffered_ - used);
}

absl::StatusOr<std::optional<Frame>> FrameReader::Next() {
  offset_ = next_;
  if (next_ == end_) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(std::string_view bytes, Look(kFrameHeaderBytes));
  if (bytes.size() >= kFrameHeaderBytes) {
    ASSIGN_OR_RETURN(bytes, Look(std::max<std::size_t>(ClaimedLength(marker_, bytes), 1)));
  }
  ASSIGN_OR_RETURN(const Frame frame, DecodeFrame(marker_, bytes, type_));
  next_ = offset_ + frame.length;
  return frame;
}

absl::StatusOr<bool> LaterFrameFollows(int fd, std::uint64_t marker, std::uint64_t begin,
                                       std::uint64_t end, Tx last, FrameType type) {
  std::string bytes(end - begin, '\0');
  ASSIGN_OR_RETURN(const std::size_t got, ReadAt(fd, bytes.data(), bytes.size(), begin));
  bytes.resize(got);
  std::string start;
  AppendU64(marker, start);
  for (std::size_t at = bytes.find(start, 1); at != std::string::npos;
       at = bytes.find(start, at + 1)) {
    const absl::StatusOr<Frame> frame =
        DecodeFrame(marker, std::string_view(bytes).substr(at), type);
    if (frame.ok() && frame->tx > last) {
      return true;
    }
  }
  return false;
}

}  // namespace engine::file
