// Reads that show a cursor: X-Halo-At-Least.

#include <gmock/gmock.h>

#include "api/dispatch/cursor.h"
#include "api/http/problem.h"
#include "schemas/codec.h"
#include "schemas/killswitch_generated.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/api/dispatch/operators.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"

namespace api {
namespace {

using dispatch_test::HeaderOf;
using dispatch_test::HookedEngine;
using dispatch_test::Slot;
using support::StatusIs;
using testing::HasSubstr;

constexpr char kResource[] = "/api/hyperfleet/v1/thing";
constexpr char kProvenRoute[] = "/api/v1/acted-on";
const HeaderField kAdmin = {"Authorization", "Bearer token"};

// One server's half over a store that others may write to.
class Replica {
 public:
  Replica(engine::Engine& engine, engine::Duration look_interval) {
    router_.AddFamily(HyperfleetFamily());
    router_.AddFamily(ControlFamily());
    StoreOptions options;
    options.look_interval = look_interval;
    store_ = *Store::Open(engine, projections::MainProjections(), projections::AuditProjections(),
                          options);
    dispatcher_.emplace(router_, *store_, workers_, operators_.admission(),
                        [](const std::function<void()>& task) { task(); });
    const auto position = [](const engine::View& view) {
      return JsonResponse(
          200, std::to_string(engine::Raw(view.Find(schemas::kKillSwitchStream)->position)));
    };
    dispatcher_->Read(
        Access::kResources, kResource,
        [position](const Call&, const LatestView& view) { return position(*view.ptr()); });
    dispatcher_->ReadProven(
        Access::kAdmin, kProvenRoute,
        [position](const Call&, const ProvenView& view) { return position(*view.ptr()); });
  }

  Slot Begin(const std::string& target, const std::string& at_least,
             engine::Deadline deadline = support::Soon()) {
    RequestParts parts;
    parts.target = target;
    parts.headers = {kAdmin, {"Host", "halo.example"}};
    if (!at_least.empty()) {
      parts.headers.push_back({"X-Halo-At-Least", at_least});
    }
    parts.deadline = deadline;
    Slot slot;
    router_.Dispatch(std::make_shared<Request>(std::move(parts)), slot.MakeResponder());
    return slot;
  }
  Response Ask(const std::string& target, const std::string& at_least,
               engine::Deadline deadline = support::Soon()) {
    return Begin(target, at_least, deadline).Wait();
  }
  Store& store() { return *store_; }
  // A cursor of the kill switch alone.
  std::string Cursor(std::uint64_t position, engine::Digest digest) {
    return store_->cursors().Show(
        {engine::Tx{position}, {{schemas::kKillSwitchStream, engine::Position{position}, digest}}});
  }

 private:
  Router router_;
  dispatch_test::Operators operators_;
  std::unique_ptr<Store> store_;
  Workers workers_{1, 8};
  std::optional<Dispatcher> dispatcher_;
};

class AtLeastTest : public testing::Test {
 protected:
  engine::Record Kill() {
    flatbuffers::FlatBufferBuilder body;
    const auto name = body.CreateString("exp");
    const auto by = body.CreateString("ops");
    return support::AppendOne(
        engine_.journal(), schemas::kKillSwitchStream, "",
        schemas::Encode(body, schemas::CreateKill(body, name, schemas::KillState::kKilled, by)));
  }

  HookedEngine engine_;
};

constexpr engine::Duration kNever = std::chrono::hours(1);
constexpr engine::Duration kOften = std::chrono::milliseconds(5);
const std::string kCached = std::string(kResource) + "?freshness=cached";

TEST_F(AtLeastTest, AViewThatLacksItIsNotServedFromMemory) {
  Replica one(engine_, kNever);
  Replica two(engine_, kNever);
  ASSERT_EQ(two.Ask(kCached, "").body, "0");
  Kill();
  const std::string cursor = HeaderOf(one.Ask(kResource, ""), "X-Halo-Cursor");
  EXPECT_EQ(two.Ask(kCached, "").body, "0");
  EXPECT_EQ(two.Ask(kCached, cursor).body, "1");
}

TEST_F(AtLeastTest, AViewThatHasItAsksNobody) {
  Replica replica(engine_, kNever);
  Kill();
  const std::string cursor = HeaderOf(replica.Ask(kResource, ""), "X-Halo-Cursor");
  const std::uint64_t before = replica.store().main().counters().flights;
  EXPECT_EQ(replica.Ask(kCached, cursor).body, "1");
  EXPECT_EQ(replica.store().main().counters().flights, before);
}

TEST_F(AtLeastTest, WhatIsNotThereYetIsWaitedFor) {
  Replica replica(engine_, kOften);
  const engine::Record first = Kill();
  Slot slot = replica.Begin(kResource, replica.Cursor(2, first.digest));
  ASSERT_EQ(replica.Ask(kResource, "").body, "1");
  EXPECT_FALSE(slot.Answered());
  Kill();
  EXPECT_EQ(slot.Wait().status, 410) << "it got there, by another way";
}

TEST_F(AtLeastTest, WhatDoesNotComeInTimeIsRefused) {
  Replica replica(engine_, kOften);
  const engine::Deadline soon = engine::Deadline::After(std::chrono::milliseconds(20));
  const Response refused = replica.Ask(kResource, replica.Cursor(1, engine::Digest{1}), soon);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(HeaderOf(refused, "Retry-After"), "1");
  EXPECT_EQ(replica.Ask(kProvenRoute, replica.Cursor(1, engine::Digest{1})).status, 503);
}

TEST_F(AtLeastTest, AnotherHistoryIsGone) {
  Replica replica(engine_, kNever);
  const engine::Record first = Kill();
  const std::string other = replica.Cursor(1, engine::Digest{engine::Raw(first.digest) + 1});
  for (const std::string& path : {std::string(kResource), std::string(kProvenRoute)}) {
    EXPECT_EQ(replica.Ask(path, other).status, 410) << "at its end";
  }
  Kill();
  for (const std::string& path : {std::string(kResource), std::string(kProvenRoute)}) {
    EXPECT_EQ(replica.Ask(path, other).status, 410) << "within it";
    EXPECT_EQ(replica.Ask(path, replica.Cursor(1, first.digest)).body, "2");
  }
  EXPECT_THAT(replica.Ask(kResource, other).body, HasSubstr("HYPERFLEET-NTF-005"));
}

TEST_F(AtLeastTest, WhatIsNoCursorIsRefusedInTheFormOfTheFamily) {
  Replica replica(engine_, kNever);
  const Response problem = replica.Ask(kResource, "1");
  EXPECT_EQ(problem.status, 400);
  EXPECT_THAT(problem.body, HasSubstr(R"("field":"X-Halo-At-Least")"));
  const Response error = replica.Ask(kProvenRoute, "1");
  EXPECT_EQ(error.status, 400);
  EXPECT_THAT(error.body, HasSubstr(R"({"error":)"));
}

TEST_F(AtLeastTest, EveryReplicaReadsTheCursorsOfTheOthers) {
  Replica one(engine_, kNever);
  Replica two(engine_, kNever);
  Kill();
  const std::string cursor = HeaderOf(one.Ask(kResource, ""), "X-Halo-Cursor");
  const auto read = two.store().cursors().Read(cursor);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, CursorOf(*one.store().main().Last()));
  EXPECT_EQ(HeaderOf(two.Ask(kResource, ""), "X-Halo-Cursor"), cursor) << "the same point";
}

TEST_F(AtLeastTest, ADamagedKeyStopsTheStart) {
  ASSERT_OK(engine_.key_value().Put("seal/cursors", "short", std::nullopt, support::Soon()));
  EXPECT_THAT(
      Store::Open(engine_, projections::MainProjections(), projections::AuditProjections(), {})
          .status(),
      StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace api
