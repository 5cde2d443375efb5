// A certificate for `localhost` and 127.0.0.1 that vouches for itself, and its key, both PEM.

#pragma once

#include <string>

#include <absl/status/statusor.h>

namespace support {

struct Certificate {
  std::string certificate;
  std::string key;
};

// Fails with kInternal when OpenSSL does.
absl::StatusOr<Certificate> MakeCertificate();

}  // namespace support
