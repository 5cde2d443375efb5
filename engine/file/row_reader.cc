#include "engine/file/row_reader.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"

namespace engine::file {
namespace {

constexpr std::size_t kMaxReadBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxRowBytes =
    kRowHeaderBytes + kRowFixedBytes + kMaxKeyBytes + kMaxRecordBytes;
constexpr std::size_t kPlacesAtOnce = 1024;

}  // namespace

absl::StatusOr<std::string_view> RowReader::Look(std::uint64_t offset, std::size_t size) {
  const bool inside = offset >= buffer_offset_ && offset + size <= buffer_offset_ + buffered_;
  if (!inside) {
    const std::size_t wanted = std::max(size, read_bytes_);
    read_bytes_ = std::min(kMaxReadBytes, read_bytes_ * 2);
    buffer_.resize(std::max(buffer_.size(), wanted));
    ASSIGN_OR_RETURN(buffered_, ReadAt(file_.get(), buffer_.data(), wanted, offset));
    buffer_offset_ = offset;
  }
  const std::size_t at = static_cast<std::size_t>(offset - buffer_offset_);
  return std::string_view(buffer_.data() + at, std::min(size, buffered_ - at));
}

absl::StatusOr<RowView> RowReader::Read(Place where) {
  if (where.segment != segment_) {
    ASSIGN_OR_RETURN(file_, directory_.OpenFile(SegmentName(where.segment), false));
    segment_ = where.segment;
    buffered_ = 0;
  }
  const auto damage = [&](const char* why) {
    return DamageAt(SegmentName(where.segment), where.offset, why);
  };
  std::size_t size = 0;
  std::string_view bytes;
  // Twice for the lengths of key and payload, then the whole.
  for (std::size_t wanted = RowSize({}); wanted != size; wanted = RowSize(bytes)) {
    if (wanted > kMaxRowBytes) {
      return damage("the row's length is impossible");
    }
    size = wanted;
    ASSIGN_OR_RETURN(bytes, Look(where.offset, size));
    if (bytes.size() < size) {
      return damage("the row is cut off");
    }
  }
  const std::optional<RowView> row = DecodeRow(bytes);
  if (!row.has_value() || !RowIntact(*row)) {
    return damage("the row's checksum is wrong");
  }
  return *row;
}

StreamReader::StreamReader(const Directory& directory, StreamId stream, Position from,
                           Position through, Gaps gaps, FindPlaces find)
    : stream_(stream),
      through_(through),
      gaps_(gaps),
      find_(std::move(find)),
      rows_(directory),
      next_(from) {}

absl::Status StreamReader::Damage(std::string_view why) const {
  return absl::DataLossError(
      absl::StrFormat("stream %d position %d: %s", Raw(stream_), Raw(next_), why));
}

// From `next_` on. To find them a segment may have to be read, and can be damaged.
absl::StatusOr<std::vector<Place>> StreamReader::Find(std::size_t limit) const {
  absl::StatusOr<std::vector<Place>> places = find_(next_, limit);
  if (absl::IsDataLoss(places.status())) {
    return Damage(MessageOf(places.status()));
  }
  return places;
}

// The next row that there is; `next_` is its position then.
absl::StatusOr<std::optional<RowView>> StreamReader::ReadNext() {
  if (places_.empty()) {
    ASSIGN_OR_RETURN(const std::vector<Place> places, Find(kPlacesAtOnce));
    places_.assign(places.begin(), places.end());
  }
  if (places_.empty()) {
    return std::nullopt;
  }
  const Place place = places_.front();
  places_.pop_front();
  if (place.position != next_) {
    if (!GUARD("file.gap", gaps_ == Gaps::kYes)) {
      return absl::AbortedError("the stream was compacted while it was read");
    }
    next_ = place.position;
    digest_.reset();
  }
  absl::StatusOr<RowView> row = rows_.Read(place);
  if (absl::IsNotFound(row.status())) {
    // It was written anew meanwhile, and whoever did it said so before the old file was removed.
    places_.clear();
    ASSIGN_OR_RETURN(const std::vector<Place> now, Find(1));
    if (!now.empty() && now.front().position == next_) {
      row = rows_.Read(now.front());
    } else if (gaps_ == Gaps::kYes) {
      return ReadNext();
    }
  }
  if (absl::IsDataLoss(row.status()) || absl::IsNotFound(row.status())) {
    return Damage(MessageOf(row.status()));
  }
  RETURN_IF_ERROR(row.status());
  if (row->stream != stream_ || row->position != next_) {
    return Damage("another row lies in its place");
  }
  return *row;
}

// The row before the first one tells what the digest of that is taken over, if it is there.
absl::Status StreamReader::ReadBefore() {
  started_ = true;
  if (Raw(next_) <= 1) {
    return absl::OkStatus();
  }
  const Position first = next_;
  next_ = Position{Raw(first) - 1};
  ASSIGN_OR_RETURN(const std::vector<Place> before, Find(1));
  if (!before.empty() && before.front().position == next_) {
    ASSIGN_OR_RETURN(const std::optional<RowView> row, ReadNext());
    digest_ = row->digest;
  } else {
    digest_.reset();
  }
  next_ = first;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Record>> StreamReader::Next() {
  if (!started_) {
    RETURN_IF_ERROR(ReadBefore());
  }
  if (next_ > through_) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(const std::optional<RowView> row, ReadNext());
  if (!row.has_value()) {
    return std::nullopt;
  }
  if (digest_.has_value() && row->digest != ChainDigest(*digest_, row->checksum)) {
    return Damage("the row's digest is wrong");
  }
  digest_ = row->digest;
  next_ = engine::Next(next_);
  return ToRecord(*row);
}

}  // namespace engine::file
