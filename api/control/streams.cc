#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/control/routes.h"
#include "api/json/writer.h"
#include "engine/base/bytes.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// What the store says of itself.
struct StoreHeads {
  std::vector<engine::StreamTail> tails;
  std::uint64_t epoch = 0;
};

absl::StatusOr<StoreHeads> AskStore(engine::Engine& engine, const engine::Cursors& cursors,
                                    engine::Deadline deadline) {
  StoreHeads heads;
  ASSIGN_OR_RETURN(heads.tails, engine.journal().Tails(deadline));
  ASSIGN_OR_RETURN(const engine::Life life, engine.presence().NoteLife(deadline));
  ASSIGN_OR_RETURN(const engine::News news, engine.journal().ReadAfter(cursors, deadline));
  if (life.origin != news.origin) {
    return absl::UnavailableError("the store changed while it was asked");
  }
  heads.epoch = life.epoch;
  return heads;
}

void WriteStream(const engine::StreamSpec& spec, const StoreHeads& heads,
                 const engine::StreamView* replica, JsonWriter& json) {
  json.BeginObject();
  json.Key("name").String(spec.name);
  json.Key("keyed").Bool(spec.keyed);
  const auto tail = std::ranges::find(heads.tails, spec.id, &engine::StreamTail::stream);
  if (tail != heads.tails.end()) {
    json.Key("head").Uint(engine::Raw(tail->position));
    json.Key("digest").String(engine::ToHex(engine::Raw(tail->digest)));
    json.Key("floor").Uint(engine::Raw(tail->floor.position));
  }
  if (replica != nullptr && replica->rebuilding == engine::Rebuilding::kNo) {
    json.Key("position").Uint(engine::Raw(replica->position));
    json.Key("state_digest").String(engine::ToHex(replica->image->StateDigest()));
    json.Key("fold_version").Uint(replica->fold_version);
  }
  json.EndObject();
}

Response ShowStreams(const engine::Catalogue& catalogue, const StoreHeads& heads,
                     const engine::View& main, const engine::View& audit) {
  Response response;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("tx").Uint(engine::Raw(main.tx));
  json.Key("epoch").Uint(heads.epoch);
  json.Key("streams").BeginArray();
  for (const engine::StreamSpec& spec : catalogue) {
    const engine::StreamView* replica = main.Find(spec.id);
    WriteStream(spec, heads, replica != nullptr ? replica : audit.Find(spec.id), json);
  }
  json.EndArray();
  json.EndObject();
  return response;
}

// Both lanes have been caught up: asks the store, on a worker.
void AnswerStreams(Dispatcher& dispatcher, Call parked, Responder waiting, const Seen& main,
                   const Seen& audit) {
  dispatcher.RunBlocking(
      std::move(parked), std::move(waiting),
      [&dispatcher, main, audit](const Call& call, Responder responder) {
        engine::Journal& journal = dispatcher.store().journal();
        const auto heads = AskStore(dispatcher.store().engine(), main.view.ptr()->cursors(),
                                    call.request->deadline());
        Response response = heads.ok() ? ShowStreams(journal.catalogue(), *heads, *main.view.ptr(),
                                                     *audit.view.ptr())
                                       : StoreFailure(*call.request, heads.status());
        dispatcher.AddSeen(call, main, response);
        responder.Answer(std::move(response));
      });
}

}  // namespace

void AddStreamsRoute(Dispatcher& dispatcher) {
  dispatcher.Handle(
      Access::kAdmin, Method::kGet, "/api/v1/streams",
      [&dispatcher](Call call, Responder responder) {
        // The audit first: what the main lane shows then, the audit cannot be behind of by more
        // than what is being committed now.
        dispatcher.Park(
            Access::kAdmin, dispatcher.store().audit(), std::move(call), std::move(responder),
            [&dispatcher](Call after_audit, const Seen& audit, Responder then) {
              dispatcher.Park(
                  Access::kAdmin, dispatcher.store().main(), std::move(after_audit),
                  std::move(then),
                  [&dispatcher, audit](Call after_main, const Seen& main, Responder last) {
                    AnswerStreams(dispatcher, std::move(after_main), std::move(last), main, audit);
                  });
            });
      });
}

}  // namespace api
