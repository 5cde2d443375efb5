// Dispatcher: what stands between the router and the plain functions that answer.
//
// A read declares its route, and whether it needs a proof: it parks on the main lane's next flight
// and then runs as a function from (call, view) to response, on a worker where that takes long. A
// mutation prepares (all that can be judged without the store), parks in the committer, and renders
// its answer when the outcome is known. No thread waits for either.
//
// What the store does wrong is told here, in the manner of the route's family and without a word
// of what the store said: see StoreFailure.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>

#include "api/dispatch/admission.h"
#include "api/dispatch/caller.h"
#include "api/dispatch/store.h"
#include "api/dispatch/workers.h"
#include "api/http/problem.h"
#include "api/http/router.h"
#include "engine/command.h"
#include "engine/view.h"

namespace api {

// A request and who sent it.
struct Call {
  RequestPtr request;
  Caller caller;
};

using LatestView = engine::FreshView<engine::Freshness::kLatest>;
using ProvenView = engine::FreshView<engine::Freshness::kProven>;

// What a handler knows beside the view: `view` is what the last flight brought, and when that
// flight failed (control-plane routes only), how old it is.
struct Seen {
  LatestView view;
  std::optional<std::int64_t> stale_seconds;
};

// One mutation. Prepared on the I/O thread, or on a worker where the body is large; Decide and
// Render run on the committer's thread and must not block.
class Mutation {
 public:
  virtual ~Mutation() = default;
  // As engine::Command::Decide: may be called again, everything kept is void then.
  virtual engine::Proposal Decide(const engine::DecideContext& context) = 0;
  // The answer. The outcome is kCommitted or kNothing. Where the request has an idempotency key, a
  // commit's answer is rendered before it, to be kept with it: kCommitted says then what will be
  // if it succeeds. Called once after a Decide.
  virtual Response Render(const engine::CommandOutcome& outcome) = 0;
  // It is done: called once, after the commit, before the answer goes out.
  virtual void Committed(const engine::CommandOutcome& /*outcome*/) {}
};

// A mutation that is ready to be judged, or the answer that it cannot be.
using Prepared = std::variant<Response, std::unique_ptr<Mutation>>;

// Set up once before the transport starts; then thread-safe. Never blocks.
class Dispatcher {
 public:
  // Runs something on the event loop, from any thread.
  using Post = std::function<void(std::function<void()>)>;

  // All arguments must outlive the dispatcher and every request. `post` is where a request goes on
  // that waited for an issuer's keys.
  Dispatcher(Router& router, Store& store, Workers& workers, const Admission& admission, Post post)
      : router_(router),
        store_(store),
        workers_(workers),
        admission_(admission),
        post_(std::move(post)) {}

  // What takes too long for the I/O thread: a worker runs it. It should end early, whatever it
  // returns then, when `gone` says that nobody waits for the answer any more, and say 503 after
  // the deadline of its request.
  using LongRead = std::function<Response(const std::function<bool()>& gone)>;
  using ReadAnswer = std::variant<Response, LongRead>;
  using ReadHandler = std::function<ReadAnswer(const Call&, const LatestView&)>;
  using ProvenHandler = std::function<Response(const Call&, const ProvenView&)>;
  using PrepareHandler = std::function<Prepared(const Call&)>;
  // For reads that need more than one view of the main lane.
  using CallHandler = std::function<void(Call, Responder)>;

  // A request for resources with `as_of`, by an operator, gets the state of then
  // (api/dispatch/past.h), on a worker; the handler notices no difference.
  void Read(Access access, std::string_view pattern, ReadHandler handler);
  // For what is acted on: the flight has to be proven (engine/proof.h), whatever the request says
  // of freshness. Else 503: never an older answer.
  void ReadProven(Access access, std::string_view pattern, ProvenHandler handler);
  void Mutate(Access access, Method method, std::string_view pattern, PrepareHandler prepare);
  void Handle(Access access, Method method, std::string_view pattern, CallHandler handler);

  // Parks the call on the lane's next flight, or goes on at once where the request says
  // `freshness=cached`. `next` is not called when the flight failed and the route does not go
  // stale: the caller has been answered then.
  //
  // A request with `X-Halo-At-Least` waits until the view has what that cursor has, whatever its
  // freshness: 410 where the cursor is of another history or older than what was compacted, 503
  // where the store does not get there in time. `next` may run on a worker then.
  void Park(Access access, Lane& lane, Call call, Responder responder,
            std::function<void(Call, Seen, Responder)> next);

  // Hands work that blocks to the workers; 503 when they are full. Work for a client that has gone
  // is not begun. What GET asks for may be long: it leaves a thread to everything else.
  void RunBlocking(Call call, Responder responder, std::function<void(Call, Responder)> work);

  // X-Halo-Tx, X-Halo-Cursor and X-Halo-Stale, as they belong to an answer.
  void AddSeen(const Call& call, const Seen& seen, Response& response);

  // Reads that were refused because nothing was proven.
  std::uint64_t unproven() const { return unproven_.load(std::memory_order_relaxed); }
  // Answers of reads that were served stale.
  std::uint64_t stale_answers() const { return stale_.load(std::memory_order_relaxed); }

  Store& store() { return store_; }

 private:
  // Calls the handler, now or once the keys have come that say whether it may be.
  void Admit(Access access, RequestPtr request, Responder responder,
             std::shared_ptr<const CallHandler> handler, bool may_need_keys) const;
  void Submit(const PrepareHandler& prepare, Call call, Responder responder);
  void FinishRead(ReadAnswer answer, Call call, Seen seen, Responder responder);
  // The same as RunBlocking, for one sort of work.
  void RunWork(Work sort, Call call, Responder responder,
               std::function<void(Call, Responder)> work);

  // look_back.cc
  void LookBack(Access access, std::shared_ptr<const ReadHandler> handler, Call call,
                Responder responder);

  // park.cc
  struct ParkedRead;
  using ParkedPtr = std::shared_ptr<ParkedRead>;
  void Fly(const ParkedPtr& parked);
  void OnFlight(const ParkedPtr& parked, const absl::StatusOr<engine::ViewPtr>& view);
  void Meet(const ParkedPtr& parked, Seen seen, bool was_asked);
  void CheckPassed(const ParkedPtr& parked, Seen seen);
  void AnswerProven(const ProvenHandler& handler, const Call& call, const engine::ViewPtr& view,
                    Responder responder);

  Router& router_;
  Store& store_;
  Workers& workers_;
  const Admission& admission_;
  const Post post_;
  std::atomic<std::uint64_t> stale_{0};
  std::atomic<std::uint64_t> unproven_{0};
};

// What a failure of the store looks like from outside: 503 SVC-001 or `{"error"}` with
// Retry-After, 500 for a bug, 413 for a record over the journal's limits. `outcome` for mutations.
Response StoreFailure(const Request& request, const absl::Status& why,
                      std::optional<Outcome> outcome = std::nullopt);

// `X-Halo-Tx`, for operators only.
void AddTx(const Caller& caller, engine::Tx tx, Response& response);
// `X-Halo-Cursor`: a point that has all of `view`.
void AddCursor(Store& store, const engine::View& view, Response& response);
// `X-Halo-Stale`, where the view was not fresh.
void AddStale(const Seen& seen, Response& response);

}  // namespace api
