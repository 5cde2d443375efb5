// GET /api/v1/watch: the records of some streams, as they come.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <absl/strings/str_format.h>

#include "api/dispatch/cursor.h"
#include "api/feed/routes.h"
#include "api/feed/watch_event.h"
#include "api/feed/watch_stream.h"
#include "api/http/problem.h"
#include "engine/base/guard.h"
#include "schemas/streams.h"

namespace api {
namespace {

constexpr char kPattern[] = "/api/v1/watch";

struct Wanted {
  std::vector<engine::StreamId> streams;  // Ascending, each once.
  std::optional<HistoryCursor> from;      // Empty: from now on.
};

// Streams that are open to whoever may read resources; the others are for operators.
bool IsOfResources(engine::StreamId stream) {
  return stream == schemas::kResourcesStream || stream == schemas::kStatusesStream;
}

// What can be watched: whatever the main lane follows.
std::optional<engine::StreamId> FindStream(Feed& feed, std::string_view name) {
  for (const engine::StreamSpec& spec : feed.store().journal().catalogue()) {
    if (spec.name == name && feed.store().main().Last()->Find(spec.id) != nullptr) {
      return spec.id;
    }
  }
  return std::nullopt;
}

std::variant<Response, std::vector<engine::StreamId>> ParseStreams(Feed& feed, const Call& call) {
  std::string_view rest = call.request->Query("streams").value_or("resources");
  std::vector<engine::StreamId> streams;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    const std::optional<engine::StreamId> stream = FindStream(feed, name);
    if (!stream) {
      return ControlError(400, absl::StrFormat("there is no stream '%s' to watch", name));
    }
    if (!GUARD("watch.admin", call.caller.is_admin || IsOfResources(*stream))) {
      Response refusal = ControlError(401, absl::StrFormat("login required to watch '%s'", name));
      refusal.With("WWW-Authenticate", "Bearer");
      return refusal;
    }
    streams.push_back(*stream);
    if (comma == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  std::ranges::sort(streams);
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  return streams;
}

// The part of a cursor that is about these streams; empty when it lacks one.
std::optional<HistoryCursor> PartOf(const HistoryCursor& cursor,
                                    const std::vector<engine::StreamId>& streams) {
  HistoryCursor part{.tx = cursor.tx, .streams = {}};
  for (const engine::StreamId stream : streams) {
    const auto found = std::ranges::find(cursor.streams, stream, &engine::StreamCursor::stream);
    if (found == cursor.streams.end()) {
      return std::nullopt;
    }
    part.streams.push_back(*found);
  }
  return part;
}

std::variant<Response, Wanted> ParseWatch(Feed& feed, const Call& call) {
  auto streams = ParseStreams(feed, call);
  if (auto* refusal = std::get_if<Response>(&streams)) {
    return std::move(*refusal);
  }
  Wanted wanted{.streams = std::get<std::vector<engine::StreamId>>(std::move(streams)), .from = {}};
  // A client that connects again still has the first address: what it saw last counts.
  auto token = call.request->Header("Last-Event-ID");
  if (!token || token->empty()) {
    token = call.request->Query("cursor");
  }
  if (token) {
    const std::optional<HistoryCursor> cursor = feed.store().cursors().Read(*token);
    if (!cursor) {
      return ControlError(400, "the cursor is none of this store");
    }
    wanted.from = PartOf(*cursor, wanted.streams);
    if (!wanted.from) {
      return ControlError(400, "the cursor is of a watch of other streams");
    }
  }
  return wanted;
}

// Ok, or why one of the streams cannot be served.
absl::Status HealthOf(const engine::View& view, const std::vector<engine::StreamId>& streams) {
  for (const engine::StreamId stream : streams) {
    if (const absl::Status& health = view.Find(stream)->health; !health.ok()) {
      return health;
    }
  }
  return absl::OkStatus();
}

Audience AudienceOf(const Caller& caller, Lane& lane) {
  Audience audience{.is_admin = caller.is_admin, .until = caller.until};
  if (!caller.tenant.is_all()) {
    audience.sees = [tenant = caller.tenant, &lane](const engine::Record& record,
                                                    const engine::Payload& before) {
      return IsSeenBy(tenant, record, before, *lane.Last());
    };
  }
  return audience;
}

void Begin(Feed& feed, const Call& call, const HistoryCursor& from, Responder responder) {
  Feed::PlacePtr place = feed.TakeWatch();
  if (place == nullptr) {
    responder.Answer(StoreFailure(*call.request, absl::ResourceExhaustedError("too many watches")));
    return;
  }
  Response response;
  response.content_type = "text/event-stream";
  response.With("X-Halo-Cursor", feed.store().cursors().Show(from));
  response.With("X-Accel-Buffering", "no");  // Proxies would wait for more.
  response.source = std::make_shared<WatchStream>(feed, std::move(place), from,
                                                  AudienceOf(call.caller, feed.store().main()));
  responder.Answer(std::move(response));
}

// The journal says whether it still has what follows.
void BeginWhereItWas(Dispatcher& dispatcher, Feed& feed, Call call, const HistoryCursor& from,
                     Responder responder) {
  dispatcher.RunBlocking(
      std::move(call), std::move(responder), [&feed, from](const Call& checked, Responder waiting) {
        const absl::Status status =
            CheckHistory(feed.store().journal(), from.streams, checked.request->deadline());
        if (absl::IsOutOfRange(status) || absl::IsFailedPrecondition(status)) {
          feed.counters().gone.fetch_add(1);
          waiting.Answer(
              ControlError(410, "the history after the cursor is gone: read anew, and watch on"));
        } else if (!status.ok()) {
          waiting.Answer(StoreFailure(*checked.request, status));
        } else {
          Begin(feed, checked, from, std::move(waiting));
        }
      });
}

void Watch(Dispatcher& dispatcher, Feed& feed, Call parked, Responder waiting) {
  auto parsed = ParseWatch(feed, parked);
  if (auto* refusal = std::get_if<Response>(&parsed)) {
    waiting.Answer(std::move(*refusal));
    return;
  }
  dispatcher.Park(
      Access::kResources, dispatcher.store().main(), std::move(parked), std::move(waiting),
      [&dispatcher, &feed, wanted = std::get<Wanted>(std::move(parsed))](
          Call call, const Seen& seen, Responder responder) {
        const engine::View& view = *seen.view.ptr();
        if (const absl::Status health = HealthOf(view, wanted.streams); !health.ok()) {
          responder.Answer(StoreFailure(*call.request, health));
        } else if (!wanted.from) {
          Begin(feed, call, *PartOf(CursorOf(view), wanted.streams), std::move(responder));
        } else if (feed.store().recent().Agrees(wanted.from->streams).value_or(false)) {
          Begin(feed, call, *wanted.from, std::move(responder));
        } else {
          BeginWhereItWas(dispatcher, feed, std::move(call), *wanted.from, std::move(responder));
        }
      });
}

}  // namespace

void AddWatchRoute(Dispatcher& dispatcher, Feed& feed) {
  dispatcher.Handle(Access::kResources, Method::kGet, kPattern,
                    [&dispatcher, &feed](Call call, Responder responder) {
                      Watch(dispatcher, feed, std::move(call), std::move(responder));
                    });
}

}  // namespace api
