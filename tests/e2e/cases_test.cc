// The behaviour cases over HTTP, on real server processes.

#include <utility>

#include "engine/base/mutex.h"
#include "tests/api/cases/identity_worlds.h"
#include "tests/api/cases/suites.h"
#include "tests/support/halo_server.h"
#include "tests/support/status_matchers.h"

namespace {

// Connections that are kept alive between calls, as many as there are callers at once.
class Clients {
 public:
  explicit Clients(std::string url) : url_(std::move(url)) {}

  absl::StatusOr<support::HttpResponse> Call(const support::HttpRequest& request) {
    std::unique_ptr<support::HttpClient> client = Take();
    auto response = client->Call(request);
    engine::MutexLock lock(mutex_);
    idle_.push_back(std::move(client));
    return response;
  }

 private:
  std::unique_ptr<support::HttpClient> Take() {
    engine::MutexLock lock(mutex_);
    if (idle_.empty()) {
      return std::make_unique<support::HttpClient>(url_);
    }
    std::unique_ptr<support::HttpClient> client = std::move(idle_.back());
    idle_.pop_back();
    return client;
  }

  const std::string url_;
  engine::Mutex mutex_;
  std::vector<std::unique_ptr<support::HttpClient>> idle_ ABSL_GUARDED_BY(mutex_);
};

class ProcessWorld final : public cases::World {
 public:
  using MakeStore = std::function<absl::StatusOr<std::unique_ptr<support::TestStore>>()>;

  static std::unique_ptr<cases::World> Make(const MakeStore& make_store, int servers,
                                            cases::Callers callers) {
    auto world = std::make_unique<ProcessWorld>();
    const absl::Status started = world->Start(make_store, servers, callers);
    EXPECT_OK(started);
    return started.ok() ? std::move(world) : nullptr;
  }

  ~ProcessWorld() override {
    for (const auto& server : servers_) {
      EXPECT_OK(server->Stop());
    }
  }

  int servers() const override { return static_cast<int>(servers_.size()); }

  cases::Answer Call(int server, const std::string& method, const std::string& target,
                     const std::string& body, const cases::Headers& headers) override {
    const auto response = clients_[static_cast<std::size_t>(server)]->Call(
        {.method = method, .path = target, .body = body, .headers = headers});
    EXPECT_OK(response) << method << " " << target;
    if (!response.ok()) {
      return {};
    }
    return {response->status, response->headers, response->body};
  }

 private:
  absl::Status Start(const MakeStore& make_store, int servers, cases::Callers callers) {
    auto store = make_store();
    if (!store.ok()) {
      return store.status();
    }
    store_ = *std::move(store);
    const auto tokens = store_->directory().Write("operators", cases::TokenFile());
    if (!tokens.ok()) {
      return tokens.status();
    }
    const auto keys = store_->directory().Write("keys", support::KeySetText({&cases::IssuerKey()}));
    if (!keys.ok()) {
      return keys.status();
    }
    const auto config = store_->directory().Write(
        "config.yaml", callers == cases::Callers::kOpen ? cases::ConfigFile()
                                                        : cases::IdentityYaml(callers, *keys));
    if (!config.ok()) {
      return config.status();
    }
    const auto specs = store_->directory().Write("specs.yaml", cases::SpecDocument());
    if (!specs.ok()) {
      return specs.status();
    }
    const std::vector<std::string> flags = {"--admin-token-file",
                                            *tokens,
                                            "--max-body",
                                            std::to_string(cases::kMaxBody),
                                            "--config",
                                            *config,
                                            "--server-openapi-schema-path",
                                            *specs};
    for (int i = 0; i < servers; ++i) {
      auto server = support::HaloServer::Start(*store_, flags);
      if (!server.ok()) {
        return server.status();
      }
      clients_.push_back(std::make_unique<Clients>((*server)->url()));
      servers_.push_back(*std::move(server));
    }
    return absl::OkStatus();
  }

  std::unique_ptr<support::TestStore> store_;
  std::vector<std::unique_ptr<support::HaloServer>> servers_;
  std::vector<std::unique_ptr<Clients>> clients_;
};

cases::WorldFactory Factory(const std::string& name, const ProcessWorld::MakeStore& make_store,
                            int servers, cases::Callers callers = cases::Callers::kOpen) {
  return {name, [make_store, servers, callers] {
            return ProcessWorld::Make(make_store, servers, callers);
          }};
}

absl::StatusOr<std::unique_ptr<support::TestStore>> Files() {
  return support::TestStore::OnFiles();
}
absl::StatusOr<std::unique_ptr<support::TestStore>> Postgres() {
  return support::TestStore::OnPostgres();
}

}  // namespace

using cases::Callers;

HALO_INSTANTIATE_CASES(Http,
                       Factory(
                           "file", [] { return support::TestStore::OnFiles(); }, 1),
                       Factory(
                           "postgres", [] { return support::TestStore::OnPostgres(); }, 1),
                       Factory(
                           "replicas", [] { return support::TestStore::OnPostgres(); }, 2),
                       Factory("pooled", [] { return support::TestStore::OnPostgres(true); }, 2));
HALO_INSTANTIATE_AUTH(Http, Factory("file_tokens", Files, 1, Callers::kTokens),
                      Factory("postgres_tokens", Postgres, 1, Callers::kTokens),
                      Factory("replicas_tokens", Postgres, 2, Callers::kTokens));
HALO_INSTANTIATE_TENANTS(Http, Factory("file_tenants", Files, 1, Callers::kTenants),
                         Factory("postgres_tenants", Postgres, 1, Callers::kTenants),
                         Factory("replicas_tenants", Postgres, 2, Callers::kTenants));
