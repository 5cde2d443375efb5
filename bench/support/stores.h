// Stores for benchmarks, and the engine's parts over one.

#pragma once

#include <memory>
#include <string>

#include "engine/committer.h"
#include "engine/engine.h"
#include "engine/follower.h"
#include "tests/support/private_directory.h"

namespace bench {

enum class Backend { kFile, kPostgres };

// The throwaway cluster of this program, with a fresh migrated database; the owner's URL.
std::string NewDatabase();

// An empty store with everything that folds and commits over it. Ends the program when it cannot
// be made.
class Workbench {
 public:
  explicit Workbench(Backend backend);
  // Over the Postgres database of the URL, which is empty and gets our tables.
  explicit Workbench(const std::string& url);

  engine::Engine& store() { return *store_; }
  engine::Follower& follower() { return *follower_; }
  engine::Follower& audit() { return *audit_; }
  // Of Postgres; empty for files.
  const std::string& url() const { return url_; }
  // Of files; empty for Postgres.
  const std::string& dir() const { return dir_; }

  std::unique_ptr<engine::Committer> NewCommitter();

 private:
  void OpenPostgres();

  std::unique_ptr<support::PrivateDirectory> directory_;
  std::string url_;
  std::string dir_;
  std::unique_ptr<engine::Engine> store_;
  std::unique_ptr<engine::Follower> follower_;
  std::unique_ptr<engine::Follower> audit_;
};

// Followers over the real projections, empty.
std::unique_ptr<engine::Follower> NewMainFollower();
std::unique_ptr<engine::Follower> NewAuditFollower();

}  // namespace bench
