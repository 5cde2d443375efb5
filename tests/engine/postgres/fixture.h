// What the tests of the Postgres backend share: a migrated database, engines on it, rows.

#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/postgres/migrate.h"
#include "engine/postgres/postgres.h"
#include "tests/conformance/conformance.h"
#include "tests/support/postgres.h"
#include "tests/support/status_matchers.h"

namespace engine::postgres {

inline Options OptionsFor(const std::string& url) {
  Options options;
  options.url = url;
  options.connect_attempts = 1;
  options.connect_interval = std::chrono::milliseconds(1);
  return options;
}

inline Deadline Soon() {
  return Deadline::After(std::chrono::seconds(20));
}

// A migrated database on `cluster`.
class PostgresTest : public testing::Test {
 protected:
  void SetUp() override { UseCluster(support::SharedCluster()); }

  void UseCluster(const support::PostgresCluster& cluster) {
    ASSERT_OK_AND_ASSIGN(url_, cluster.CreateDatabase("halo"));
    ASSERT_OK(Migrate(OptionsFor(url_)));
    engine_.reset();
  }

  // The next use opens a new engine on the same database.
  void OpenAgain() { engine_.reset(); }

  const std::string& url() const { return url_; }
  Engine& engine() {
    if (engine_ == nullptr) {
      auto opened = Open(conformance::Streams(), OptionsFor(url_));
      EXPECT_OK(opened);
      engine_ = *std::move(opened);
    }
    return *engine_;
  }
  Journal& journal() { return engine().journal(); }

  std::string Value(const std::string& sql) {
    const auto value = support::SqlValue(url_, sql);
    EXPECT_OK(value) << sql;
    return value.ok() ? *value : "";
  }
  void Run(const std::string& sql) { EXPECT_OK(support::Sql(url_, sql)) << sql; }

  // Opens a transaction and hands it one row of the events stream.
  std::unique_ptr<Transaction> Prepared(const std::string& payload) {
    auto transaction = journal().Begin(Soon());
    EXPECT_OK(transaction);
    const auto state = (*transaction)->Read({.after = conformance::FromTheStart()});
    EXPECT_OK(state);
    EXPECT_OK(
        (*transaction)
            ->Append(conformance::RowBuilder(*state).Add(conformance::kEvents, "", payload).rows(),
                     {}));
    return *std::move(transaction);
  }

 private:
  std::string url_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace engine::postgres
