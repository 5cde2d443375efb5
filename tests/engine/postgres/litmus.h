// What the litmus cases share: a database of their own with one lock and one small journal.

#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/support/session.h"
#include "tests/support/status_matchers.h"

namespace engine::postgres {

// The journal's lock, as the cases know it.
inline constexpr char kLock[] = "select pg_advisory_xact_lock(7)";
inline constexpr char kBegin[] = "begin isolation level read committed read write";
inline constexpr char kCount[] = "select count(*) from journal";

// `journal (id, note)` is there and empty; `lease (name, holder, expires_at)` has the row `l`.
class Litmus : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(url_, support::SharedCluster().CreateDatabase("litmus"));
    ASSERT_OK(support::Sql(url_,
                           "create sequence drawn;"
                           "create table journal (id bigint primary key, note text);"
                           "create table lease (name text primary key, holder text,"
                           "                    expires_at timestamptz);"
                           "insert into lease values ('l', 'me', 'infinity')"));
  }

  std::string Value(const std::string& statement) {
    support::Session session(url_);
    return session.Run(statement).Value();
  }

  // `holder` holds the lock and has inserted a row that nobody sees yet.
  void HoldLockAndInsert(support::Session& holder) {
    ASSERT_TRUE(holder.Run(kBegin).ok);
    ASSERT_TRUE(holder.Run(kLock).ok);
    ASSERT_TRUE(holder.Run("insert into journal select coalesce(max(id), 0) + 1 from journal").ok);
  }

  std::string url_;
};

}  // namespace engine::postgres
