#include "api/dispatch/workers.h"

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "api/dispatch/ticker.h"
#include "tests/support/logs.h"

namespace api {
namespace {

TEST(WorkersTest, RunsWhatItTakes) {
  std::latch done(20);
  Workers workers(3, 20);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(workers.Run([&done] { done.count_down(); }));
  }
  done.wait();
}

TEST(WorkersTest, AFullQueueRefuses) {
  std::latch started(1);
  std::latch release(1);
  Workers workers(1, 2);
  ASSERT_TRUE(workers.Run([&] {
    started.count_down();
    release.wait();
  }));
  started.wait();
  EXPECT_TRUE(workers.Run([] {}));
  EXPECT_TRUE(workers.Run([] {}));
  EXPECT_FALSE(workers.Run([] {}));
  release.count_down();
}

TEST(WorkersTest, WritesDoNotWaitForLongReads) {
  std::latch release(1);
  std::latch reads(4);
  std::latch wrote(1);
  std::atomic<int> read = 0;
  Workers workers(3, 20);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(workers.Run(
        [&] {
          // Ends by itself, so that a write that must wait fails the test and does not hang it.
          const auto end = engine::Deadline::After(std::chrono::seconds(5));
          while (!release.try_wait() && !end.HasPassed()) {
          }
          ++read;
          reads.count_down();
        },
        Work::kLong));
  }
  int read_before = 0;
  ASSERT_TRUE(workers.Run([&] {
    read_before = read;
    release.count_down();
    wrote.count_down();
  }));
  wrote.wait();
  reads.wait();
  EXPECT_EQ(read_before, 0);
}

TEST(WorkersTest, LongReadsGiveWay) {
  const auto priority = [](Work work) {
    std::latch done(1);
    int priority = 0;
    Workers workers(4, 1);
    EXPECT_TRUE(workers.Run(
        [&] {
          priority = getpriority(PRIO_PROCESS, 0);
          done.count_down();
        },
        work));
    done.wait();
    return priority;
  };
  EXPECT_GT(priority(Work::kLong), priority(Work::kShort));
}

TEST(WorkersTest, ATaskThatThrowsEndsNothing) {
  support::ExpectErrorLogs();
  std::latch done(1);
  Workers workers(1, 4);
  ASSERT_TRUE(workers.Run([] { throw std::runtime_error("no memory"); }));
  ASSERT_TRUE(workers.Run([&done] { done.count_down(); }));
  done.wait();
}

TEST(WorkersTest, WhatWaitsAtTheEndIsDropped) {
  const auto held = std::make_shared<int>(1);
  bool ran = false;
  {
    std::latch started(1);
    std::latch release(1);
    auto workers = std::make_unique<Workers>(1, 4);
    ASSERT_TRUE(workers->Run([&] {
      started.count_down();
      release.wait();
    }));
    started.wait();
    ASSERT_TRUE(workers->Run([&ran, held] { ran = true; }));
    engine::Thread releaser("releaser", [&] {
      // The queue is emptied before the worker is waited for.
      while (held.use_count() > 1) {
      }
      release.count_down();
    });
    workers.reset();
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(TickerTest, TicksUntilItEnds) {
  std::latch three(3);
  int ticks = 0;
  {
    Ticker ticker("ticker", std::chrono::milliseconds(1), [&] {
      if (++ticks <= 3) {
        three.count_down();
      }
    });
    three.wait();
  }
  EXPECT_GE(ticks, 3);
}

TEST(TickerTest, TheEndDoesNotWaitForTheInterval) {
  std::latch ticked(1);
  Ticker ticker("ticker", std::chrono::hours(1), [&] { ticked.count_down(); });
  ticked.wait();
}

}  // namespace
}  // namespace api
