#include "bench/support/wrk.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <absl/strings/str_format.h>

#include "bench/support/or_die.h"
#include "tests/support/process.h"

namespace bench {
namespace {

// Requests are made before the load begins; what was measured is printed on a line of its own.
constexpr char kScript[] = R"(
local requests, n = {}, 0
init = function(args)
  for path in io.lines(PATHS) do
    requests[#requests + 1] = wrk.format('GET', path, HEADERS)
  end
end
request = function()
  n = n % #requests + 1
  return requests[n]
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('measured %d %d %d %d %d\n', summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
)";

std::string Script(const std::string& paths, const support::HttpHeaders& headers) {
  std::string table;
  for (const auto& [name, value] : headers) {
    table += absl::StrFormat("['%s']='%s',", name, value);
  }
  return absl::StrFormat("local PATHS, HEADERS = '%s', {%s}\n%s", paths, table, kScript);
}

}  // namespace

WrkResult RunWrk(const WrkOptions& options, const support::PrivateDirectory& directory) {
  std::string lines;
  for (const std::string& path : options.paths) {
    lines += path + "\n";
  }
  const std::string paths = OrDie(directory.Write("paths", lines));
  const std::string script = OrDie(directory.Write("load.lua", Script(paths, options.headers)));
  // A timeout is only counted by wrk; what it is also sizes the table of its latencies.
  const std::vector<std::string> argv = {"wrk",
                                         "--threads=1",
                                         "--timeout=60s",
                                         absl::StrFormat("--connections=%d", options.connections),
                                         absl::StrFormat("--duration=%ds", options.seconds),
                                         "--script=" + script,
                                         options.url};
  const auto deadline = engine::Deadline::After(std::chrono::seconds(options.seconds + 60));
  const support::Finished done = OrDie(support::RunProcess({.argv = argv}, deadline));
  const std::size_t at = done.out.find("measured ");
  long requests = 0;
  long micros = 0;
  long p50 = 0;
  long p99 = 0;
  long errors = 0;
  if (at == std::string::npos ||
      std::sscanf(done.out.c_str() + at, "measured %ld %ld %ld %ld %ld", &requests, &micros, &p50,
                  &p99, &errors) != 5 ||
      requests == 0 || errors != 0) {
    std::fprintf(stderr, "%s%s\n", done.out.c_str(), done.err.c_str());
    std::exit(1);
  }
  return {static_cast<double>(requests) * 1e6 / static_cast<double>(micros),
          static_cast<double>(p50), static_cast<double>(p99)};
}

}  // namespace bench
