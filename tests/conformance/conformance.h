// The contract of engine/journal.h as one suite that every backend runs.
//
// A backend's test program links `conformance_dep` (whole) and names its ways of running:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, JournalConformance, testing::Values(MemoryStore()),
//   StoreName);

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"

namespace conformance {

inline constexpr engine::StreamId kAudit{1};
inline constexpr engine::StreamId kEvents{2};
inline constexpr engine::StreamId kThings{3};

// Three streams, one of each sort: chained, plain, keyed.
engine::Catalogue Streams();

// One store for one test, empty at first. Destroying it removes everything.
class Store {
 public:
  virtual ~Store() = default;
  virtual engine::Engine& engine() = 0;
  // Another process's view of the same store, or null when the backend allows only one.
  virtual engine::Engine* second() { return nullptr; }
  // Closes and opens the store again; false when nothing survives that.
  virtual bool Reopen() { return false; }
};

struct StoreFactory {
  std::string name;  // Letters and digits.
  std::function<std::unique_ptr<Store>()> open;
};
inline std::string StoreName(const testing::TestParamInfo<StoreFactory>& info) {
  return info.param.name;
}

// Finishes rows as the committer would: positions, tx, time, checksums, digests.
class RowBuilder {
 public:
  explicit RowBuilder(const engine::LockedState& state);
  RowBuilder& Add(engine::StreamId stream, const std::string& key, const std::string& payload,
                  engine::Position previous = engine::Position::kBeforeFirst,
                  std::uint16_t flags = 0);
  std::vector<engine::Record> rows() const { return rows_; }

 private:
  engine::LockedState state_;
  std::vector<engine::Record> rows_;
};

class JournalConformance : public testing::TestWithParam<StoreFactory> {
 protected:
  void SetUp() override { store_ = GetParam().open(); }

  engine::Journal& journal() { return store_->engine().journal(); }
  Store& store() { return *store_; }

  // One transaction that appends one record to the events stream; returns its row.
  engine::Record AppendEvent(const std::string& payload);
  // Every row of every stream.
  std::vector<engine::Record> AllRows();

 private:
  std::unique_ptr<Store> store_;
};

// Cursors at the start of all streams of the test catalogue.
engine::Cursors FromTheStart();
engine::Deadline Soon();

}  // namespace conformance
