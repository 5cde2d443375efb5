// What the tests of compaction stand on: a keyed stream whose `previous` is kept right.

#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "engine/compactor.h"
#include "engine/follower.h"
#include "tests/conformance/conformance.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace conformance {

using engine::CompactionStep;
using engine::Floor;
using engine::Journal;
using engine::News;
using engine::Position;
using engine::Record;
using engine::StreamTail;

class CompactionConformance : public JournalConformance {
 protected:
  // Writes `value` to `key`, or removes it when `value` is null; keeps `previous` right.
  Record Put(const std::string& key, const char* value) {
    auto transaction = journal().Begin(Soon());
    EXPECT_OK(transaction);
    const auto state = (*transaction)->Read({});
    EXPECT_OK(state);
    RowBuilder rows(*state);
    rows.Add(kThings, key, value == nullptr ? "" : value, newest_[key],
             value == nullptr ? engine::kTombstone : 0);
    EXPECT_OK(Append(**transaction, rows.rows()));
    const Record row = rows.rows().front();
    newest_[key] = value == nullptr ? Position::kBeforeFirst : row.position;
    return row;
  }
  static absl::Status Append(engine::Transaction& transaction, std::vector<Record> rows) {
    if (absl::Status appended = transaction.Append(std::move(rows), {}); !appended.ok()) {
      return appended;
    }
    return transaction.Commit(Soon()).why;
  }

  StreamTail Tail() { return TailIn(journal()); }
  static StreamTail TailIn(Journal& journal) {
    const auto tails = journal.Tails(Soon());
    EXPECT_OK(tails);
    return *std::ranges::find(*tails, kThings, &StreamTail::stream);
  }
  std::vector<Record> Rows(Position from = Position{1}) {
    auto rows = journal().ReadStream(kThings, from, 100'000, Soon());
    EXPECT_OK(rows);
    return *std::move(rows);
  }
  std::vector<std::uint64_t> Positions() {
    std::vector<std::uint64_t> positions;
    for (const Record& row : Rows()) {
      positions.push_back(engine::Raw(row.position));
    }
    return positions;
  }
  // The step that raises the floor to `to`.
  CompactionStep Plan(Position to) {
    const Floor floor = Tail().floor;
    std::vector<Record> rows = Rows(floor.position);
    const bool compacted = floor.position != Position::kBeforeFirst;
    const Record at_floor = compacted ? rows.front() : Record();
    std::erase_if(rows, [&](const Record& row) {
      return row.position <= floor.position || row.position > to;
    });
    auto step = engine::PlanCompaction(floor, compacted ? &at_floor : nullptr, rows);
    EXPECT_OK(step);
    return *std::move(step);
  }
  void Raise(std::uint64_t to) {
    const auto floor = journal().Compact(Plan(Position{to}), Soon());
    ASSERT_OK(floor);
    EXPECT_EQ(*floor, Tail().floor);
  }
  static std::string Fold(Journal& journal, std::optional<engine::Tx> through = std::nullopt) {
    std::vector<std::unique_ptr<engine::Projection>> projections;
    projections.push_back(std::make_unique<support::ToyProjection>(kThings));
    engine::Follower follower(std::move(projections));
    if (const absl::Status status = follower.Replay(journal, through, Soon()); !status.ok()) {
      return status.ToString();
    }
    return StateOf(follower);
  }
  static std::string StateOf(const engine::Follower& follower) {
    const auto image = engine::ImageIn<support::ToyImage>(*follower.view());
    if (!image.ok()) {
      return image.status().ToString();
    }
    const engine::StreamView& stream = *follower.view()->Find(kThings);
    std::string state = std::to_string(engine::Raw(stream.position)) + "/" +
                        std::to_string(engine::Raw(stream.digest)) + ":";
    for (const auto& [key, entry] : (*image)->entries()) {
      state += key + "=" + entry.value + "@" + std::to_string(engine::Raw(entry.position)) + ";";
    }
    return state;
  }

  std::map<std::string, Position> newest_;
};

}  // namespace conformance
