// How reads wait for the view that they may be answered from.

#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "api/dispatch/cursor.h"
#include "api/dispatch/dispatcher.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"

namespace api {
namespace {

constexpr std::string_view kAtLeast = "X-Halo-At-Least";

enum class Asked { kLatest, kCached, kNonsense };

Asked FreshnessAsked(const Request& request) {
  const std::optional<std::string_view> asked = request.Query("freshness");
  if (!asked || *asked == "latest") {
    return Asked::kLatest;
  }
  return *asked == "cached" ? Asked::kCached : Asked::kNonsense;
}

// What the request wants to see at least, or the refusal of it.
std::variant<Response, std::optional<HistoryCursor>> AtLeastOf(const Request& request,
                                                               const CursorSeal& cursors) {
  const std::optional<std::string_view> header = request.Header(kAtLeast);
  if (!header) {
    return std::nullopt;
  }
  std::optional<HistoryCursor> cursor = cursors.Read(*header);
  if (!cursor) {
    return RefuseRequest(request, ProblemCode::kValidation,
                         "X-Halo-At-Least is no cursor of this store", kAtLeast, "format");
  }
  return cursor;
}

Response RefuseHistory(const Request& request) {
  return RefuseRequest(request, ProblemCode::kGone,
                       "the cursor is of a history that this store does not have (any more)");
}

Response NotThereYet(const Request& request) {
  return StoreFailure(request, absl::UnavailableError("the store is behind the client's cursor"));
}

// What one reader throws is its own: it is dropped, and so answered 500; the others of its flight
// have their turn.
void Contain(const Request& request, const std::function<void()>& run) {
  try {
    run();
  } catch (const std::exception& e) {
    engine::Log(engine::Severity::kError, "handler threw",
                {{"route", request.route()}, {"request_id", request.id()}, {"what", e.what()}});
  }
}

// What became of CheckHistory.
std::optional<Response> RefusalOf(const Request& request, const absl::Status& checked) {
  if (checked.ok()) {
    return std::nullopt;
  }
  const bool is_gone = absl::IsOutOfRange(checked) || absl::IsFailedPrecondition(checked);
  return is_gone ? RefuseHistory(request) : StoreFailure(request, checked);
}

// The part of a cursor that a view can be compared with.
engine::Cursors FollowedOf(const engine::Cursors& streams, const engine::View& view) {
  engine::Cursors followed;
  for (const engine::StreamCursor& stream : streams) {
    if (stream.position != engine::Position::kBeforeFirst && view.Find(stream.stream) != nullptr) {
      followed.push_back(stream);
    }
  }
  return followed;
}

}  // namespace

struct Dispatcher::ParkedRead {
  Access access;
  Lane& lane;
  Call call;
  Responder responder;
  std::function<void(Call, Seen, Responder)> next;
  std::optional<HistoryCursor> at_least;

  void Answer(Response response) { responder.Answer(std::move(response)); }
  void GoOn(Seen seen) { next(std::move(call), std::move(seen), std::move(responder)); }
};

void Dispatcher::Park(Access access, Lane& lane, Call call, Responder responder,
                      std::function<void(Call, Seen, Responder)> next) {
  const Request& request = *call.request;
  const Asked asked = FreshnessAsked(request);
  if (asked == Asked::kNonsense) {
    responder.Answer(RefuseRequest(request, ProblemCode::kValidation,
                                   "freshness must be latest or cached", "freshness", "enum"));
    return;
  }
  auto at_least = AtLeastOf(request, store_.cursors());
  if (auto* refusal = std::get_if<Response>(&at_least)) {
    responder.Answer(std::move(*refusal));
    return;
  }
  auto parked = std::make_shared<ParkedRead>(
      ParkedRead{access, lane, std::move(call), std::move(responder), std::move(next),
                 std::get<std::optional<HistoryCursor>>(std::move(at_least))});
  if (asked == Asked::kCached) {
    Meet(parked, {LatestView(lane.Last()), std::nullopt}, false);
  } else {
    Fly(parked);
  }
}

void Dispatcher::Fly(const ParkedPtr& parked) {
  parked->lane.Latest(
      [this, parked, request = parked->call.request](const absl::StatusOr<engine::ViewPtr>& view) {
        Contain(*request, [&] { OnFlight(parked, view); });
      });
}

void Dispatcher::OnFlight(const ParkedPtr& parked, const absl::StatusOr<engine::ViewPtr>& view) {
  if (view.ok()) {
    Meet(parked, {LatestView(*view), std::nullopt}, true);
    return;
  }
  const bool overloaded = absl::IsResourceExhausted(view.status()) &&
                          engine::ReasonOf(view.status()) == engine::Reason::kNone;
  if (parked->access == Access::kResources || overloaded) {
    parked->Answer(StoreFailure(*parked->call.request, view.status()));
    return;
  }
  stale_.fetch_add(1, std::memory_order_relaxed);
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(parked->lane.Age());
  Meet(parked, {LatestView(parked->lane.Last()), age.count()}, true);
}

// `was_asked`: the store was, or could not be.
void Dispatcher::Meet(const ParkedPtr& parked, Seen seen, bool was_asked) {
  if (!parked->at_least) {
    parked->GoOn(std::move(seen));
    return;
  }
  const bool is_newest = was_asked && !seen.stale_seconds;
  switch (Compare(*parked->at_least, *seen.view.ptr(), is_newest)) {
    case Knowledge::kHas:
      parked->GoOn(std::move(seen));
      return;
    case Knowledge::kOther:
      parked->Answer(RefuseHistory(*parked->call.request));
      return;
    case Knowledge::kPassed:
      CheckPassed(parked, std::move(seen));
      return;
    case Knowledge::kBehind:
      break;
  }
  if (!was_asked) {
    Fly(parked);
  } else if (seen.stale_seconds || parked->call.request->deadline().HasPassed()) {
    parked->Answer(NotThereYet(*parked->call.request));
  } else {
    store_.AfterNextLook([this, parked] { Fly(parked); });
  }
}

// The view is further on than the cursor; the row at the cursor tells whether on the same way.
void Dispatcher::CheckPassed(const ParkedPtr& parked, Seen seen) {
  const engine::Cursors known = FollowedOf(parked->at_least->streams, *seen.view.ptr());
  if (const std::optional<bool> agrees = store_.recent().Agrees(known)) {
    if (*agrees) {
      parked->GoOn(std::move(seen));
    } else {
      parked->Answer(RefuseHistory(*parked->call.request));
    }
    return;
  }
  RunBlocking(std::move(parked->call), std::move(parked->responder),
              [this, streams = known, next = std::move(parked->next), seen](Call call,
                                                                            Responder responder) {
                const absl::Status checked =
                    CheckHistory(store_.journal(), streams, call.request->deadline());
                if (auto refusal = RefusalOf(*call.request, checked)) {
                  responder.Answer(*std::move(refusal));
                  return;
                }
                next(std::move(call), seen, std::move(responder));
              });
}

void Dispatcher::ReadProven(Access access, std::string_view pattern, ProvenHandler handler) {
  struct Parked {
    Call call;
    Responder responder;
  };
  auto shared = std::make_shared<const ProvenHandler>(std::move(handler));
  Handle(access, Method::kGet, pattern, [this, shared](Call call, Responder responder) {
    auto parked = std::make_shared<Parked>(Parked{std::move(call), std::move(responder)});
    store_.main().Proven([this, shared, parked](const absl::StatusOr<engine::ViewPtr>& view) {
      if (!view.ok()) {
        unproven_.fetch_add(1, std::memory_order_relaxed);
        parked->responder.Answer(StoreFailure(*parked->call.request, view.status()));
        return;
      }
      Contain(*parked->call.request,
              [&] { AnswerProven(*shared, parked->call, *view, std::move(parked->responder)); });
    });
  });
}

void Dispatcher::AnswerProven(const ProvenHandler& handler, const Call& call,
                              const engine::ViewPtr& view, Responder responder) {
  const auto answer = [this, handler, view](const Call& proven_call, Responder waiting) {
    Response response = handler(proven_call, ProvenView(view));
    AddSeen(proven_call, {LatestView(view), std::nullopt}, response);
    waiting.Answer(std::move(response));
  };
  auto at_least = AtLeastOf(*call.request, store_.cursors());
  if (auto* refusal = std::get_if<Response>(&at_least)) {
    responder.Answer(std::move(*refusal));
    return;
  }
  const auto& cursor = std::get<std::optional<HistoryCursor>>(at_least);
  switch (cursor ? Compare(*cursor, *view, true) : Knowledge::kHas) {
    case Knowledge::kHas:
      answer(call, std::move(responder));
      return;
    case Knowledge::kOther:
      responder.Answer(RefuseHistory(*call.request));
      return;
    case Knowledge::kBehind:
      responder.Answer(NotThereYet(*call.request));
      return;
    case Knowledge::kPassed:
      break;
  }
  RunWork(Work::kShort, call, std::move(responder),
          [this, answer, streams = FollowedOf(cursor->streams, *view)](const Call& checked_call,
                                                                       Responder waiting) {
            const absl::Status checked =
                CheckHistory(store_.journal(), streams, checked_call.request->deadline());
            if (auto refusal = RefusalOf(*checked_call.request, checked)) {
              waiting.Answer(*std::move(refusal));
              return;
            }
            answer(checked_call, std::move(waiting));
          });
}

}  // namespace api
