#include "bench/support/stores.h"

#include "bench/support/or_die.h"
#include "engine/file/file.h"
#include "engine/postgres/migrate.h"
#include "engine/postgres/postgres.h"
#include "projections/all.h"
#include "schemas/streams.h"
#include "tests/support/postgres.h"

namespace bench {

namespace {

void MigrateOrDie(const std::string& url) {
  engine::postgres::Options options;
  options.url = url;
  OrDie(engine::postgres::Migrate(options));
}

}  // namespace

std::string NewDatabase() {
  const std::string url = OrDie(support::SharedCluster().CreateDatabase("bench"));
  MigrateOrDie(url);
  return url;
}

Workbench::Workbench(Backend backend) : follower_(NewMainFollower()), audit_(NewAuditFollower()) {
  if (backend == Backend::kPostgres) {
    url_ = NewDatabase();
    OpenPostgres();
    return;
  }
  directory_ = OrDie(support::PrivateDirectory::Make());
  dir_ = directory_->path() + "/data";
  engine::file::Options options;
  options.dir = dir_;
  store_ = OrDie(engine::file::Open(schemas::Streams(), options));
}

Workbench::Workbench(const std::string& url)
    : url_(url), follower_(NewMainFollower()), audit_(NewAuditFollower()) {
  MigrateOrDie(url_);
  OpenPostgres();
}

void Workbench::OpenPostgres() {
  engine::postgres::Options options;
  options.url = url_;
  store_ = OrDie(engine::postgres::Open(schemas::Streams(), options));
}

std::unique_ptr<engine::Committer> Workbench::NewCommitter() {
  return std::make_unique<engine::Committer>(
      store_->journal(), *follower_, audit_.get(),
      engine::CommitterOptions{.audit_stream = schemas::kAuditStream});
}

std::unique_ptr<engine::Follower> NewMainFollower() {
  return std::make_unique<engine::Follower>(projections::MainProjections());
}

std::unique_ptr<engine::Follower> NewAuditFollower() {
  return std::make_unique<engine::Follower>(projections::AuditProjections());
}

}  // namespace bench
