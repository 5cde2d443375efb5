#include "bench/peers/cluster.h"

#include <chrono>
#include <cstdint>
#include <iostream>

#include <absl/strings/str_format.h>
#include <unistd.h>

#include "bench/peers/relational_tables.h"
#include "bench/support/fleet.h"
#include "bench/support/loop.h"
#include "bench/support/or_die.h"
#include "bench/support/stores.h"

namespace bench {

std::unique_ptr<support::PostgresCluster> StartPeersCluster() {
  const std::int64_t megabytes =
      std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / (1 << 20);
  support::ClusterOptions options;
  options.settings = {{"shared_buffers", absl::StrFormat("%dMB", megabytes / 4)},
                      {"effective_cache_size", absl::StrFormat("%dMB", megabytes / 2)},
                      {"random_page_cost", "1.1"},
                      {"jit", "off"},
                      {"max_wal_size", "8GB"},
                      {"checkpoint_timeout", "30min"}};
  return OrDie(support::PostgresCluster::Start(options));
}

void FillBoth(const std::string& relational_url, const std::string& journal_url) {
  const engine::Duration began = Now();
  const auto since = [began] { return std::chrono::duration<double>(Now() - began).count(); };
  const std::size_t size = FleetSize();
  MakeRelationalTables(relational_url, size);
  std::cerr << absl::StrFormat("%d resources: tables after %.0f s", size, since());
  AppendFleet(Workbench(journal_url).store().journal(), size);
  OrDie(support::Sql(journal_url, "vacuum analyze"));
  std::cerr << absl::StrFormat(", journal after %.0f s\n", since());
}

}  // namespace bench
