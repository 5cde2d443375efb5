// Reads that ask for an earlier state: as_of.

#include <optional>
#include <utility>
#include <variant>

#include "api/dispatch/dispatcher.h"
#include "api/dispatch/past.h"
#include "engine/base/guard.h"

namespace api {
namespace {

constexpr std::string_view kAsOf = "as_of";

Response RefusePast(const Request& request, const absl::Status& why) {
  if (absl::IsOutOfRange(why)) {
    return RefuseRequest(request, ProblemCode::kGone, "what was true then was compacted");
  }
  if (absl::IsInvalidArgument(why)) {
    return RefuseRequest(request, ProblemCode::kValidation, "as_of has not come yet", kAsOf, "max");
  }
  return StoreFailure(request, why);
}

}  // namespace

void Dispatcher::LookBack(Access access, std::shared_ptr<const ReadHandler> handler, Call call,
                          Responder responder) {
  const Request& request = *call.request;
  if (access != Access::kResources || store_.past() == nullptr) {
    responder.Answer(RefuseRequest(request, ProblemCode::kValidation,
                                   "only resources can be shown as of an earlier time", kAsOf));
    return;
  }
  if (!GUARD("past.admin", call.caller.is_admin)) {
    responder.Answer(
        RefuseRequest(request, ProblemCode::kPermissionDenied, "as_of is for operators"));
    return;
  }
  const std::optional<PastPoint> point = ParsePastPoint(request.Query(kAsOf).value_or(""));
  if (!point) {
    responder.Answer(RefuseRequest(request, ProblemCode::kValidation,
                                   "as_of must be a transaction or a time (RFC 3339)", kAsOf,
                                   "format"));
    return;
  }
  RunBlocking(
      std::move(call), std::move(responder),
      [this, point = *point, handler = std::move(handler)](const Call& past, Responder waiting) {
        const auto view = store_.past()->ViewAt(point, past.request->deadline());
        if (!view.ok()) {
          waiting.Answer(RefusePast(*past.request, view.status()));
          return;
        }
        const Seen seen{LatestView(*view), std::nullopt};
        ReadAnswer answer = (*handler)(past, seen.view);
        Response response = std::holds_alternative<Response>(answer)
                                ? std::get<Response>(std::move(answer))
                                : std::get<LongRead>(answer)([&waiting] { return waiting.Gone(); });
        AddSeen(past, seen, response);
        waiting.Answer(std::move(response));
      });
}

}  // namespace api
