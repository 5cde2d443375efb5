#include "api/dispatch/dispatcher.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "api/dispatch/idempotency.h"
#include "api/http/trace.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"

namespace api {
namespace {

std::string Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// Larger bodies are read by a worker: megabytes of JSON take the better part of a second, and for
// that long the I/O thread would answer nobody, probes included.
constexpr std::size_t kPreparedInPlace = std::size_t{128} << 10;

// What a client is told; the store's own words go to the log only.
std::string_view Sentence(const absl::Status& why, std::optional<Outcome> outcome) {
  if (outcome == Outcome::kUnknown) {
    return "the store did not say whether the change was made";
  }
  if (const std::string_view sentence = engine::Sentence(engine::ReasonOf(why));
      !sentence.empty()) {
    return sentence;
  }
  switch (why.code()) {
    case absl::StatusCode::kResourceExhausted:
      return "too many requests wait for the store";
    case absl::StatusCode::kDataLoss:
      return "the stored history of this is damaged; /readyz says where";
    case absl::StatusCode::kInvalidArgument:
      return "the change would be over what a record (1 MiB) or a transaction (4 MiB) can hold";
    case absl::StatusCode::kDeadlineExceeded:
      return "the store did not answer in time";
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kUnknown:
      return "the store cannot be reached";
    default:
      return "an internal error";
  }
}

ProblemCode CodeOf(const absl::Status& why) {
  // Known to be the store's trouble, and not ours, whatever its code says to the engine.
  if (engine::ReasonOf(why) != engine::Reason::kNone) {
    return ProblemCode::kUnavailable;
  }
  switch (why.code()) {
    case absl::StatusCode::kInvalidArgument:
      return ProblemCode::kPayloadTooLarge;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnknown:
      return ProblemCode::kUnavailable;
    default:
      return ProblemCode::kInternal;
  }
}

// The refusal of a request because of its idempotency key.
Response RefuseKey(const Request& request, ProblemCode code, std::string_view detail) {
  const bool is_malformed = code == ProblemCode::kValidation;
  return RefuseRequest(request, code, detail, is_malformed ? "Idempotency-Key" : "", "format");
}

// The command that carries a mutation and its caller through the committer.
class ParkedMutation final : public engine::Command {
 public:
  ParkedMutation(Store& store, Call call, std::optional<engine::RetryKey> key,
                 std::unique_ptr<Mutation> mutation, Responder responder)
      : store_(store),
        call_(std::move(call)),
        key_(std::move(key)),
        mutation_(std::move(mutation)),
        responder_(std::move(responder)) {}

  engine::Deadline deadline() const override { return call_.request->deadline(); }
  const engine::RetryKey* retry_key() const override { return key_ ? &*key_ : nullptr; }

  engine::Proposal Decide(const engine::DecideContext& context) override {
    seen_ = context.view.tx;
    rendered_.reset();
    return mutation_->Decide(context);
  }

  std::string AnswerToKeep(const engine::CommandOutcome& outcome) override {
    rendered_ = mutation_->Render(outcome);
    return EncodeAnswer(*rendered_);
  }

  void Finish(const engine::CommandOutcome& outcome) override {
    responder_.Answer(Answer(outcome));
  }

 private:
  Response Answer(const engine::CommandOutcome& outcome) {
    switch (outcome.kind) {
      case engine::CommandOutcome::Kind::kCommitted:
      case engine::CommandOutcome::Kind::kNothing:
        return Rendered(outcome);
      case engine::CommandOutcome::Kind::kFailed:
        return StoreFailure(*call_.request, outcome.why, Outcome::kNone);
      case engine::CommandOutcome::Kind::kUnknown:
        return StoreFailure(*call_.request, outcome.why, Outcome::kUnknown);
      case engine::CommandOutcome::Kind::kRepeated:
        return Repeated(outcome);
      case engine::CommandOutcome::Kind::kKeyReused:
        return RefuseKey(*call_.request, ProblemCode::kKeyReused,
                         "this Idempotency-Key was used for another request");
    }
    return StoreFailure(*call_.request, absl::InternalError("no such outcome"), Outcome::kUnknown);
  }

  Response Rendered(const engine::CommandOutcome& outcome) {
    const bool committed = outcome.kind == engine::CommandOutcome::Kind::kCommitted;
    if (committed) {
      mutation_->Committed(outcome);
    }
    Response response = rendered_ ? *std::move(rendered_) : mutation_->Render(outcome);
    AddTx(call_.caller, committed ? outcome.tx : seen_, response);
    AddCursor(store_, *store_.main().Last(), response);
    return response;
  }

  Response Repeated(const engine::CommandOutcome& outcome) {
    absl::StatusOr<Response> kept = DecodeAnswer(outcome.answer);
    if (!kept.ok()) {
      return StoreFailure(*call_.request, kept.status(), Outcome::kUnknown);
    }
    kept->With("Idempotent-Replayed", "true");
    AddTx(call_.caller, outcome.tx, *kept);
    AddCursor(store_, *store_.main().Last(), *kept);
    return *std::move(kept);
  }

  Store& store_;
  const Call call_;
  const std::optional<engine::RetryKey> key_;
  const std::unique_ptr<Mutation> mutation_;
  Responder responder_;
  std::optional<Response> rendered_;  // Before the commit, for the key.
  engine::Tx seen_ = engine::Tx::kBeforeFirst;
};

}  // namespace

Response StoreFailure(const Request& request, const absl::Status& why,
                      std::optional<Outcome> outcome) {
  const std::string_view sentence = Sentence(why, outcome);
  const ProblemCode code = outcome == Outcome::kUnknown ? ProblemCode::kUnavailable : CodeOf(why);
  const int status = ProblemStatus(code);
  engine::Log(status == 500 ? engine::Severity::kError : engine::Severity::kWarning,
              "store failed a request",
              {{"request_id", request.id()},
               {"trace_id", TraceIdOf(request)},
               {"path", request.path()},
               {"error", Text(why)}});
  if (status < 500) {
    outcome.reset();
  }
  Response response;
  if (AnswersProblems(request)) {
    Problem problem;
    problem.code = code;
    problem.detail = sentence;
    problem.outcome = outcome;
    response = ProblemResponse(request, problem);
  } else {
    response = ControlError(status, sentence, outcome);
  }
  if (status == 503) {
    response.With("Retry-After", "1");
  }
  return response;
}

void AddTx(const Caller& caller, engine::Tx tx, Response& response) {
  if (caller.is_admin) {
    response.With("X-Halo-Tx", std::to_string(engine::Raw(tx)));
  }
}

void AddCursor(Store& store, const engine::View& view, Response& response) {
  response.With("X-Halo-Cursor", store.cursors().ShowView(view));
}

void AddStale(const Seen& seen, Response& response) {
  if (seen.stale_seconds) {
    response.With("X-Halo-Stale", std::to_string(*seen.stale_seconds));
  }
}

void Dispatcher::Admit(Access access, RequestPtr request, Responder responder,
                       std::shared_ptr<const CallHandler> handler, bool may_need_keys) const {
  Admission::Verdict verdict = admission_.Judge(access, *request, may_need_keys);
  if (auto* refusal = std::get_if<Response>(&verdict)) {
    responder.Answer(std::move(*refusal));
    return;
  }
  if (auto* caller = std::get_if<Caller>(&verdict)) {
    (*handler)({std::move(request), std::move(*caller)}, std::move(responder));
    return;
  }
  struct Parked {
    RequestPtr request;
    Responder responder;
    std::shared_ptr<const CallHandler> handler;
  };
  auto parked = std::make_shared<Parked>(
      Parked{std::move(request), std::move(responder), std::move(handler)});
  const auto go_on = [this, access, parked] {
    Admit(access, parked->request, std::move(parked->responder), parked->handler, false);
  };
  KeySource& source = *std::get<NeedsKeys>(verdict).source;
  if (!source.Refresh([this, go_on] { post_(go_on); })) {
    go_on();
  }
}

void Dispatcher::Handle(Access access, Method method, std::string_view pattern,
                        CallHandler handler) {
  router_.Handle(method, pattern,
                 [this, access, shared = std::make_shared<const CallHandler>(std::move(handler))](
                     RequestPtr request, Responder responder) {
                   Admit(access, std::move(request), std::move(responder), shared, true);
                 });
}

void Dispatcher::Read(Access access, std::string_view pattern, ReadHandler handler) {
  auto shared = std::make_shared<const ReadHandler>(std::move(handler));
  Handle(access, Method::kGet, pattern, [this, access, shared](Call call, Responder responder) {
    if (call.request->Query("as_of")) {
      LookBack(access, shared, std::move(call), std::move(responder));
      return;
    }
    Park(access, store_.main(), std::move(call), std::move(responder),
         [this, shared](Call parked, Seen seen, Responder waiting) {
           ReadAnswer answer = (*shared)(parked, seen.view);
           FinishRead(std::move(answer), std::move(parked), std::move(seen), std::move(waiting));
         });
  });
}

void Dispatcher::FinishRead(ReadAnswer answer, Call call, Seen seen, Responder responder) {
  if (auto* later = std::get_if<LongRead>(&answer)) {
    RunBlocking(std::move(call), std::move(responder),
                [this, later = std::move(*later), seen = std::move(seen)](Call long_call,
                                                                          Responder waiting) {
                  Response response = later([&waiting] { return waiting.Gone(); });
                  FinishRead(std::move(response), std::move(long_call), seen, std::move(waiting));
                });
    return;
  }
  auto& response = std::get<Response>(answer);
  AddSeen(call, seen, response);
  responder.Answer(std::move(response));
}

void Dispatcher::AddSeen(const Call& call, const Seen& seen, Response& response) {
  AddTx(call.caller, seen.view.tx(), response);
  AddCursor(store_, *seen.view.ptr(), response);
  AddStale(seen, response);
}

void Dispatcher::Mutate(Access access, Method method, std::string_view pattern,
                        PrepareHandler prepare) {
  Handle(access, method, pattern,
         [this, shared = std::make_shared<const PrepareHandler>(std::move(prepare))](
             Call call, Responder responder) {
           if (call.request->body().size() <= kPreparedInPlace) {
             Submit(*shared, std::move(call), std::move(responder));
             return;
           }
           RunBlocking(std::move(call), std::move(responder),
                       [this, shared](Call large, Responder waiting) {
                         Submit(*shared, std::move(large), std::move(waiting));
                       });
         });
}

void Dispatcher::Submit(const PrepareHandler& prepare, Call call, Responder responder) {
  absl::StatusOr<std::optional<engine::RetryKey>> key = RetryKeyOf(*call.request, call.caller);
  if (!key.ok()) {
    responder.Answer(RefuseKey(*call.request, ProblemCode::kValidation, Text(key.status())));
    return;
  }
  Prepared prepared = prepare(call);
  if (auto* refusal = std::get_if<Response>(&prepared)) {
    responder.Answer(std::move(*refusal));
    return;
  }
  store_.committer().Submit(std::make_unique<ParkedMutation>(
      store_, std::move(call), *std::move(key),
      std::get<std::unique_ptr<Mutation>>(std::move(prepared)), std::move(responder)));
}

namespace {

bool Changes(const Request& request) {
  return request.method() != Method::kGet && request.method() != Method::kHead;
}

}  // namespace

void Dispatcher::RunBlocking(Call call, Responder responder,
                             std::function<void(Call, Responder)> work) {
  const Work sort = Changes(*call.request) ? Work::kShort : Work::kLong;
  RunWork(sort, std::move(call), std::move(responder), std::move(work));
}

void Dispatcher::RunWork(Work sort, Call call, Responder responder,
                         std::function<void(Call, Responder)> work) {
  struct Waiting {
    Call call;
    std::optional<Responder> responder;
    std::function<void(Call, Responder)> work;
  };
  auto waiting =
      std::make_shared<Waiting>(Waiting{std::move(call), std::move(responder), std::move(work)});
  const Request& request = *waiting->call.request;
  const bool queued = workers_.Run(
      [waiting] {
        Responder responder = *std::move(waiting->responder);
        if (!responder.Gone()) {
          waiting->work(std::move(waiting->call), std::move(responder));
        }
      },
      sort);
  if (!queued) {
    waiting->responder->Answer(
        StoreFailure(request, absl::ResourceExhaustedError("the workers' queue is full"),
                     Changes(request) ? std::optional(Outcome::kNone) : std::nullopt));
  }
}

}  // namespace api
