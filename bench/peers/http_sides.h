// HttpSides: both sides of a comparison as servers of one API, over the same fleet.
//
//   halo        a real halo-server process, over the journal
//   relational  bench/peers/front.h, in this process, over the seed's tables
//
// Both databases are of one Postgres (bench/peers/cluster.h).

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/peers/background.h"
#include "bench/peers/front.h"
#include "bench/peers/workloads.h"
#include "bench/support/wrk.h"
#include "tests/support/halo_server.h"
#include "tests/support/postgres.h"

namespace bench {

enum class Side { kHalo, kRelational };

// `halo` or `relational`.
std::string NameOf(Side side);

// What is read over HTTP: paths that are asked for in turn, by one caller.
struct HttpReads {
  std::string name;
  std::vector<std::string> paths;
  support::HttpHeaders headers;
};

// GETs of ids all over the fleet, and the lists `Label`, `Owner` and `Tenant` of Workloads().
std::vector<HttpReads> ReadsOverHttp();
// A path of the API for a list of any kind that has to read a text of every resource, as nothing
// else is known of it, and finds none.
std::string LongSearch();

// Thread-compatible.
class HttpSides {
 public:
  // Fills the databases, starts the servers, and sees to it that both give the same lists, and
  // answer a write alike. Ends the program when that fails. Blocks.
  HttpSides();

  const std::string& url(Side side) const;
  const support::PrivateDirectory& directory() const { return store_->directory(); }

  // What wrk measures of `reads` with so many connections: for a second, or for longer where a
  // request takes so long that there would be few of them.
  WrkResult Read(Side side, const HttpReads& reads, int connections);

  // Two writers that change one resource after another, the same ones in the same order on both
  // sides, `per_second` in all or, if it is zero, as many as they can: a PATCH of its spec, by its
  // tenant, and what each of its two adapters reports about that.
  std::unique_ptr<Background> StartWriters(Side side, int per_second);

 private:
  void CompareReads();
  void CompareWrites();
  std::size_t NextToWrite(Side side);

  std::unique_ptr<support::PostgresCluster> cluster_;
  std::string relational_url_;
  std::unique_ptr<support::TestStore> store_;
  std::unique_ptr<support::HaloServer> halo_;
  std::unique_ptr<RelationalFront> relational_;
  std::atomic<std::size_t> written_[2] = {};
};

}  // namespace bench
