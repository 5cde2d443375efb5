// PostSpans: one batch of spans to a collector.
//
// The rules of the transfer: api/http_client/transfer.h. Thread-safe.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"

namespace api {

struct CollectorOptions {
  std::string url;  // `http://collector:4318/v1/traces`
  // Sent with each request; of a proxy that wants credentials, say.
  std::vector<std::pair<std::string, std::string>> headers = {};
  // Certificates in PEM that are believed beside the system's; empty: only those.
  std::string ca_file = {};
  engine::Duration timeout = std::chrono::seconds(10);
};

// What became of a batch.
struct Posted {
  enum class Outcome {
    kTaken,
    kTryAgain,  // Nobody was there, or it is overloaded.
    kRefused,   // It does not want this, now or ever.
  };
  Outcome outcome = Outcome::kRefused;
  std::uint64_t rejected = 0;  // Of a batch that was taken: spans that were not.
  engine::Duration wait = {};  // What it asked for before the next try; zero: nothing.
  std::string why = {};        // For people; empty when all is well.
};

// `json` as OtlpJson makes it. Blocks for the timeout at most; ends within about a second after
// `stop` is set.
Posted PostSpans(const CollectorOptions& collector, const std::string& json,
                 const std::atomic<bool>& stop);

}  // namespace api
