#include "engine/file/index.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace engine::file {

Index::Index(const Catalogue& catalogue) {
  for (const StreamSpec& spec : catalogue) {
    streams_.push_back({.stream = spec.id, .parts = {}});
  }
}

const Index::Rows* Index::Of(StreamId stream) const {
  const auto found = std::ranges::find(streams_, stream, &Rows::stream);
  return found == streams_.end() ? nullptr : &*found;
}

Index::Rows& Index::At(StreamId stream) {
  const auto found = std::ranges::find(streams_, stream, &Rows::stream);
  ENGINE_CHECK(found != streams_.end());
  return *found;
}

bool Index::Has(StreamId stream) const {
  return Of(stream) != nullptr;
}

void Index::Add(StreamId stream, Position position, Locator where) {
  std::vector<Part>& parts = At(stream).parts;
  ENGINE_CHECK(parts.empty() || position > parts.back().last);
  if (parts.empty() || parts.back().segment != where.segment) {
    parts.push_back({.segment = where.segment, .first = position, .last = position, .rows = {}});
  }
  Part& part = parts.back();
  part.last = position;
  part.rows.push_back({static_cast<std::uint32_t>(Raw(position) - Raw(part.first)), where.offset});
}

void Index::AddUnread(StreamId stream, std::uint32_t segment, Position first, Position last) {
  std::vector<Part>& parts = At(stream).parts;
  ENGINE_CHECK(parts.empty() || first > parts.back().last);
  parts.push_back({.segment = segment, .first = first, .last = last, .is_read = false, .rows = {}});
}

Index::Range Index::Find(StreamId stream, Position from, Position through,
                         std::size_t limit) const {
  const Rows* rows = Of(stream);
  ENGINE_CHECK(rows != nullptr && Raw(from) > 0);
  Range found;
  auto part = std::ranges::lower_bound(rows->parts, from, {}, &Part::last);
  for (; part != rows->parts.end() && part->first <= through; ++part) {
    if (found.rows.size() == limit) {
      break;
    }
    if (!part->is_read) {
      found.unread = part->segment;
      break;
    }
    const auto at = [&part](const Row& row) { return part->At(row); };
    auto row = std::ranges::lower_bound(part->rows, from, {}, at);
    for (; row != part->rows.end() && at(*row) <= through && found.rows.size() < limit; ++row) {
      found.rows.push_back({at(*row), {part->segment, row->offset}});
    }
  }
  return found;
}

std::optional<std::uint32_t> Index::SegmentOf(StreamId stream, Position from) const {
  const Rows* rows = Of(stream);
  ENGINE_CHECK(rows != nullptr);
  const auto part = std::ranges::lower_bound(rows->parts, from, {}, &Part::last);
  return part == rows->parts.end() ? std::nullopt : std::optional(part->segment);
}

bool Index::IsRead(std::uint32_t segment) const {
  return std::ranges::all_of(streams_, [segment](const Rows& rows) {
    const auto part = std::ranges::lower_bound(rows.parts, segment, {}, &Part::segment);
    return part == rows.parts.end() || part->segment != segment || part->is_read;
  });
}

void Index::Replace(std::uint32_t segment, Index rows) {
  for (Rows& ours : streams_) {
    const auto part = std::ranges::lower_bound(ours.parts, segment, {}, &Part::segment);
    std::vector<Part>& theirs = rows.At(ours.stream).parts;
    if (part == ours.parts.end() || part->segment != segment) {
      ENGINE_CHECK(theirs.empty());
      continue;
    }
    part->is_read = true;
    part->rows.clear();
    if (!theirs.empty()) {
      ENGINE_CHECK(theirs.size() == 1 && theirs.front().first >= part->first &&
                   theirs.front().last <= part->last);
      part->first = theirs.front().first;
      part->last = theirs.front().last;
      part->rows = std::move(theirs.front().rows);
    }
  }
}

std::map<std::uint32_t, std::uint64_t> Index::Remove(StreamId stream,
                                                     const std::vector<Position>& removed) {
  std::map<std::uint32_t, std::uint64_t> gone;
  std::vector<Part>& parts = At(stream).parts;
  if (removed.empty()) {
    return gone;
  }
  auto part = std::ranges::lower_bound(parts, removed.front(), {}, &Part::last);
  for (; part != parts.end() && part->first <= removed.back(); ++part) {
    const auto begin = std::ranges::lower_bound(removed, part->first);
    const auto end = std::ranges::upper_bound(removed, part->last);
    gone[part->segment] += part->is_read ? std::erase_if(part->rows,
                                                         [&](const Row& row) {
                                                           return std::ranges::binary_search(
                                                               begin, end, part->At(row));
                                                         })
                                         : static_cast<std::uint64_t>(end - begin);
  }
  return gone;
}

void RecentRows::Add(const Record& row) {
  auto found = std::ranges::find(streams_, row.stream, &Rows::stream);
  if (found == streams_.end()) {
    found = streams_.insert(streams_.end(), {row.stream, {}});
  }
  found->rows.push_back(row);
  order_.push_back(row.stream);
  bytes_ += Size(row);
  while (bytes_ > max_bytes_) {
    DropOldest();
  }
}

std::vector<Record> RecentRows::After(StreamId stream, Position after, std::size_t count) const {
  const auto found = std::ranges::find(streams_, stream, &Rows::stream);
  if (found == streams_.end() || found->rows.empty() ||
      found->rows.front().position > Next(after)) {
    return {};
  }
  const std::size_t skip = Raw(after) + 1 - Raw(found->rows.front().position);
  ENGINE_CHECK(skip + count == found->rows.size());
  return {found->rows.begin() + static_cast<std::ptrdiff_t>(skip), found->rows.end()};
}

std::size_t RecentRows::Size(const Record& row) {
  return sizeof(Record) + row.key.size() + row.payload.size();
}

void RecentRows::DropOldest() {
  const auto found = std::ranges::find(streams_, order_.front(), &Rows::stream);
  bytes_ -= Size(found->rows.front());
  found->rows.pop_front();
  order_.pop_front();
}

}  // namespace engine::file
