#include <string>
#include <utility>

#include "api/control/audit_page.h"
#include "api/control/routes.h"
#include "api/json/writer.h"
#include "engine/audit_chain.h"
#include "schemas/streams.h"

namespace api {
namespace {

// A stored entry ends in `"hash":""}`, the form that was hashed; an answer shows the hash.
std::string WithHash(std::string_view payload) {
  constexpr std::string_view kEnd = "\"}";
  std::string entry(payload.substr(0, payload.size() - kEnd.size()));
  entry += engine::AuditHash(payload);
  entry += kEnd;
  return entry;
}

Response ShowPage(const AuditPage& page) {
  Response response;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("entries").BeginArray();
  for (const engine::Payload& entry : page.entries) {
    json.Raw(WithHash(entry.view()));
  }
  json.EndArray();
  json.Key("next").Uint(page.next);
  json.Key("total").Uint(page.total);
  json.Key("verified").Bool(page.verify_error.empty());
  if (!page.verify_error.empty()) {
    json.Key("verifyError").String(page.verify_error);
  }
  json.Key("head").String(page.head);
  json.EndObject();
  return response;
}

void ListAudit(Dispatcher& dispatcher, Call parked, Responder waiting) {
  auto query = ParseAuditQuery(*parked.request);
  if (!query.ok()) {
    waiting.Answer(
        ControlError(400, {query.status().message().data(), query.status().message().size()}));
    return;
  }
  dispatcher.Park(
      Access::kAdmin, dispatcher.store().audit(), std::move(parked), std::move(waiting),
      [&dispatcher, query = *std::move(query)](Call caught_up, const Seen& seen, Responder then) {
        dispatcher.RunBlocking(
            std::move(caught_up), std::move(then),
            [&dispatcher, seen, query](const Call& call, Responder responder) {
              const auto page =
                  ReadAuditPage(query, *seen.view.ptr()->Find(schemas::kAuditStream),
                                dispatcher.store().journal(), call.request->deadline());
              Response response =
                  page.ok() ? ShowPage(*page) : StoreFailure(*call.request, page.status());
              dispatcher.AddSeen(call, seen, response);
              responder.Answer(std::move(response));
            });
      });
}

}  // namespace

void AddAuditRoute(Dispatcher& dispatcher) {
  dispatcher.Handle(Access::kAdmin, Method::kGet, "/api/v1/audit",
                    [&dispatcher](Call call, Responder responder) {
                      ListAudit(dispatcher, std::move(call), std::move(responder));
                    });
}

}  // namespace api
