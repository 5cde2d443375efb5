// The behaviour cases on a server in this process that keeps everything in memory.

#include "engine/memory/memory.h"

#include <utility>

#include "api/main/settings.h"
#include "api/server/server.h"
#include "engine/base/mutex.h"
#include "schemas/streams.h"
#include "tests/api/cases/identity_worlds.h"
#include "tests/api/cases/suites.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"

namespace {

std::string Lower(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// Asks the router without a socket.
class MemoryWorld final : public cases::World {
 public:
  static std::unique_ptr<cases::World> Make(cases::Callers callers) {
    auto world = std::make_unique<MemoryWorld>();
    auto directory = support::PrivateDirectory::Make();
    EXPECT_OK(directory);
    const auto keys = (*directory)->Write("keys", support::KeySetText({&cases::IssuerKey()}));
    EXPECT_OK(keys);
    world->directory_ = *std::move(directory);
    world->engine_ = engine::memory::Open(schemas::Streams());
    api::ServerOptions options;
    options.identity = cases::IdentityOf(callers, keys.value_or(""));
    options.admin_tokens = *api::AdminTokens::Parse(cases::TokenFile());
    const auto config = api::ParseConfigFile(cases::ConfigFile());
    EXPECT_OK(config);
    options.registry = *projections::Registry::Create(*config->entities);
    auto schemas = api::SpecSchemas::Create(cases::SpecDocument(), options.registry);
    EXPECT_OK(schemas);
    options.spec_schemas = *std::move(schemas);
    auto server = api::Server::Start(*world->engine_, std::move(options));
    EXPECT_OK(server);
    world->server_ = *std::move(server);
    return world;
  }

  cases::Answer Call(int /*server*/, const std::string& method, const std::string& target,
                     const std::string& body, const cases::Headers& headers) override {
    if (body.size() > cases::kMaxBody) {
      return Refused(method, target);
    }
    api::RequestParts parts;
    parts.method = method;
    parts.target = target;
    parts.headers.push_back({"Host", "halo.example"});
    for (const auto& [name, value] : headers) {
      parts.headers.push_back({name, value});
    }
    parts.body = body;
    parts.remote_address = "192.0.2.1:1024";
    parts.deadline = engine::Deadline::After(std::chrono::seconds(30));
    const auto request = std::make_shared<api::Request>(std::move(parts));
    return Wait(request, [&](api::Responder responder) {
      server_->router().Dispatch(request, std::move(responder));
    });
  }

 private:
  // What the transport does with a body over its limit.
  cases::Answer Refused(const std::string& method, const std::string& target) {
    api::RequestParts parts;
    parts.method = method;
    parts.target = target;
    const auto request = std::make_shared<api::Request>(std::move(parts));
    return Wait(request, [&](api::Responder responder) {
      responder.Answer(
          server_->router().Refuse(*request, api::Refusal::kPayloadTooLarge, "too large"));
    });
  }

  // Runs `start` and waits for the answer; adds what the transport would.
  template <class Start>
  cases::Answer Wait(const std::shared_ptr<api::Request>& request, const Start& start) {
    struct Slot {
      engine::Mutex mutex;
      engine::CondVar answered;
      std::optional<api::Response> response ABSL_GUARDED_BY(mutex);
    };
    auto slot = std::make_shared<Slot>();
    start(api::Responder([slot](api::Response response) {
      engine::MutexLock lock(slot->mutex);
      slot->response = std::move(response);
      slot->answered.SignalAll();
    }));
    engine::MutexLock lock(slot->mutex);
    while (!slot->response) {
      slot->answered.Wait(slot->mutex);
    }
    cases::Answer answer;
    answer.status = slot->response->status;
    answer.body = slot->response->body;
    answer.headers["content-type"] = slot->response->content_type;
    answer.headers["x-request-id"] = request->id();
    for (const api::HeaderField& header : slot->response->headers) {
      answer.headers[Lower(header.name)] = header.value;
    }
    AddLines(server_->router().FamilyOf(request->path()).common_headers, answer);
    return answer;
  }

  static void AddLines(std::string_view lines, cases::Answer& answer) {
    while (!lines.empty()) {
      const std::size_t end = lines.find("\r\n");
      const std::string_view line = lines.substr(0, end);
      const std::size_t colon = line.find(": ");
      answer.headers[Lower(std::string(line.substr(0, colon)))] = line.substr(colon + 2);
      lines.remove_prefix(end + 2);
    }
  }

  std::unique_ptr<support::PrivateDirectory> directory_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<api::Server> server_;
};

cases::WorldFactory Factory(const std::string& name, cases::Callers callers) {
  return {name, [callers] { return MemoryWorld::Make(callers); }};
}

}  // namespace

HALO_INSTANTIATE_CASES(Memory, Factory("memory", cases::Callers::kOpen));
HALO_INSTANTIATE_AUTH(Memory, Factory("memory_tokens", cases::Callers::kTokens));
HALO_INSTANTIATE_TENANTS(Memory, Factory("memory_tenants", cases::Callers::kTenants));
