#include "engine/file/index.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace engine::file {

Index::Index(const Catalogue& catalogue) {
  for (const StreamSpec& spec : catalogue) {
    streams_.push_back({spec.id, {}});
  }
}

const Index::Rows* Index::Find(StreamId stream) const {
  const auto found = std::ranges::find(streams_, stream, &Rows::stream);
  return found == streams_.end() ? nullptr : &*found;
}

bool Index::Has(StreamId stream) const {
  return Find(stream) != nullptr;
}

void Index::Add(StreamId stream, Locator where) {
  const auto found = std::ranges::find(streams_, stream, &Rows::stream);
  ENGINE_CHECK(found != streams_.end());
  found->where.push_back(where);
}

std::vector<Locator> Index::Range(StreamId stream, Position from, Position through,
                                  std::size_t limit) const {
  const Rows* rows = Find(stream);
  ENGINE_CHECK(rows != nullptr && Raw(from) > 0 && Raw(through) <= rows->where.size());
  if (from > through) {
    return {};
  }
  const std::size_t count = std::min<std::size_t>(limit, Raw(through) - Raw(from) + 1);
  const auto first = rows->where.begin() + static_cast<std::ptrdiff_t>(Raw(from) - 1);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

Locator Index::At(StreamId stream, Position position) const {
  return Range(stream, position, position, 1).front();
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
