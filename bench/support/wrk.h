// One run of wrk, a closed loop of HTTP connections on one thread.

#pragma once

#include <string>
#include <vector>

#include "tests/support/http_client.h"
#include "tests/support/private_directory.h"

namespace bench {

struct WrkOptions {
  std::string url;                 // `http://127.0.0.1:8080`
  std::vector<std::string> paths;  // One after the other, and round again.
  support::HttpHeaders headers = {};
  int connections = 1;
  int seconds = 1;
};

struct WrkResult {
  double rate = 0;  // Answers a second.
  double p50_us = 0;
  double p99_us = 0;
};

// Blocks until it is over. Ends the program unless every answer is of 2xx or 3xx. `directory` gets
// its script. Long waits weigh as much as if a client of a fixed rate had met them: wrk adds what
// would have been asked meanwhile.
WrkResult RunWrk(const WrkOptions& options, const support::PrivateDirectory& directory);

}  // namespace bench
