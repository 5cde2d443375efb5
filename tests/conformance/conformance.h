// The contracts of engine/journal.h, lease.h and key_value.h as suites that every backend runs.
//
// A backend's test program links `conformance_dep` (whole) and names its ways of running, for each
// suite:
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

class LeaseConformance : public testing::TestWithParam<StoreFactory> {
 protected:
  void SetUp() override { store_ = GetParam().open(); }

  engine::Leases& leases() { return store_->engine().leases(); }
  // Another process's view.
  engine::Leases& others() { return store_->second()->leases(); }
  Store& store() { return *store_; }

  // The term of a lease that is free, long-lived. Fails the test if it is not.
  engine::Fence Win(const std::string& name, const std::string& holder);
  // Blocks until the store's clock is past `time`.
  void WaitUntilPast(engine::Timestamp time);
  bool Renews(const engine::Fence& term);

 private:
  std::unique_ptr<Store> store_;
};

class KeyValueConformance : public testing::TestWithParam<StoreFactory> {
 protected:
  void SetUp() override { store_ = GetParam().open(); }

  engine::KeyValue& kv() { return store_->engine().key_value(); }
  // Another process's view.
  engine::KeyValue& others() { return store_->second()->key_value(); }
  Store& store() { return *store_; }

  // What Get says; `(none)` when there is no such row.
  std::string ValueOf(const std::string& key);
  // Makes a row that has expired and was not swept; false when it is still seen after a while.
  bool MakeExpired(const std::string& key, const std::string& value);

 private:
  std::unique_ptr<Store> store_;
};

}  // namespace conformance
