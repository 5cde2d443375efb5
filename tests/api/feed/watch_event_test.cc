#include "api/feed/watch_event.h"

#include <atomic>

#include <gmock/gmock.h>

#include "tests/api/feed/feed_fixture.h"

namespace api {
namespace {

using engine::Payload;
using projections::TenantScope;

constexpr char kMine[] = "mine";
constexpr char kTheirs[] = "theirs";

engine::Record RecordOf(engine::StreamId stream, const std::string& key, std::string_view payload,
                        std::uint16_t flags = 0) {
  engine::Record record;
  record.stream = stream;
  record.position = engine::Position{1};
  record.tx = engine::Tx{1};
  record.key = key;
  record.flags = flags;
  record.payload = Payload(payload);
  return record;
}

std::string StateOf(const std::string& id, const std::string& org) {
  projections::ResourceState state;
  state.id = id;
  state.kind = "Channel";
  state.name = id;
  state.href = "/api/hyperfleet/v1/channels/" + id;
  state.spec = "{}";
  state.tenancy = {{"org", org}};
  state.created_by = state.updated_by = "ops";
  return projections::EncodeResource(state);
}

const TenantScope kScope = TenantScope::Of({{"org", kMine}});

TEST(WatchEventTest, ATenantSeesItsOwnResourcesComeAndGo) {
  const engine::View view;
  const auto sees = [&](const std::string& payload, std::uint16_t flags, const Payload& before) {
    return IsSeenBy(kScope, RecordOf(schemas::kResourcesStream, "id", payload, flags), before,
                    view);
  };
  EXPECT_TRUE(sees(StateOf("id", kMine), 0, {}));
  EXPECT_FALSE(sees(StateOf("id", kTheirs), 0, {}));
  const std::string gone = projections::EncodeTombstone(
      {.id = "id", .cause = schemas::RemovalCause::kDeleted, .by = "ops", .reason = ""});
  EXPECT_TRUE(sees(gone, engine::kTombstone, Payload(StateOf("id", kMine))));
  EXPECT_FALSE(sees(gone, engine::kTombstone, Payload(StateOf("id", kTheirs))));
  EXPECT_FALSE(sees(gone, engine::kTombstone, {})) << "nobody knows whose it was";
  EXPECT_TRUE(IsSeenBy(kScope, RecordOf(schemas::kKillSwitchStream, "", "x"), {}, view))
      << "it is nobody's";
}

TEST(WatchEventTest, ATenantSeesTheStatusOfItsOwn) {
  dispatch_test::HookedEngine engine;
  support::AppendOne(engine.journal(), schemas::kResourcesStream, "a", StateOf("a", kMine));
  support::AppendOne(engine.journal(), schemas::kResourcesStream, "b", StateOf("b", kTheirs));
  feed_test::Half half(engine);
  const auto sees = [&](const std::string& key) {
    return IsSeenBy(kScope, RecordOf(schemas::kStatusesStream, key, "x"), {},
                    *half.store().main().Last());
  };
  EXPECT_TRUE(sees("a"));
  EXPECT_TRUE(sees("a/dns"));
  EXPECT_FALSE(sees("b"));
  EXPECT_FALSE(sees("b/dns"));
  EXPECT_FALSE(sees("gone/dns"));
}

TEST(WatchEventTest, WhatIsGoneIsKnownByWhatItWas) {
  dispatch_test::HookedEngine engine;
  feed_test::Half half(engine, std::size_t{1} << 20, {}, std::chrono::hours(1));
  const std::string gone = projections::EncodeTombstone(
      {.id = "a", .cause = schemas::RemovalCause::kDeleted, .by = "ops", .reason = ""});
  const auto write = [&](engine::Position previous, const std::string& payload,
                         std::uint16_t flags) {
    auto transaction = *engine.journal().Begin(support::Soon());
    support::RowBuilder rows(*transaction->Read({}));
    rows.Add(schemas::kResourcesStream, "a", payload, previous, flags);
    const engine::Position at = rows.rows().front().position;
    EXPECT_OK(transaction->Append(rows.rows(), {}));
    EXPECT_OK(transaction->Commit(support::Soon()).why);
    return at;
  };
  const auto look = [&] {
    std::atomic<bool> landed = false;
    half.store().main().Latest([&](const absl::StatusOr<engine::ViewPtr>&) { landed = true; });
    EXPECT_TRUE(support::WaitFor([&] { return landed.load(); }, support::Soon()));
  };
  const auto recent_before = [&](std::uint64_t after) {
    return half.store()
        .recent()
        .Next({{schemas::kResourcesStream, engine::Position{after}, {}}})
        .record->before.view();
  };
  const std::string state = StateOf("a", kMine);
  const engine::Position first = write({}, state, 0);
  look();
  write(first, gone, engine::kTombstone);
  look();
  EXPECT_EQ(recent_before(1), state) << "the view had it";
  const engine::Position second = write({}, state, 0);
  write(second, gone, engine::kTombstone);
  look();
  EXPECT_EQ(recent_before(3), state) << "it came and went between two views";
  ASSERT_OK_AND_ASSIGN(const auto rows, ReadBacklogWithStates(engine.journal(),
                                                              {{schemas::kResourcesStream, {}, {}}},
                                                              support::Soon()));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1].before.view(), state);
  EXPECT_EQ(rows[3].before.view(), state);
  EXPECT_EQ(rows[2].before.size(), 0u);
}

}  // namespace
}  // namespace api
