// The behaviour cases over HTTP, on real server processes.

#include <utility>

#include "engine/base/mutex.h"
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

  static std::unique_ptr<cases::World> Make(const MakeStore& make_store, int servers) {
    auto world = std::make_unique<ProcessWorld>();
    const absl::Status started = world->Start(make_store, servers);
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
  absl::Status Start(const MakeStore& make_store, int servers) {
    auto store = make_store();
    if (!store.ok()) {
      return store.status();
    }
    store_ = *std::move(store);
    const auto tokens = store_->directory().Write("operators", cases::TokenFile());
    if (!tokens.ok()) {
      return tokens.status();
    }
    const auto config = store_->directory().Write("config.yaml", cases::ConfigFile());
    if (!config.ok()) {
      return config.status();
    }
    for (int i = 0; i < servers; ++i) {
      auto server = support::HaloServer::Start(
          *store_, {"--admin-token-file", *tokens, "--max-body", std::to_string(cases::kMaxBody),
                    "--config", *config});
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
                            int servers) {
  return {name, [make_store, servers] { return ProcessWorld::Make(make_store, servers); }};
}

}  // namespace

HALO_INSTANTIATE_CASES(Http,
                       Factory(
                           "file", [] { return support::TestStore::OnFiles(); }, 1),
                       Factory(
                           "postgres", [] { return support::TestStore::OnPostgres(); }, 1),
                       Factory(
                           "replicas", [] { return support::TestStore::OnPostgres(); }, 2),
                       Factory("pooled", [] { return support::TestStore::OnPostgres(true); }, 2));
