#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <absl/status/status.h>

#include "api/control/routes.h"
#include "api/json/parser.h"
#include "api/json/writer.h"
#include "projections/kill_list.h"

namespace api {
namespace {

constexpr std::size_t kMaxBodyBytes = 2048;
constexpr std::size_t kMaxReasonCharacters = 500;
constexpr std::size_t kMaxNameBytes = 63;

// What of the two kinds of things is killed: they share one list, toggles under a prefix that no
// experiment's name can have.
struct Target {
  std::string_view noun;    // The member of the answer.
  std::string_view prefix;  // In the list.
};
constexpr Target kExperiment{"experiment", ""};
constexpr Target kToggle{"toggle", "toggle:"};

bool IsLowerOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// ^[a-z0-9][a-z0-9._-]{0,62}$
bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || !IsLowerOrDigit(name.front())) {
    return false;
  }
  for (const char c : name) {
    if (!IsLowerOrDigit(c) && c != '.' && c != '_' && c != '-') {
      return false;
    }
  }
  return true;
}

std::size_t CountCharacters(std::string_view utf8) {
  std::size_t count = 0;
  for (const char c : utf8) {
    count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  }
  return count;
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// The reason of the body `{"reason": "..."}`, or why there is none to be had.
std::variant<Response, std::string> ReadReason(const Request& request, bool required) {
  if (request.body().size() > kMaxBodyBytes) {
    return ControlError(413, "the body is over 2048 bytes");
  }
  std::string reason;
  if (!request.body().empty()) {
    const JsonParse parsed = ParseJson(request.body());
    if (!parsed.ok()) {
      return ControlError(400, "bad JSON: " + parsed.error.message);
    }
    const JsonObject* object = parsed.value->if_object();
    if (object == nullptr) {
      return ControlError(400, "bad JSON: expected an object");
    }
    if (const JsonValue* member = object->if_contains("reason");
        member != nullptr && !member->is_null()) {
      if (!member->is_string()) {
        return ControlError(400, "bad JSON: reason must be a string");
      }
      reason = std::string_view(member->get_string());
    }
  }
  if (required && IsBlank(reason)) {
    return ControlError(422, "a reason is required");
  }
  if (CountCharacters(reason) > kMaxReasonCharacters) {
    return ControlError(422, "the reason is over 500 characters");
  }
  return reason;
}

class KillMutation final : public Mutation {
 public:
  KillMutation(Call call, const Target& target, projections::KillRequest request)
      : call_(std::move(call)), target_(target), request_(std::move(request)) {}

  engine::Proposal Decide(const engine::DecideContext& context) override {
    const auto list = engine::ImageIn<projections::KillList>(context.view);
    stopped_ = list.status();
    if (!list.ok()) {
      return {};
    }
    engine::Proposal proposal = projections::ProposeKill(request_, **list, context.footprint);
    if (proposal.audit) {
      // The list knows toggles by their prefix, the audit by a verb of their own.
      proposal.audit->action = std::string(target_.noun) + (request_.killed ? ".kill" : ".unkill");
      proposal.audit->target = request_.name.substr(target_.prefix.size());
      proposal.audit->ip = AddressOf(call_.request->remote_address());
      proposal.audit->request_id = call_.request->id();
    }
    return proposal;
  }

  Response Render(const engine::CommandOutcome& outcome) override {
    if (!stopped_.ok()) {
      return StoreFailure(*call_.request, stopped_, Outcome::kNone);
    }
    Response response;
    JsonWriter json(response.body);
    json.BeginObject();
    json.Key(target_.noun).String(std::string_view(request_.name).substr(target_.prefix.size()));
    json.Key("killed").Bool(request_.killed);
    json.Key("changed").Bool(outcome.kind == engine::CommandOutcome::Kind::kCommitted);
    json.EndObject();
    return response;
  }

 private:
  const Call call_;
  const Target& target_;
  const projections::KillRequest request_;
  absl::Status stopped_;
};

Prepared PrepareKill(const Call& call, const Target& target, bool killed) {
  const std::string_view name = call.request->PathParameter("name");
  if (!IsName(name)) {
    return ControlError(400, "the name must match ^[a-z0-9][a-z0-9._-]{0,62}$");
  }
  std::variant<Response, std::string> reason = ReadReason(*call.request, killed);
  if (auto* refusal = std::get_if<Response>(&reason)) {
    return std::move(*refusal);
  }
  return std::make_unique<KillMutation>(
      call, target,
      projections::KillRequest{.name = std::string(target.prefix) + std::string(name),
                               .killed = killed,
                               .by = call.caller.actor,
                               .reason = std::get<std::string>(std::move(reason))});
}

// Whoever reads it acts on it, so it is proven or refused, never old.
Response ShowKillList(const Call& call, const ProvenView& view) {
  const auto list = view.Get<projections::ProvenKillList>();
  if (!list.ok()) {
    return StoreFailure(*call.request, list.status());
  }
  Response response;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("version").Uint((*list)->version());
  json.Key("killed").BeginArray();
  for (const projections::KilledPtr& killed : (*list)->killed()) {
    json.BeginObject();
    json.Key("experiment").String(killed->name);
    json.Key("killed").Bool(true);
    json.Key("by").String(killed->by);
    if (!killed->reason.empty()) {
      json.Key("reason").String(killed->reason);
    }
    json.Key("at").String(engine::FormatTimestamp(killed->at));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return response;
}

}  // namespace

void AddKillRoutes(Dispatcher& dispatcher) {
  const auto add = [&dispatcher](std::string_view pattern, const Target& target, bool killed) {
    dispatcher.Mutate(Access::kAdmin, Method::kPost, pattern, [&target, killed](const Call& call) {
      return PrepareKill(call, target, killed);
    });
  };
  add("/api/v1/experiments/{name}/kill", kExperiment, true);
  add("/api/v1/experiments/{name}/unkill", kExperiment, false);
  add("/api/v1/toggles/{name}/kill", kToggle, true);
  add("/api/v1/toggles/{name}/unkill", kToggle, false);
  dispatcher.ReadProven(Access::kAdmin, "/api/v1/killswitch", ShowKillList);
}

}  // namespace api
