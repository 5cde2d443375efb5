// The contract of engine/presence.h, on every backend.

#include <gmock/gmock.h>

#include "tests/conformance/conformance.h"
#include "tests/support/status_matchers.h"

namespace conformance {
namespace {

using engine::FoldedStream;
using engine::Position;
using engine::Replica;

Replica Named(const std::string& name, std::uint32_t feature_level = 1) {
  return {name,
          {},
          feature_level,
          {{kEvents, Position{7}, 1, 0xFFFFFFFFFFFFFFFF}, {kThings, Position{9}, 2, 5}}};
}

TEST_P(JournalConformance, TheLifeThatAnswersHasOneEpoch) {
  engine::Presence& presence = store().engine().presence();
  ASSERT_OK_AND_ASSIGN(const engine::Life life, presence.NoteLife(Soon()));
  EXPECT_GE(life.epoch, 1U);
  ASSERT_OK_AND_ASSIGN(const engine::Life again, presence.NoteLife(Soon()));
  EXPECT_EQ(again, life);
  ASSERT_OK_AND_ASSIGN(const auto news, journal().ReadAfter(FromTheStart(), Soon()));
  EXPECT_EQ(news.origin, life.origin) << "flights and heartbeats must know each other";
}

TEST_P(JournalConformance, ABeatTellsWhoIsAliveAndWhatTheyFolded) {
  engine::Presence& presence = store().engine().presence();
  ASSERT_OK_AND_ASSIGN(const engine::Pulse first, presence.Beat(Named("b"), Soon()));
  ASSERT_EQ(first.replicas.size(), 1U);
  EXPECT_EQ(first.replicas[0].streams, Named("b").streams);
  engine::Presence& second = store().second() == nullptr ? presence : store().second()->presence();
  Replica a = Named("a", 4);
  a.streams.clear();
  ASSERT_OK(second.Beat(a, Soon()));
  ASSERT_OK_AND_ASSIGN(const engine::Pulse pulse, presence.Beat(Named("b", 2), Soon()));
  ASSERT_EQ(pulse.replicas.size(), 2U);
  EXPECT_EQ(pulse.replicas[0].name, "a");
  EXPECT_EQ(pulse.replicas[0].feature_level, 4U);
  EXPECT_THAT(pulse.replicas[0].streams, testing::IsEmpty());
  EXPECT_EQ(pulse.replicas[1].name, "b");
  EXPECT_EQ(pulse.replicas[1].feature_level, 2U);
  EXPECT_GE(pulse.now, pulse.replicas[1].at);
  EXPECT_GE(pulse.replicas[1].at, pulse.replicas[0].at);
  EXPECT_EQ(pulse.life, first.life);
}

TEST_P(JournalConformance, ABeatPastItsDeadlineProvesNothing) {
  EXPECT_FALSE(store()
                   .engine()
                   .presence()
                   .Beat(Named("a"), engine::Deadline::After(engine::Duration::zero()))
                   .ok());
}

}  // namespace
}  // namespace conformance
