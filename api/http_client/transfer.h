// Transfer: one HTTP request of ours to somebody else's server, by libcurl.
//
// Keys of issuers are fetched and spans are posted through here, so that whatever leaves the server
// keeps the same rules:
//
//   protocols     http and https, nothing else (no `file:`)
//   TLS           1.2 at least; the certificate and the name in it are verified
//   redirects     not followed: a redirect is the answer
//   limits        a time for the whole, a size for the answer, and a flag that ends it early
//
// Whether an URL may be called at all is its user's to say (IsSecureUrl of api/identity/fetch.h).

#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/clock.h"

namespace api {

struct TransferRequest {
  std::string url;
  // Certificates in PEM that are believed beside the system's; empty: only those.
  std::string ca_file = {};
  engine::Duration timeout = std::chrono::seconds(10);
  // A longer answer fails the transfer.
  std::size_t max_answer_bytes = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};
  // What is sent with POST, and outlives the call; empty: a GET.
  std::optional<std::string_view> body = {};
};

struct TransferAnswer {
  int status = 0;
  std::string body = {};
  // What `Retry-After` asks for; zero: nothing.
  engine::Duration wait = {};
};

// An answer of any status is a success: what it means is the caller's to say.
//
// Blocks for the timeout at most; ends within about a second after `stop` is set. Fails with
// kUnavailable (no answer, or one that is too long), saying of which URL and why. Thread-safe.
absl::StatusOr<TransferAnswer> Transfer(const TransferRequest& request,
                                        const std::atomic<bool>& stop);

}  // namespace api
