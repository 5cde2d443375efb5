#include "engine/postgres/address.h"

#include <algorithm>
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
  if (defaults == nullptr) {
    return absl::ResourceExhaustedError("no memory to read the database URL");
  }
  take(defaults.get());
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

// An empty place in a list is not the default, as it looks, but whatever the environment says when
// the connection is made.
bool HasHole(const std::vector<std::string>& list) {
  return list.size() > 1 && std::ranges::count(list, "") != 0;
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
  if (!GUARD("postgres.url-list", !HasHole(hosts) && !HasHole(addresses))) {
    return absl::InvalidArgumentError("the database URL has a list of hosts with an empty place");
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

// The words of libpq's `options`, as the server takes them apart.
std::vector<std::string> Words(std::string_view options) {
  std::vector<std::string> words;
  bool in_word = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const char c = options[i];
    const bool is_space = c == ' ' || (c >= '\t' && c <= '\r');
    if (is_space) {
      in_word = false;
      continue;
    }
    if (!in_word) {
      words.emplace_back();
      in_word = true;
    }
    const bool is_escape = c == '\\' && i + 1 < options.size();
    words.back().push_back(is_escape ? options[++i] : c);
  }
  return words;
}

// The search path says where our tables are. Whatever else a session needs we set ourselves; a
// setting hidden in a URL could only weaken it. A word without a dash is a provider's, not a
// setting.
bool AreHarmless(const std::string& options) {
  bool expects_setting = false;
  for (std::string_view word : Words(options)) {
    if (word == "-c" && !expects_setting) {
      expects_setting = true;
      continue;
    }
    if (!expects_setting && !word.starts_with('-')) {
      continue;
    }
    if (!expects_setting) {
      word.remove_prefix(std::min<std::size_t>(2, word.size()));
    }
    expects_setting = false;
    if (!word.starts_with("search_path=")) {
      return false;
    }
  }
  return true;
}

// Refuses what would make `sslmode=verify-full` mean something else than it says.
absl::Status CheckEncryption(ServerParams& server) {
  if (!GUARD("postgres.tls", Get(server, "sslmode") == "verify-full")) {
    return absl::InvalidArgumentError(
        absl::StrFormat("database host %s is not this machine and sslmode is not verify-full; "
                        "--database-insecure-tls allows it",
                        Describe(server)));
  }
  // With Kerberos encryption libpq does without TLS, and so without looking at a certificate.
  if (!GUARD("postgres.tls-kerberos", Get(server, "gssencmode") != "require")) {
    return absl::InvalidArgumentError(
        "gssencmode=require takes the place of TLS; --database-insecure-tls allows it");
  }
  server["gssencmode"] = "disable";
  const std::string least = Get(server, "ssl_min_protocol_version");
  if (!GUARD("postgres.tls-version", least.empty() || least == "TLSv1.2" || least == "TLSv1.3")) {
    return absl::InvalidArgumentError(
        "ssl_min_protocol_version is below TLSv1.2; --database-insecure-tls allows it");
  }
  return absl::OkStatus();
}

absl::Status CheckSession(bool many, const ServerParams& server) {
  if (!GUARD("postgres.url-options", AreHarmless(Get(server, "options")))) {
    return absl::InvalidArgumentError("the database URL's options may set the search_path only");
  }
  const std::string wanted = Get(server, "target_session_attrs");
  if (many && !wanted.empty() && wanted != "any" && wanted != "read-write" && wanted != "primary") {
    return absl::InvalidArgumentError(
        "target_session_attrs has to be read-write: a standby cannot be written");
  }
  return absl::OkStatus();
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
    if (!insecure_tls && !IsThisMachine(server)) {
      RETURN_IF_ERROR(CheckEncryption(server));
    }
    RETURN_IF_ERROR(CheckSession(many, server));
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
