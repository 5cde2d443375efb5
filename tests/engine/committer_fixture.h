// A committer over the memory backend whose lock can be held back, so that commands gather into
// one batch.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/committer.h"
#include "engine/memory/memory.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_commands.h"

namespace engine {

class CommitterFixture {
 public:
  explicit CommitterFixture(Catalogue streams = support::Streams())
      : store_(memory::Open(std::move(streams))) {
    journal_.hooks.before_begin = [this] {
      MutexLock lock(mutex_);
      ++begins_;
      changed_.SignalAll();
      while (held_) {
        changed_.Wait(mutex_);
      }
      return begin_answer_;
    };
    std::vector<std::unique_ptr<Projection>> things;
    things.push_back(std::make_unique<support::ToyProjection>());
    follower_ = std::make_unique<Follower>(std::move(things));
    std::vector<std::unique_ptr<Projection>> audit;
    audit.push_back(std::make_unique<support::ToyProjection>(support::kAudit));
    audit_ = std::make_unique<Follower>(std::move(audit));
  }
  ~CommitterFixture() { Release(); }

  void Open(CommitterOptions options = {}) {
    options.audit_stream = support::kAudit;
    committer_ = std::make_unique<Committer>(journal_, *follower_, audit_.get(), options);
  }
  // From now on the lock is not asked for until Release.
  void Hold() {
    MutexLock lock(mutex_);
    held_ = true;
  }
  void Release(absl::Status begin_answer = absl::OkStatus()) {
    MutexLock lock(mutex_);
    begin_answer_ = std::move(begin_answer);
    held_ = false;
    changed_.SignalAll();
  }
  int Begins() {
    MutexLock lock(mutex_);
    return begins_;
  }
  void WaitForBegins(int count) {
    MutexLock lock(mutex_);
    while (begins_ < count) {
      ASSERT_TRUE(changed_.WaitUntil(mutex_, support::Soon()));
    }
  }

  std::size_t Submit(support::ToyBody body, Deadline deadline = support::Soon()) {
    return Submit(std::move(body), support::ToyTerms{.deadline = deadline});
  }
  std::size_t Submit(support::ToyBody body, support::ToyTerms terms) {
    committer_->Submit(
        support::MakeToyCommand(std::move(body), submitted_, outcomes_, std::move(terms)));
    return submitted_++;
  }
  std::vector<support::Ended> WaitForAll() { return outcomes_.WaitFor(submitted_); }

  std::vector<Record> AllRows() {
    std::vector<Record> rows;
    const auto take = [&](std::span<const Record> batch) {
      rows.insert(rows.end(), batch.begin(), batch.end());
      return absl::OkStatus();
    };
    EXPECT_OK(store_->journal().Scan({.after = support::FromTheStart(), .through = {}}, take,
                                     support::Soon()));
    return rows;
  }
  std::map<std::string, std::string> Values() {
    std::map<std::string, std::string> values;
    const ViewPtr view = follower_->view();
    for (const auto& [key, entry] : (*ImageIn<support::ToyImage>(*view))->entries()) {
      values[key] = entry.value;
    }
    return values;
  }

  std::unique_ptr<Engine> store_;
  support::HookedJournal journal_{store_->journal()};
  std::unique_ptr<Follower> follower_;
  std::unique_ptr<Follower> audit_;
  Mutex mutex_;
  CondVar changed_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  int begins_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status begin_answer_ ABSL_GUARDED_BY(mutex_);
  support::Outcomes outcomes_;
  std::size_t submitted_ = 0;
  std::unique_ptr<Committer> committer_;
};

// The usual commands.
inline support::ToyBody PutAlways(std::string key, std::string value) {
  return [=](support::ToyWork& work) {
    work.Put(key, value);
    return std::string("put");
  };
}
inline support::ToyBody PutIfAbsent(std::string key, std::string value) {
  return [=](support::ToyWork& work) {
    if (const std::string there = work.Get(key); !there.empty()) {
      return "there: " + there;
    }
    work.Put(key, value);
    return std::string("created");
  };
}
inline support::ToyBody Increment(std::string key) {
  return [=](support::ToyWork& work) {
    const std::string there = work.Get(key);
    const std::string next = std::to_string(there.empty() ? 1 : std::stoi(there) + 1);
    work.Put(key, next);
    return next;
  };
}

}  // namespace engine
