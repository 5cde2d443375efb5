#include "api/feed/watch_stream.h"

#include <algorithm>
#include <atomic>
#include <latch>

#include <gmock/gmock.h>

#include "api/json/parser.h"
#include "engine/base/thread.h"
#include "engine/compactor.h"
#include "tests/api/feed/feed_fixture.h"
#include "tests/support/seeded_random.h"

namespace api {
namespace {

using dispatch_test::HookedEngine;
using engine::Position;
using feed_test::Event;
using feed_test::Half;
using feed_test::ParseEvents;
using feed_test::Read;
using feed_test::Writer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const std::vector<engine::StreamId> kBoth = {schemas::kKillSwitchStream, schemas::kResourcesStream};

// `stream position tx` of a record's event.
struct Place {
  std::string stream;
  std::uint64_t position = 0;
  std::uint64_t tx = 0;
};
Place PlaceOf(const Event& event) {
  const JsonParse parsed = ParseJson(event.data);
  EXPECT_TRUE(parsed.ok()) << event.data;
  const JsonObject& object = parsed.value->as_object();
  return {std::string(object.at("stream").as_string()),
          object.at("position").to_number<std::uint64_t>(),
          object.at("tx").to_number<std::uint64_t>()};
}

// Every record of both streams, each once, in the order of transactions.
class Expectation {
 public:
  void See(const Event& event) {
    ASSERT_EQ(event.type, "") << event.data;
    const Place place = PlaceOf(event);
    EXPECT_EQ(place.position, ++positions_[place.stream]) << place.stream;
    EXPECT_GE(place.tx, tx_) << place.stream << " " << place.position;
    tx_ = place.tx;
    ++seen_;
  }
  std::size_t seen() const { return seen_; }

 private:
  std::map<std::string, std::uint64_t> positions_;
  std::uint64_t tx_ = 0;
  std::size_t seen_ = 0;
};

TEST(WatchStreamTest, ShowsWhatComesAndWhatCameBefore) {
  HookedEngine engine;
  Writer writer(engine.journal());
  writer.Write(1, 1);
  Half half(engine);
  const auto from_now = half.Watch({schemas::kResourcesStream});
  const auto from_start = half.Watch({schemas::kResourcesStream}, half.StartToken());
  writer.Write(0, 1);
  const std::vector<Event> now = Read(*from_now, 1);
  ASSERT_THAT(now, SizeIs(1));
  EXPECT_EQ(PlaceOf(now[0]).position, 2u);
  EXPECT_THAT(now[0].data, HasSubstr(R"("key":"id-2","actor":"ops","action":"create")"));
  EXPECT_THAT(now[0].data, HasSubstr(R"("resource":{"id":"id-2","kind":"Channel")"));
  const std::vector<Event> all = Read(*from_start, 2);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(PlaceOf(all[0]).position, 1u);
  EXPECT_EQ(all[1].data, now[0].data);
}

TEST(WatchStreamTest, ABacklogTakesNoThreadOfWrites) {
  HookedEngine engine;
  Writer writer(engine.journal());
  writer.Write(1, 1);
  Half half(engine);
  // What writes wait for has its only thread to itself; the backlog comes all the same.
  std::latch release(1);
  ASSERT_TRUE(half.workers().Run([&release] { release.wait(); }));
  const auto from_start = half.Watch(kBoth, half.StartToken());
  const auto has_record = [&] {
    return std::ranges::any_of(ParseEvents(from_start->Next().bytes),
                               [](const Event& event) { return !event.data.empty(); });
  };
  EXPECT_TRUE(support::WaitFor(has_record, engine::Deadline::After(std::chrono::seconds(5))));
  release.count_down();
}

TEST(WatchStreamTest, OnlyOperatorsSeePlaces) {
  HookedEngine engine;
  Half half(engine);
  const auto watch = half.Watch({schemas::kResourcesStream}, "", {});
  Writer(engine.journal()).Write(0, 1);
  const std::vector<Event> events = Read(*watch, 1);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events[0].data, testing::StartsWith(R"({"stream":"resources","time":")"));
  EXPECT_THAT(events[0].data, Not(HasSubstr("position")));
  EXPECT_THAT(events[0].data, Not(HasSubstr("\"tx\"")));
}

TEST(WatchStreamTest, WhatACallerMayNotSeeIsPassedOver) {
  HookedEngine engine;
  Half half(engine);
  const auto watch = half.Watch(
      {schemas::kResourcesStream}, "",
      {.is_admin = true, .sees = [](const engine::Record& record, const engine::Payload&) {
         return record.key == "id-3";
       }});
  Writer writer(engine.journal());
  writer.Write(0, 3);
  const std::vector<Event> events = Read(*watch, 1);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(PlaceOf(events[0]).position, 3u);
}

TEST(WatchStreamTest, EndsWhenItsTokenExpires) {
  HookedEngine engine;
  Half half(engine);
  const auto expired = engine::Deadline::After(engine::Duration(0));
  const auto watch = half.Watch({schemas::kResourcesStream}, "", {.until = expired});
  Writer(engine.journal()).Write(0, 1);
  const BodySource::Piece piece = watch->Next();
  EXPECT_TRUE(piece.is_last);
  const std::vector<Event> events = ParseEvents(piece.bytes);
  ASSERT_THAT(events, SizeIs(2));  // Where it begins, and this.
  EXPECT_EQ(events[1].type, "expired");
  EXPECT_EQ(events[1].id, events[0].id);
}

TEST(WatchStreamTest, ASilentWatchSaysThatItIsThereAndWhere) {
  HookedEngine engine;
  Half half(engine, std::size_t{1} << 20, {.heartbeat = std::chrono::milliseconds(1)});
  const auto nobody = [](const engine::Record&, const engine::Payload&) { return false; };
  const auto watch =
      half.Watch({schemas::kResourcesStream}, "", {.is_admin = true, .sees = nobody});
  const std::string first = ParseEvents(watch->Next().bytes).at(0).id;
  Writer(engine.journal()).Write(0, 2);
  std::string last;
  ASSERT_TRUE(support::WaitFor(
      [&] {
        for (const Event& event : ParseEvents(watch->Next().bytes)) {
          EXPECT_EQ(event.data, "");
          last = event.id.empty() ? last : event.id;
        }
        const auto cursor = half.store().cursors().Read(last.empty() ? first : last);
        return cursor->streams.front().position == Position{2};
      },
      support::Soon()));
}

// A writer at full speed, clients that leave and come back at random to either of two servers, and
// so little kept in memory that they fall from it into the journal and back all the time.
TEST(WatchStreamTest, NothingIsSkippedOrRepeatedWhereverAClientGoesOn) {
  support::SeededRandom random;
  HookedEngine engine;
  Half halves[] = {Half(engine, std::size_t{6} << 10), Half(engine, std::size_t{60} << 10)};
  constexpr int kTransactions = 400;
  std::atomic<std::size_t> written = 0;
  std::atomic<bool> is_done = false;
  engine::Thread thread("writer", [&] {
    Writer writer(engine.journal());
    support::SeededRandom own;
    for (int i = 0; i < kTransactions; ++i) {
      const std::uint64_t kills = own.Below(4);
      const std::uint64_t channels = kills == 0 ? 1 : own.Below(4);
      writer.Write(static_cast<int>(kills), static_cast<int>(channels));
      written += kills + channels;
    }
    is_done = true;
  });
  Expectation expectation;
  std::string token = halves[0].StartToken();
  const engine::Deadline deadline = support::Soon();
  while (!(is_done && expectation.seen() == written) && !deadline.HasPassed()) {
    const auto watch = halves[random.Below(2)].Watch(kBoth, token);
    for (std::uint64_t pieces = random.Below(30); pieces > 0; --pieces) {
      for (const Event& event : ParseEvents(watch->Next().bytes)) {
        token = event.id.empty() ? token : event.id;
        if (!event.data.empty()) {
          expectation.See(event);
        }
        if (random.Below(50) == 0) {
          pieces = 1;  // The connection breaks in the middle of what was sent.
          break;
        }
      }
      int looks = 0;  // Lets a worker get somewhere.
      support::WaitFor([&] { return ++looks == 2; }, deadline, std::chrono::milliseconds(1));
    }
  }
  thread.Join();
  EXPECT_EQ(expectation.seen(), written) << "seed " << random.seed();
  EXPECT_GT(halves[0].feed().counters().reads, 0u);
}

TEST(WatchStreamTest, AClientThatIsTooSlowIsCutOffAndGoesOnFromItsId) {
  HookedEngine engine;
  Half half(engine, std::size_t{8} << 10, {.patience = std::chrono::nanoseconds(0)});
  Writer writer(engine.journal());
  const auto watch = half.Watch(kBoth);
  writer.Write(1, 1);
  Expectation expectation;
  for (const Event& event : Read(*watch, 2)) {
    expectation.See(event);
  }
  writer.Write(0, 100);
  ASSERT_TRUE(half.CatchesUp(Position{101}));
  const std::vector<Event> last = Read(*watch, 1);
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(last[0].type, "cut-off");
  EXPECT_EQ(half.feed().counters().cut_off, 1u);
  for (const Event& event : Read(*half.Watch(kBoth, last[0].id), 100)) {
    expectation.See(event);
  }
  EXPECT_EQ(expectation.seen(), 102u);
}

TEST(WatchStreamTest, AWatchWhoseHistoryWasCompactedEnds) {
  HookedEngine engine;
  Writer writer(engine.journal());
  writer.Write(0, 10);
  Half half(engine);
  engine::Compactor compactor(engine.journal(), {});
  ASSERT_OK(compactor.RaiseTo(schemas::kResourcesStream, Position{5}, std::chrono::seconds(30)));
  const auto watch = half.Watch(kBoth, half.StartToken());
  const std::vector<Event> events = Read(*watch, 1);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].type, "gone");
  EXPECT_EQ(half.feed().counters().gone, 1u);
}

TEST(WatchStreamTest, ARecordOfAnotherHistoryIsNotShown) {
  HookedEngine engine;
  Writer writer(engine.journal());
  writer.Write(0, 1);
  Half half(engine);
  HistoryCursor other = CursorOf(*half.store().main().Last());
  for (engine::StreamCursor& stream : other.streams) {
    stream.digest = engine::Digest{engine::Raw(stream.digest) + 1};
  }
  const auto watch = half.Watch(kBoth, half.store().cursors().Show(other));
  writer.Write(0, 1);
  const std::vector<Event> events = Read(*watch, 1);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].type, "gone");
}

TEST(WatchStreamTest, AStoreThatIsAwayOnlyDelaysIt) {
  HookedEngine engine;
  Writer writer(engine.journal());
  writer.Write(0, 200);
  Half half(engine, 1);
  engine.SetAfterRead([] { return absl::UnavailableError("away"); });
  const auto watch = half.Watch(kBoth, half.StartToken());
  EXPECT_THAT(Read(*watch, 200), SizeIs(200)) << "the journal can still be read";
  writer.Write(0, 1);
  watch->Next();
  engine.SetAfterRead(nullptr);
  EXPECT_THAT(Read(*watch, 1), SizeIs(1));
}

TEST(WatchStreamTest, EndsWhenTheServerDoes) {
  HookedEngine engine;
  Half half(engine);
  const auto watch = half.Watch(kBoth);
  watch->Next();
  watch->End();
  const BodySource::Piece piece = watch->Next();
  EXPECT_TRUE(piece.is_last);
  EXPECT_EQ(ParseEvents(piece.bytes).at(0).type, "end");
  EXPECT_THAT(ParseEvents(piece.bytes).at(0).id, Not(""));
}

TEST(FeedTest, PlacesAreBoundedAndGivenBack) {
  HookedEngine engine;
  Half half(engine, 1, {.max_watches = 2});
  auto one = half.feed().TakeWatch();
  const auto two = half.feed().TakeWatch();
  EXPECT_EQ(half.feed().TakeWatch(), nullptr);
  EXPECT_EQ(half.feed().watches(), 2u);
  one.reset();
  EXPECT_NE(half.feed().TakeWatch(), nullptr);
}

}  // namespace
}  // namespace api
