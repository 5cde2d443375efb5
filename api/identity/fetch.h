// FetchText: one HTTP GET by libcurl.

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

// The body of a 200. TLS of 1.2 at least, certificate and name verified; no redirects. Blocks; ends
// soon after `stop` is set. Fails with kUnavailable, saying why.
absl::StatusOr<std::string> FetchText(const FetchOptions& options, const std::atomic<bool>& stop);

}  // namespace api
