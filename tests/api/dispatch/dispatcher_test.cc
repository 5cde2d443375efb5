#include "api/dispatch/dispatcher.h"

#include <atomic>
#include <latch>
#include <stdexcept>

#include "api/http/problem.h"
#include "engine/base/reason.h"
#include "projections/kill_list.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/api/dispatch/operators.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"

namespace api {
namespace {

using dispatch_test::HeaderOf;
using dispatch_test::HookedEngine;
using dispatch_test::MakeRequest;
using dispatch_test::Slot;
using testing::HasSubstr;
using testing::Not;

constexpr char kResource[] = "/api/hyperfleet/v1/thing";
constexpr char kControl[] = "/api/v1/thing";
constexpr char kProvenRoute[] = "/api/v1/acted-on";
const HeaderField kAdmin = {"Authorization", "Bearer token"};

// Kills whatever it is told to.
class Kill final : public Mutation {
 public:
  explicit Kill(std::string name) : name_(std::move(name)) {}
  engine::Proposal Decide(const engine::DecideContext& context) override {
    const auto list = engine::ImageIn<projections::KillList>(context.view);
    return projections::ProposeKill({.name = name_, .killed = true, .by = "ops", .reason = "r"},
                                    **list, context.footprint);
  }
  Response Render(const engine::CommandOutcome& outcome) override {
    return JsonResponse(
        200, outcome.kind == engine::CommandOutcome::Kind::kCommitted ? "changed" : "same");
  }

 private:
  const std::string name_;
};

class DispatcherTest : public testing::Test {
 protected:
  void SetUp() override {
    router_.AddFamily(HyperfleetFamily());
    router_.AddFamily(ControlFamily());
    StoreOptions options;
    options.look_interval = std::chrono::hours(1);
    ASSERT_OK_AND_ASSIGN(store_, Store::Open(engine_, projections::MainProjections(),
                                             projections::AuditProjections(), options));
    const auto read = [](const Call& call, const LatestView&) {
      return JsonResponse(200, call.caller.actor);
    };
    const auto kill = [](const Call& call) -> Prepared {
      if (call.request->body().empty()) {
        return JsonResponse(400, "empty");
      }
      return std::make_unique<Kill>(std::string(call.request->body()));
    };
    dispatcher_.emplace(router_, *store_, workers_, operators_.admission(),
                        [](const std::function<void()>& task) { task(); });
    dispatcher_->Read(Access::kResources, kResource, read);
    dispatcher_->Read(Access::kAdmin, kControl, read);
    dispatcher_->ReadProven(Access::kAdmin, kProvenRoute, [](const Call&, const ProvenView&) {
      return JsonResponse(200, "proven");
    });
    dispatcher_->Mutate(Access::kResources, Method::kPost, kResource, kill);
    dispatcher_->Mutate(Access::kAdmin, Method::kPost, kControl, kill);
  }

  Response Ask(const std::string& method, const std::string& target,
               const std::vector<HeaderField>& headers = {}, const std::string& body = "") {
    Slot slot;
    router_.Dispatch(MakeRequest(method, target, headers, body), slot.MakeResponder());
    return slot.Wait();
  }

  HookedEngine engine_;
  Router router_;
  dispatch_test::Operators operators_;
  std::unique_ptr<Store> store_;
  Workers workers_{1, 1};
  std::optional<Dispatcher> dispatcher_;
};

TEST_F(DispatcherTest, ReadsRideOnAFlightOfTheirOwn) {
  const std::uint64_t before = store_->main().counters().flights;
  EXPECT_EQ(Ask("GET", kResource).body, kSystemActor);
  EXPECT_EQ(store_->main().counters().flights, before + 1);
}

TEST_F(DispatcherTest, WhatOneReadThrowsIsItsOwn) {
  constexpr char kThrows[] = "/api/v1/throws";
  dispatcher_->Read(Access::kAdmin, kThrows,
                    [](const Call&, const LatestView&) -> Dispatcher::ReadAnswer {
                      throw std::runtime_error("no memory");
                    });
  support::ExpectErrorLogs();
  // Whichever lane's flight is held, it may still be on its way when the test is over.
  struct Held {
    std::atomic<bool> sent = false;
    std::atomic<bool> released = false;
  };
  const auto held = std::make_shared<Held>();
  engine_.SetAfterRead([held] {
    held->sent = true;
    support::WaitFor([&] { return held->released.load(); }, support::Soon());
    return absl::OkStatus();
  });
  Slot before;
  router_.Dispatch(MakeRequest("GET", kResource), before.MakeResponder());
  EXPECT_TRUE(support::WaitFor([&] { return held->sent.load(); }, support::Soon()));
  engine_.SetAfterRead(nullptr);
  // These two ride on the next flight.
  Slot throws;
  Slot other;
  router_.Dispatch(MakeRequest("GET", kThrows, {kAdmin}), throws.MakeResponder());
  router_.Dispatch(MakeRequest("GET", kResource), other.MakeResponder());
  held->released = true;
  EXPECT_EQ(before.Wait().status, 200);
  EXPECT_EQ(throws.Wait().status, 500);
  EXPECT_EQ(other.Wait().status, 200);
}

TEST_F(DispatcherTest, CachedReadsAskNobody) {
  const std::uint64_t before = store_->main().counters().flights;
  EXPECT_EQ(Ask("GET", std::string(kResource) + "?freshness=cached").status, 200);
  EXPECT_EQ(store_->main().counters().flights, before);
  EXPECT_EQ(Ask("GET", std::string(kResource) + "?freshness=latest").status, 200);
  EXPECT_EQ(store_->main().counters().flights, before + 1);
  const Response refused = Ask("GET", std::string(kResource) + "?freshness=old");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("HYPERFLEET-VAL-000"));
}

// Whether this thread dispatches requests, as the I/O thread does.
thread_local bool dispatches = false;

TEST_F(DispatcherTest, ALongReadIsDoneByAWorker) {
  dispatcher_->Read(Access::kAdmin, "/api/v1/long",
                    [](const Call&, const LatestView&) -> Dispatcher::ReadAnswer {
                      EXPECT_TRUE(dispatches);
                      return [](const auto& /*gone*/) {
                        return JsonResponse(200, dispatches ? "here" : "elsewhere");
                      };
                    });
  dispatches = true;
  const Response response = Ask("GET", "/api/v1/long?freshness=cached", {kAdmin});
  dispatches = false;
  EXPECT_EQ(response.body, "elsewhere");
  EXPECT_EQ(HeaderOf(response, "X-Halo-Tx"), "0");
}

TEST_F(DispatcherTest, NobodyWorksForAClientThatHasGone) {
  class GoneSink final : public AnswerSink {
   public:
    void Answer(Response) override { ADD_FAILURE() << "answered"; }
    void Abandon() override { abandoned.count_down(); }
    bool Gone() const override { return true; }
    std::latch abandoned{1};
  };
  dispatcher_->Read(Access::kAdmin, "/api/v1/long",
                    [](const Call&, const LatestView&) -> Dispatcher::ReadAnswer {
                      return [](const auto& /*gone*/) {
                        ADD_FAILURE() << "begun";
                        return Response();
                      };
                    });
  const auto sink = std::make_shared<GoneSink>();
  router_.Dispatch(MakeRequest("GET", "/api/v1/long?freshness=cached", {kAdmin}), Responder(sink));
  sink->abandoned.wait();
}

// So does every other line that is written because of a request.
TEST_F(DispatcherTest, TheLineOfAFailureNamesItsTrace) {
  engine_.SetAfterRead([] { return absl::UnavailableError("away"); });
  const HeaderField trace = {"traceparent",
                             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
  EXPECT_EQ(Ask("GET", kResource, {trace}).status, 503);
  EXPECT_THAT(support::LogLines(),
              testing::Contains(AllOf(HasSubstr("store failed a request"),
                                      HasSubstr("0af7651916cd43dd8448eb211c80319c"))));
}

TEST_F(DispatcherTest, OperatorsAreKnownByTheirTokens) {
  EXPECT_EQ(Ask("GET", kResource, {kAdmin}).body, "ops");
  EXPECT_EQ(Ask("GET", kControl, {kAdmin}).body, "ops");
  EXPECT_EQ(Ask("GET", kControl).status, 401);
  EXPECT_EQ(Ask("POST", kControl, {}, "x").status, 401);
  EXPECT_EQ(Ask("POST", kControl, {kAdmin, {"Origin", "https://evil.example"}}, "x").status, 403);
}

TEST_F(DispatcherTest, APageOfAnotherSiteChangesNoResource) {
  for (const HeaderField& field : {HeaderField{"Origin", "https://evil.example"},
                                   HeaderField{"Sec-Fetch-Site", "cross-site"}}) {
    const Response refused = Ask("POST", kResource, {field}, "x");
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.body, HasSubstr("HYPERFLEET-AUZ-001"));
    EXPECT_EQ(Ask("GET", kResource, {field}).status, 200);
  }
}

TEST_F(DispatcherTest, OnlyOperatorsSeeTransactions) {
  EXPECT_EQ(HeaderOf(Ask("POST", kControl, {kAdmin}, "x"), "X-Halo-Tx"), "1");
  EXPECT_EQ(HeaderOf(Ask("POST", kControl, {kAdmin}, "x"), "X-Halo-Tx"), "1");
  EXPECT_EQ(HeaderOf(Ask("GET", kControl, {kAdmin}), "X-Halo-Tx"), "1");
  EXPECT_EQ(HeaderOf(Ask("GET", kResource), "X-Halo-Tx"), "");
  EXPECT_EQ(HeaderOf(Ask("POST", kResource, {}, "y"), "X-Halo-Tx"), "");
}

TEST_F(DispatcherTest, MutationsSayWhetherTheyChangedAnything) {
  EXPECT_EQ(Ask("POST", kResource, {}, "x").body, "changed");
  EXPECT_EQ(Ask("POST", kResource, {}, "x").body, "same");
  EXPECT_EQ(Ask("POST", kResource).status, 400);
}

TEST_F(DispatcherTest, WhatIsSentAgainUnderItsKeyGetsTheFirstAnswer) {
  const HeaderField key = {"Idempotency-Key", "k-1"};
  for (const char* path : {kResource, kControl}) {
    const Response first = Ask("POST", path, {kAdmin, key}, path);
    EXPECT_EQ(first.body, "changed");
    EXPECT_EQ(HeaderOf(first, "Idempotent-Replayed"), "");
    ASSERT_EQ(Ask("POST", path, {kAdmin}, "another").status, 200);
    const Response again = Ask("POST", path, {kAdmin, key}, path);
    EXPECT_EQ(again.status, first.status);
    EXPECT_EQ(again.body, "changed") << "judged afresh it would be the same";
    EXPECT_EQ(HeaderOf(again, "Idempotent-Replayed"), "true");
    EXPECT_EQ(HeaderOf(again, "X-Halo-Tx"), HeaderOf(first, "X-Halo-Tx"));
  }
  // It is counted when the batch has been judged; the answer is out before.
  EXPECT_TRUE(support::WaitFor([&] { return store_->committer().counters().repeated == 2; },
                               support::Soon()));
}

TEST_F(DispatcherTest, AnotherBodyUnderAKeyIsRefused) {
  const HeaderField key = {"Idempotency-Key", "k-1"};
  ASSERT_EQ(Ask("POST", kResource, {kAdmin, key}, "x").status, 200);
  ASSERT_EQ(Ask("POST", kControl, {kAdmin, key}, "z").body, "changed") << "a key is of a path";
  const Response problem = Ask("POST", kResource, {kAdmin, key}, "y");
  EXPECT_EQ(problem.status, 422);
  EXPECT_THAT(problem.body, HasSubstr("HYPERFLEET-CNF-004"));
  EXPECT_THAT(problem.body, HasSubstr("errors/conflict"));
  const Response error = Ask("POST", kControl, {kAdmin, key}, "y");
  EXPECT_EQ(error.status, 422);
  EXPECT_THAT(error.body, HasSubstr(R"({"error":)"));
}

TEST_F(DispatcherTest, AKeyIsItsCallersOwn) {
  const HeaderField key = {"Idempotency-Key", "k-1"};
  ASSERT_EQ(Ask("POST", kResource, {kAdmin, key}, "x").body, "changed");
  EXPECT_EQ(Ask("POST", kResource, {key}, "x").body, "same") << "a stranger's is judged afresh";
  EXPECT_EQ(Ask("POST", kResource, {key}, "y").body, "changed");
}

TEST_F(DispatcherTest, WhatIsNoKeyIsRefusedInTheFormOfTheFamily) {
  const HeaderField bad = {"Idempotency-Key", "two words"};
  const Response problem = Ask("POST", kResource, {bad}, "x");
  EXPECT_EQ(problem.status, 400);
  EXPECT_THAT(problem.body, HasSubstr("HYPERFLEET-VAL-000"));
  EXPECT_THAT(problem.body, HasSubstr(R"("field":"Idempotency-Key")"));
  const Response error = Ask("POST", kControl, {kAdmin, bad}, "x");
  EXPECT_EQ(error.status, 400);
  EXPECT_THAT(error.body, HasSubstr(R"({"error":)"));
  EXPECT_EQ(Ask("GET", kResource, {bad}).status, 200) << "a read has no key";
}

TEST_F(DispatcherTest, WithoutTheStoreResourcesRefuse) {
  engine_.SetAfterRead([] { return absl::UnavailableError("SQLSTATE 57P01"); });
  const Response refused = Ask("GET", kResource);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(HeaderOf(refused, "Retry-After"), "1");
  EXPECT_THAT(refused.body, HasSubstr("HYPERFLEET-SVC-001"));
  EXPECT_THAT(refused.body, Not(HasSubstr("SQLSTATE")));
  EXPECT_THAT(refused.body, Not(HasSubstr("outcome")));
}

TEST_F(DispatcherTest, WithoutTheStoreListsOfTheControlPlaneGoStale) {
  engine_.SetAfterRead([] { return absl::UnavailableError("gone"); });
  const Response stale = Ask("GET", kControl, {kAdmin});
  EXPECT_EQ(stale.status, 200);
  EXPECT_THAT(HeaderOf(stale, "X-Halo-Stale"), testing::MatchesRegex("[0-9]+"));
  EXPECT_EQ(dispatcher_->stale_answers(), 1u);
  engine_.SetAfterRead(nullptr);
  EXPECT_EQ(HeaderOf(Ask("GET", kControl, {kAdmin}), "X-Halo-Stale"), "");
}

TEST_F(DispatcherTest, WhatHasToBeProvenIsNeverOlder) {
  EXPECT_EQ(Ask("GET", kProvenRoute, {kAdmin}).body, "proven");
  EXPECT_EQ(Ask("GET", std::string(kProvenRoute) + std::string("?freshness=cached"), {kAdmin}).body,
            "proven");
  EXPECT_EQ(Ask("GET", kProvenRoute).status, 401);
  engine_.SetAfterRead([] { return absl::UnavailableError("SQLSTATE 57P01"); });
  for (const char* query : {"", "?freshness=cached"}) {
    const Response refused = Ask("GET", std::string(kProvenRoute) + std::string(query), {kAdmin});
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(HeaderOf(refused, "Retry-After"), "1");
    EXPECT_THAT(refused.body, testing::StartsWith(R"({"error":)"));
    EXPECT_EQ(HeaderOf(refused, "X-Halo-Stale"), "");
  }
  EXPECT_EQ(dispatcher_->unproven(), 2u);
  engine_.SetAfterRead(nullptr);
  EXPECT_EQ(Ask("GET", kProvenRoute, {kAdmin}).status, 200);
}

TEST_F(DispatcherTest, AWriteThatFailedSaysThatNothingHappened) {
  engine_.SetBeforeBegin([] { return absl::UnavailableError("SQLSTATE 08006"); });
  const Response problem = Ask("POST", kResource, {}, "x");
  EXPECT_EQ(problem.status, 503);
  EXPECT_THAT(problem.body, HasSubstr(R"("outcome":"none")"));
  EXPECT_THAT(problem.body, Not(HasSubstr("SQLSTATE")));
  const Response error = Ask("POST", kControl, {kAdmin}, "x");
  EXPECT_EQ(error.status, 503);
  EXPECT_THAT(error.body, HasSubstr(R"("outcome":"none"})"));
  EXPECT_EQ(HeaderOf(error, "Retry-After"), "1");
}

TEST_F(DispatcherTest, AWriteThatMayHaveHappenedSaysSo) {
  Call call{MakeRequest("POST", kResource), {}};
  const Response problem =
      StoreFailure(*call.request, absl::UnknownError("lost"), Outcome::kUnknown);
  EXPECT_EQ(problem.status, 503);
  EXPECT_THAT(problem.body, HasSubstr(R"("outcome":"unknown")"));
}

TEST_F(DispatcherTest, FailuresHaveTheirStatus) {
  const auto request = MakeRequest("POST", kResource);
  const auto status = [&](const absl::Status& why) {
    return StoreFailure(*request, why, Outcome::kNone).status;
  };
  EXPECT_EQ(status(absl::UnavailableError("")), 503);
  EXPECT_EQ(status(absl::DeadlineExceededError("")), 503);
  EXPECT_EQ(status(absl::ResourceExhaustedError("")), 503);
  EXPECT_EQ(status(absl::DataLossError("")), 503);
  EXPECT_EQ(status(absl::InvalidArgumentError("")), 413);
  support::ExpectErrorLogs();
  EXPECT_EQ(status(absl::InternalError("")), 500);
}

TEST_F(DispatcherTest, AnAnswerSaysWhatAilsTheStoreInOurWords) {
  for (const engine::Reason reason :
       {engine::Reason::kDiskFull, engine::Reason::kLockBusy, engine::Reason::kForbidden,
        engine::Reason::kReadOnly, engine::Reason::kRebuilding}) {
    engine_.SetBeforeBegin([reason] {
      return engine::WithReason(reason, absl::PermissionDeniedError("SQLSTATE 42501"));
    });
    const std::string sentence(engine::Sentence(reason));
    const Response problem = Ask("POST", kResource, {}, "x");
    EXPECT_EQ(problem.status, 503);
    EXPECT_THAT(problem.body, HasSubstr("\"detail\":\"" + sentence + "\""));
    EXPECT_THAT(problem.body, HasSubstr(R"("outcome":"none")"));
    EXPECT_THAT(problem.body, Not(HasSubstr("SQLSTATE")));
    const Response error = Ask("POST", kControl, {kAdmin}, "x");
    EXPECT_THAT(error.body, HasSubstr("{\"error\":\"" + sentence + "\""));
    EXPECT_EQ(HeaderOf(error, "Retry-After"), "1");
  }
}

TEST_F(DispatcherTest, AFullDiskIsNoOverload) {
  const auto request = MakeRequest("POST", kResource);
  const absl::Status full =
      engine::WithReason(engine::Reason::kDiskFull, absl::ResourceExhaustedError(""));
  EXPECT_THAT(StoreFailure(*request, full).body, HasSubstr("the store's disk is full"));
  EXPECT_THAT(StoreFailure(*request, absl::ResourceExhaustedError("")).body,
              HasSubstr("too many requests"));
}

TEST_F(DispatcherTest, FullWorkersRefuse) {
  std::latch started(1);
  std::latch release(1);
  const auto hold = [&](const Call&, Responder responder) {
    started.count_down();
    release.wait();
    responder.Answer(JsonResponse(200, ""));
  };
  const auto quick = [](const Call&, Responder responder) {
    responder.Answer(JsonResponse(200, ""));
  };
  Slot first;
  Slot second;
  Slot third;
  dispatcher_->RunBlocking({MakeRequest("GET", kControl), {}}, first.MakeResponder(), hold);
  started.wait();
  dispatcher_->RunBlocking({MakeRequest("GET", kControl), {}}, second.MakeResponder(), quick);
  dispatcher_->RunBlocking({MakeRequest("GET", kControl), {}}, third.MakeResponder(), quick);
  EXPECT_EQ(third.Wait().status, 503);
  release.count_down();
  EXPECT_EQ(first.Wait().status, 200);
  EXPECT_EQ(second.Wait().status, 200);
}

TEST_F(DispatcherTest, LargeBodiesWaitForAWorker) {
  std::latch started(1);
  std::latch release(1);
  Slot holding;
  dispatcher_->RunBlocking({MakeRequest("POST", kControl), {}}, holding.MakeResponder(),
                           [&](const Call&, Responder responder) {
                             started.count_down();
                             release.wait();
                             responder.Answer(JsonResponse(200, ""));
                           });
  started.wait();
  EXPECT_EQ(Ask("POST", kResource, {}, "small").body, "changed");
  const std::string large(std::size_t{200} << 10, 'x');
  Slot queued;
  router_.Dispatch(MakeRequest("POST", kResource, {}, large), queued.MakeResponder());
  const Response refused = Ask("POST", kResource, {}, large);
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr(R"("outcome":"none")"));
  release.count_down();
  EXPECT_EQ(holding.Wait().status, 200);
  EXPECT_EQ(queued.Wait().body, "changed");
}

}  // namespace
}  // namespace api
