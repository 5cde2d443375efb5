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
#include "tests/support/row_builder.h"

namespace conformance {

using support::FromTheStart;
using support::kAudit;
using support::kEvents;
using support::kThings;
using support::RowBuilder;
using support::Soon;
using support::Streams;

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

}  // namespace conformance
