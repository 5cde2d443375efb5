// FetchText: what is published under an URL, such as an issuer's keys.
//
// The rules of the transfer: api/http_client/transfer.h. Thread-safe.

#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include <absl/status/statusor.h>

#include "engine/base/clock.h"

namespace api {

struct FetchOptions {
  std::string url;
  // Certificates in PEM that are believed beside the system's; empty: only those.
  std::string ca_file;
  engine::Duration timeout = std::chrono::seconds(10);
  std::size_t max_bytes = std::size_t{1} << 20;
};

// Whether keys may be fetched from there, and whether an issuer may be called that: https, or http
// on this machine (`localhost`, `127.0.0.1`, `[::1]`), with a host and without user information.
bool IsSecureUrl(std::string_view url);

// The body of a 200. Blocks for the timeout at most; ends soon after `stop` is set. Fails with
// kUnavailable, saying why.
absl::StatusOr<std::string> FetchText(const FetchOptions& options, const std::atomic<bool>& stop);

}  // namespace api
