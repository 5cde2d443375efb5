#include "api/tracing/tracer.h"

#include <deque>

#include <gmock/gmock.h>

#include "api/tracing/otlp.h"
#include "tests/support/collector.h"
#include "tests/support/poll.h"

namespace api {
namespace {

using testing::MatchesRegex;
using testing::SizeIs;

engine::Deadline InTime() {
  return engine::Deadline::After(std::chrono::minutes(1));
}

Span Named(const std::string& name) {
  Span span;
  span.trace_id = std::string(32, 'a');
  span.span_id = std::string(16, 'b');
  span.name = name;
  return span;
}

// What a collector says to each batch in turn, the last for ever, and the batches that came.
class Script {
 public:
  explicit Script(std::deque<Posted> answers) : answers_(std::move(answers)) {}

  Tracer::Send AsSend() {
    return [this](const std::string& json, const std::atomic<bool>& stop) {
      engine::MutexLock lock(mutex_);
      while (held_ && !stop) {
        changed_.WaitUntil(mutex_, engine::Deadline::After(std::chrono::milliseconds(5)));
      }
      batches_.push_back(json);
      const Posted answer = answers_.front();
      if (answers_.size() > 1) {
        answers_.pop_front();
      }
      return answer;
    };
  }
  // From now on batches get no answer.
  void Hold(bool held) {
    engine::MutexLock lock(mutex_);
    held_ = held;
    changed_.SignalAll();
  }
  std::vector<std::string> batches() {
    engine::MutexLock lock(mutex_);
    return batches_;
  }

 private:
  engine::Mutex mutex_;
  engine::CondVar changed_;
  std::deque<Posted> answers_ ABSL_GUARDED_BY(mutex_);
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::string> batches_ ABSL_GUARDED_BY(mutex_);
};

const Posted kTaken = {Posted::Outcome::kTaken, 0, {}, ""};
const Posted kPartly = {Posted::Outcome::kTaken, 1, {}, "too old"};
const Posted kAway = {Posted::Outcome::kTryAgain, 0, {}, "nobody there"};
const Posted kRefused = {Posted::Outcome::kRefused, 0, {}, "answered 400"};

// Two spans make a batch, and one alone waits for ever.
TracerOptions InPairs() {
  TracerOptions options;
  options.delay = std::chrono::hours(1);
  options.max_batch = 2;
  options.retry_pause = std::chrono::milliseconds(1);
  options.max_tries = 3;
  return options;
}

// What became of two spans to which a collector gives these answers.
struct Fate {
  std::uint64_t exported;
  std::uint64_t dropped;
  std::uint64_t failures;
  std::size_t tries;
};

Fate FateOfTwo(std::deque<Posted> answers) {
  Script script(std::move(answers));
  Tracer tracer(InPairs(), script.AsSend());
  tracer.Record(Named("a"));
  tracer.Record(Named("b"));
  const Tracer::Counters& counters = tracer.counters();
  EXPECT_TRUE(
      support::WaitFor([&] { return counters.exported + counters.dropped_unsent == 2; }, InTime()));
  for (const std::string& batch : script.batches()) {
    EXPECT_EQ(batch, script.batches().front());
  }
  return {counters.exported, counters.dropped_unsent, counters.failures, script.batches().size()};
}

TEST(TracerTest, SpansGoOutInBatches) {
  Script script({kTaken});
  TracerOptions options = InPairs();
  options.resource = {{"service.name", "us"}};
  Tracer tracer(options, script.AsSend());
  for (const char* const name : {"a", "b", "c"}) {
    tracer.Record(Named(name));
  }
  EXPECT_TRUE(support::WaitFor([&] { return script.batches().size() == 1; }, InTime()))
      << "a full batch waits for nothing";
  EXPECT_TRUE(tracer.Flush(InTime()));
  ASSERT_THAT(script.batches(), SizeIs(2));
  const auto first = support::SpansOf(script.batches()[0]);
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].Text("name"), "a");
  EXPECT_EQ(first[1].OfResource("service.name"), "us");
  EXPECT_EQ(support::SpansOf(script.batches()[1]).at(0).Text("name"), "c");
  EXPECT_EQ(tracer.counters().exported, 3U);
}

TEST(TracerTest, ASpanAloneGoesOutInTheEnd) {
  Script script({kTaken});
  TracerOptions options = InPairs();
  options.delay = std::chrono::milliseconds(1);
  Tracer tracer(options, script.AsSend());
  tracer.Record(Named("a"));
  EXPECT_TRUE(support::WaitFor([&] { return tracer.counters().exported == 1; }, InTime()));
}

TEST(TracerTest, WhatDoesNotFitIsDroppedAndCounted) {
  Script script({kTaken});
  script.Hold(true);
  TracerOptions options = InPairs();
  options.max_queue = 4;
  options.max_batch = 1;
  Tracer tracer(options, script.AsSend());
  for (int i = 0; i < 100; ++i) {
    tracer.Record(Named("a"));
  }
  // One may be under way.
  EXPECT_GE(tracer.counters().dropped_full, 95U);
  EXPECT_LE(tracer.counters().dropped_full, 96U);
  script.Hold(false);
  EXPECT_TRUE(tracer.Flush(InTime()));
  EXPECT_EQ(tracer.counters().exported + tracer.counters().dropped_full, 100U);
  tracer.Record(Named("late"));
  EXPECT_EQ(tracer.counters().exported + tracer.counters().dropped_full, 101U);
}

TEST(TracerTest, ACollectorThatIsAwayIsAskedAgain) {
  const Fate fate = FateOfTwo({kAway, kAway, kTaken});
  EXPECT_EQ(fate.exported, 2U);
  EXPECT_EQ(fate.dropped, 0U);
  EXPECT_EQ(fate.failures, 2U);
  EXPECT_EQ(fate.tries, 3U);
}

TEST(TracerTest, WhatIsNotTakenIsDroppedAndCounted) {
  const Fate away = FateOfTwo({kAway});
  EXPECT_EQ(away.dropped, 2U);
  EXPECT_EQ(away.tries, 3U);
  const Fate refused = FateOfTwo({kRefused});
  EXPECT_EQ(refused.dropped, 2U);
  EXPECT_EQ(refused.failures, 1U);
  EXPECT_EQ(refused.tries, 1U);
  const Fate partly = FateOfTwo({kPartly});
  EXPECT_EQ(partly.exported, 1U);
  EXPECT_EQ(partly.dropped, 1U);
  EXPECT_EQ(partly.failures, 0U);
}

TEST(TracerTest, FlushGivesUpAtItsDeadline) {
  Script script({kAway});
  script.Hold(true);
  Tracer tracer(InPairs(), script.AsSend());
  tracer.Record(Named("a"));
  EXPECT_FALSE(tracer.Flush(engine::Deadline::After(std::chrono::milliseconds(20))));
}

TEST(TracerTest, FlushTriesWhatFailedOnceMore) {
  Script script({kAway, kTaken});
  TracerOptions options = InPairs();
  options.retry_pause = std::chrono::hours(1);
  Tracer tracer(options, script.AsSend());
  tracer.Record(Named("a"));
  tracer.Record(Named("b"));
  EXPECT_TRUE(support::WaitFor([&] { return script.batches().size() == 1; }, InTime()));
  EXPECT_TRUE(tracer.Flush(InTime()));
  EXPECT_EQ(tracer.counters().exported, 2U);
}

TEST(TracerTest, IdsAreTheCallersOrNew) {
  Script script({kTaken});
  Tracer tracer(InPairs(), script.AsSend());
  const std::string trace(32, 'c');
  const std::string caller(16, 'd');
  const auto child = tracer.Begin(TraceContext{trace, caller, true});
  ASSERT_TRUE(child.has_value());
  EXPECT_EQ(child->trace_id, trace);
  EXPECT_EQ(child->parent_id, caller);
  EXPECT_THAT(child->span_id, MatchesRegex("[0-9a-f]{16}"));
  EXPECT_NE(child->span_id, caller);
  EXPECT_FALSE(tracer.Begin(TraceContext{trace, caller, false}).has_value());
  const auto one = tracer.Begin(std::nullopt);
  const auto other = tracer.Begin(std::nullopt);
  ASSERT_TRUE(one && other);
  EXPECT_THAT(one->trace_id, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(one->parent_id, "");
  EXPECT_NE(one->trace_id, other->trace_id);
}

}  // namespace
}  // namespace api
