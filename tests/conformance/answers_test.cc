// Answers kept for retries: written with the rows or not at all, found under the lock.

#include <algorithm>

#include <gmock/gmock.h>

#include "engine/base/status_macros.h"
#include "tests/conformance/conformance.h"
#include "tests/support/status_matchers.h"

namespace conformance {
namespace {

using engine::CommitOutcome;
using engine::KeptAnswer;
using support::StatusIs;
using testing::ElementsAre;
using testing::IsEmpty;

// As a hash: 32 bytes that tell one name from another.
std::string Hash(const std::string& name) {
  std::string hash = name;
  hash.resize(engine::kAnswerHashBytes, '\0');
  return hash;
}

// One event and, in its transaction, an answer under `key`.
absl::StatusOr<KeptAnswer> Keep(engine::Engine& engine, const std::string& key,
                                const std::string& answer, std::int64_t micros_later = 0) {
  ASSIGN_OR_RETURN(auto transaction, engine.journal().Begin(Soon()));
  ASSIGN_OR_RETURN(auto state, transaction->Read({}));
  state.now.micros += micros_later;
  const auto rows = RowBuilder(state).Add(kEvents, "", "of " + key).rows();
  const KeptAnswer kept{.key = Hash(key),
                        .request = Hash("asked"),
                        .answer = answer,
                        .tx = rows.back().tx,
                        .at = rows.back().at};
  RETURN_IF_ERROR(transaction->Append(rows, {kept}));
  RETURN_IF_ERROR(transaction->Commit(Soon()).why);
  return kept;
}

// What is kept under these keys, by key.
std::vector<KeptAnswer> Kept(engine::Engine& engine, const std::vector<std::string>& keys) {
  engine::Question question;
  for (const std::string& key : keys) {
    question.answers.push_back(Hash(key));
  }
  const auto transaction = engine.journal().Begin(Soon());
  EXPECT_OK(transaction);
  auto state = (*transaction)->Read(question);
  EXPECT_OK(state);
  std::ranges::sort(state->answers, {}, &KeptAnswer::key);
  return state->answers;
}

TEST_P(JournalConformance, AnAnswerIsFoundUnderItsKeyToTheByte) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) {
    every_byte.push_back(static_cast<char>(i));
  }
  ASSERT_OK_AND_ASSIGN(const KeptAnswer one, Keep(store().engine(), "one", every_byte));
  ASSERT_OK_AND_ASSIGN(const KeptAnswer two, Keep(store().engine(), "two", ""));
  EXPECT_THAT(Kept(store().engine(), {"one", "two", "three"}), ElementsAre(one, two));
  EXPECT_THAT(Kept(store().engine(), {"three"}), IsEmpty());
  EXPECT_THAT(Kept(store().engine(), std::vector<std::string>()), IsEmpty());
  if (store().second() != nullptr) {
    EXPECT_THAT(Kept(*store().second(), {"two"}), ElementsAre(two));
  }
}

TEST_P(JournalConformance, AnAnswerOfADroppedTransactionIsNotKept) {
  {
    ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
    ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({}));
    const auto rows = RowBuilder(state).Add(kEvents, "", "dropped").rows();
    ASSERT_OK(transaction->Append(
        rows, {{Hash("one"), Hash("asked"), "dropped", rows.back().tx, rows.back().at}}));
  }
  EXPECT_THAT(Kept(store().engine(), {"one"}), IsEmpty());
}

TEST_P(JournalConformance, AKeyIsAnsweredOnce) {
  ASSERT_OK_AND_ASSIGN(const KeptAnswer first, Keep(store().engine(), "one", "first"));
  EXPECT_THAT(Keep(store().engine(), "one", "second"), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(Kept(store().engine(), {"one"}), ElementsAre(first));
  EXPECT_EQ(AllRows().size(), 1U) << "nothing of the second transaction was written";
}

TEST_P(JournalConformance, AnswersThatDoNotFitTheirTransactionAreRefused) {
  const auto refused = [&](auto change) {
    auto transaction = journal().Begin(Soon());
    EXPECT_OK(transaction);
    const auto state = (*transaction)->Read({});
    EXPECT_OK(state);
    const auto rows = RowBuilder(*state).Add(kEvents, "", "x").rows();
    std::vector<KeptAnswer> answers = {
        {Hash("one"), Hash("asked"), "answer", rows.back().tx, rows.back().at}};
    change(answers);
    return (*transaction)->Append(rows, answers);
  };
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_OK(refused([](auto&) {}));
  EXPECT_THAT(refused([](auto& answers) { answers[0].key = "short"; }), invalid);
  EXPECT_THAT(refused([](auto& answers) { answers[0].request += "long"; }), invalid);
  EXPECT_THAT(refused([](auto& answers) { answers[0].tx = engine::Tx{7}; }), invalid);
  EXPECT_THAT(refused([](auto& answers) { answers[0].at.micros += 1; }), invalid);
  EXPECT_THAT(refused([](auto& answers) { answers.push_back(answers[0]); }), invalid);
  EXPECT_THAT(
      refused([](auto& answers) { answers[0].answer.resize(engine::kMaxTransactionBytes); }),
      invalid);
}

TEST_P(JournalConformance, OldAnswersArePrunedOldestFirst) {
  constexpr std::int64_t kHour = 3600LL * 1'000'000;
  // Ages are made, not waited for: what is "older than minus one hour" was written before the next
  // hour is over.
  ASSERT_OK_AND_ASSIGN(const KeptAnswer one, Keep(store().engine(), "one", "1"));
  ASSERT_OK_AND_ASSIGN(const KeptAnswer two, Keep(store().engine(), "two", "2"));
  ASSERT_OK_AND_ASSIGN(const KeptAnswer young, Keep(store().engine(), "young", "3", 2 * kHour));
  const auto prune = [&](engine::Duration age, int limit) {
    const auto pruned = journal().PruneAnswers(age, limit, Soon());
    EXPECT_OK(pruned);
    return pruned.value_or(-1);
  };
  EXPECT_EQ(prune(engine::kAnswerLifetime, 10), 0);
  EXPECT_EQ(prune(-std::chrono::hours(1), 1), 1);
  EXPECT_THAT(Kept(store().engine(), {"one", "two", "young"}), ElementsAre(two, young));
  EXPECT_EQ(prune(-std::chrono::hours(1), 10), 1);
  EXPECT_EQ(prune(-std::chrono::hours(1), 10), 0);
  EXPECT_THAT(Kept(store().engine(), {"one", "two", "young"}), ElementsAre(young));
  ASSERT_OK_AND_ASSIGN(const KeptAnswer again, Keep(store().engine(), "one", "again"));
  EXPECT_THAT(Kept(store().engine(), {"one"}), ElementsAre(again))
      << "a key is free once its answer is gone";
}

TEST_P(JournalConformance, AnswersSurviveAReopening) {
  ASSERT_OK_AND_ASSIGN(const KeptAnswer one, Keep(store().engine(), "one", "first"));
  ASSERT_OK_AND_ASSIGN(const KeptAnswer two,
                       Keep(store().engine(), "two", std::string(100'000, 'x')));
  if (!store().Reopen()) {
    GTEST_SKIP() << "nothing survives in this backend";
  }
  EXPECT_THAT(Kept(store().engine(), {"one", "two"}), ElementsAre(one, two));
  EXPECT_THAT(Keep(store().engine(), "one", "second"), StatusIs(absl::StatusCode::kAborted));
}

TEST_P(JournalConformance, WhatIsTooLateIsNotWritten) {
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({}));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "late").rows(), {}));
  const CommitOutcome outcome = transaction->Commit(engine::Deadline::After(engine::Duration(0)));
  EXPECT_EQ(outcome.kind, CommitOutcome::Kind::kFailed);
  EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kDeadlineExceeded));
  transaction.reset();
  EXPECT_TRUE(AllRows().empty());
  AppendEvent("next");
}

TEST_P(JournalConformance, ATermThatNobodyHoldsIsFenced) {
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state,
                       transaction->Read({.fences = {{"controller", "nobody", 1}}}));
  ASSERT_EQ(state.fences.size(), 1U);
  EXPECT_TRUE(engine::IsFenced(state.fences[0])) << state.fences[0];
}

}  // namespace
}  // namespace conformance
