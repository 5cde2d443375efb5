#include "engine/postgres/address.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>
#include <arpa/inet.h>
#include <libpq-fe.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine::postgres {
namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using ConninfoOptions = std::unique_ptr<PQconninfoOption, FreeOptions>;

std::string Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return "";
  }
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// What the URL says, over what the environment and libpq say.
absl::StatusOr<ServerParams> ParseUrl(const std::string& url) {
  char* error = nullptr;
  const ConninfoOptions given(PQconninfoParse(url.c_str(), &error));
  if (given == nullptr) {
    // Libpq's message can quote the URL, and with it a password: keep it out.
    PQfreemem(error);
    return absl::InvalidArgumentError("the database URL is not a valid connection URL");
  }
  ServerParams params;
  const auto take = [&params](const PQconninfoOption* option) {
    for (; option->keyword != nullptr; ++option) {
      if (option->val != nullptr && option->val[0] != '\0') {
        params[option->keyword] = option->val;
      }
    }
  };
  const ConninfoOptions defaults(PQconndefaults());
  if (defaults != nullptr) {
    take(defaults.get());
  }
  take(given.get());
  if (params.contains("service")) {
    return absl::InvalidArgumentError("the database URL may not name a service file");
  }
  return params;
}

std::vector<std::string> SplitList(const ServerParams& params, const std::string& name) {
  std::vector<std::string> items;
  const auto found = params.find(name);
  if (found == params.end()) {
    return items;
  }
  std::string_view rest = found->second;
  for (;;) {
    const std::size_t comma = rest.find(',');
    items.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) {
      return items;
    }
    rest.remove_prefix(comma + 1);
  }
}

std::string Get(const ServerParams& params, const std::string& name) {
  const auto found = params.find(name);
  return found == params.end() ? "" : found->second;
}

bool IsLoopback(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> 24) == 127;
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&v6);
  }
  return host == "localhost";
}

// The address counts, not the name: `host` is only what a certificate is compared with as soon as
// there is a `hostaddr`.
bool IsThisMachine(const ServerParams& server) {
  const std::string address = Get(server, "hostaddr");
  const std::string host = Get(server, "host");
  if (!address.empty()) {
    return IsLoopback(address);
  }
  return host.empty() || host.front() == '/' || host.front() == '@' || IsLoopback(host);
}

absl::StatusOr<std::vector<ServerParams>> SplitServers(const ServerParams& params) {
  const std::vector<std::string> hosts = SplitList(params, "host");
  const std::vector<std::string> addresses = SplitList(params, "hostaddr");
  const std::vector<std::string> ports = SplitList(params, "port");
  const std::size_t count = std::max<std::size_t>({1, hosts.size(), addresses.size()});
  const auto fits = [count](const std::vector<std::string>& list) {
    return list.empty() || list.size() == count;
  };
  if (!fits(hosts) || !fits(addresses) || (!fits(ports) && ports.size() != 1)) {
    return absl::InvalidArgumentError("the database URL has lists of hosts of different length");
  }
  std::vector<ServerParams> servers(count, params);
  const auto put = [&servers](const std::string& name, const std::vector<std::string>& list) {
    for (std::size_t i = 0; i < servers.size() && !list.empty(); ++i) {
      servers[i][name] = list.size() == 1 ? list.front() : list[i];
    }
  };
  put("host", hosts);
  put("hostaddr", addresses);
  put("port", ports);
  return servers;
}

// A connection that died without a word must not be waited for until the kernel gives up.
void AddDefaults(bool many, const std::string& application_name, ServerParams& server) {
  server.emplace("keepalives_idle", "10");
  server.emplace("keepalives_interval", "3");
  server.emplace("keepalives_count", "3");
  server.emplace("tcp_user_timeout", "15000");
  server.emplace("application_name", application_name);
  server["client_encoding"] = "UTF8";
  if (many) {
    server.emplace("target_session_attrs", "any");
    if (server["target_session_attrs"] == "any") {
      server["target_session_attrs"] = "read-write";
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<ServerParams>> ParseAddress(const std::string& url, bool insecure_tls,
                                                       const std::string& application_name) {
  const std::string trimmed = Trimmed(url);
  if (trimmed.empty()) {
    return absl::InvalidArgumentError("the database URL is empty");
  }
  ASSIGN_OR_RETURN(const ServerParams params, ParseUrl(trimmed));
  ASSIGN_OR_RETURN(std::vector<ServerParams> servers, SplitServers(params));
  const bool many = servers.size() > 1;
  for (ServerParams& server : servers) {
    const bool private_enough =
        insecure_tls || IsThisMachine(server) || Get(server, "sslmode") == "verify-full";
    if (!GUARD("postgres.tls", private_enough)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("database host %s is not this machine and sslmode is not verify-full; "
                          "--database-insecure-tls allows it",
                          Describe(server)));
    }
    AddDefaults(many, application_name, server);
  }
  return servers;
}

std::string Describe(const ServerParams& server) {
  std::string host = Get(server, "host");
  if (host.empty()) {
    host = Get(server, "hostaddr");
  }
  return absl::StrFormat("%s:%s/%s", host.empty() ? "local socket" : host, Get(server, "port"),
                         Get(server, "dbname"));
}

}  // namespace engine::postgres
