// Address: where the database is, as a list of servers to try in turn.
//
// Thread-safe; never blocks.

#pragma once

#include <map>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

namespace engine::postgres {

// One server: libpq's keywords and values.
using ServerParams = std::map<std::string, std::string>;

// Takes a connection URL apart: one entry a host, keepalive settings added where the URL has none
// and, for several hosts, target_session_attrs=read-write.
//
// Each server must be this machine (a unix socket, `localhost`, a loopback address) or be reached
// with sslmode=verify-full, unless `insecure_tls`. Libpq's defaults and the environment (PGHOST,
// PGSSLMODE, ...) count as if they were written in the URL. Refused as well is what would weaken
// that unseen: an empty place in a list of hosts (the environment fills it), an encryption that
// takes the place of TLS or a TLS before 1.2, a service file, `options` that set anything but the
// search_path, and of several hosts a standby.
//
// Fails with kInvalidArgument. No message contains the password.
absl::StatusOr<std::vector<ServerParams>> ParseAddress(const std::string& url, bool insecure_tls,
                                                       const std::string& application_name);

// `host:port/database` for messages.
std::string Describe(const ServerParams& server);

}  // namespace engine::postgres
