#include "engine/file/index.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace engine::file {

Index::Index(const Catalogue& catalogue) {
  for (const StreamSpec& spec : catalogue) {
    streams_.push_back({.stream = spec.id, .sparse = {}, .dense_after = {}, .dense = {}});
  }
}

const Index::Rows* Index::Find(StreamId stream) const {
  const auto found = std::ranges::find(streams_, stream, &Rows::stream);
  return found == streams_.end() ? nullptr : &*found;
}

bool Index::Has(StreamId stream) const {
  return Find(stream) != nullptr;
}

Index::Rows& Index::At(StreamId stream) {
  const auto found = std::ranges::find(streams_, stream, &Rows::stream);
  ENGINE_CHECK(found != streams_.end());
  return *found;
}

void Index::Add(StreamId stream, Position position, Locator where, Position floor) {
  Rows& rows = At(stream);
  if (position <= floor) {
    ENGINE_CHECK(rows.dense.empty());
    rows.sparse.push_back({position, where});
    rows.dense_after = floor;
    return;
  }
  ENGINE_CHECK(Raw(position) == Raw(rows.dense_after) + rows.dense.size() + 1);
  rows.dense.push_back(where);
}

std::vector<LocatedRow> Index::Range(StreamId stream, Position from, Position through,
                                     std::size_t limit) const {
  const Rows* rows = Find(stream);
  ENGINE_CHECK(rows != nullptr && Raw(from) > 0);
  std::vector<LocatedRow> found;
  auto row = std::ranges::lower_bound(rows->sparse, from, {}, &LocatedRow::position);
  for (; row != rows->sparse.end() && row->position <= through && found.size() < limit; ++row) {
    found.push_back(*row);
  }
  const std::uint64_t before = Raw(rows->dense_after);
  std::uint64_t position = std::max(Raw(from), before + 1);
  const std::uint64_t last = std::min(Raw(through), before + rows->dense.size());
  for (; position <= last && found.size() < limit; ++position) {
    found.push_back({Position{position}, rows->dense[position - before - 1]});
  }
  return found;
}

void Index::Compact(StreamId stream, Position floor, const std::vector<Position>& removed) {
  Rows& rows = At(stream);
  while (rows.dense_after < floor) {
    rows.dense_after = Next(rows.dense_after);
    rows.sparse.push_back({rows.dense_after, rows.dense.front()});
    rows.dense.pop_front();
  }
  std::erase_if(rows.sparse, [&removed](const LocatedRow& row) {
    return std::ranges::binary_search(removed, row.position);
  });
}

void Index::Move(StreamId stream, Position position, Locator where) {
  Rows& rows = At(stream);
  if (position > rows.dense_after) {
    rows.dense[Raw(position) - Raw(rows.dense_after) - 1] = where;
    return;
  }
  const auto row = std::ranges::lower_bound(rows.sparse, position, {}, &LocatedRow::position);
  ENGINE_CHECK(row != rows.sparse.end() && row->position == position);
  row->where = where;
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
