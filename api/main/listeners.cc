#include "api/main/listeners.h"

#include <memory>
#include <string>
#include <string_view>

#include <absl/strings/str_format.h>

#include "api/http/host_and_port.h"
#include "api/main/values.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// A listener from its host and port in the file; empty when neither is there.
absl::Status ReadListener(const Settings& settings, std::string_view section,
                          std::string_view default_host, std::int64_t default_port,
                          std::string& address) {
  const std::string host_key = std::string(section) + ".host";
  const std::string port_key = std::string(section) + ".port";
  if (!settings.Find(host_key) && !settings.Find(port_key)) {
    return absl::OkStatus();
  }
  std::string host(default_host);
  std::int64_t port = default_port;
  RETURN_IF_ERROR(ReadText(settings, host_key, host));
  RETURN_IF_ERROR(ReadInt(settings, port_key, 0, 65535, port));
  const bool is_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
  address = is_v6 ? absl::StrFormat("[%s]:%d", host, port) : absl::StrFormat("%s:%d", host, port);
  return absl::OkStatus();
}

// What the flag says, where it says something.
absl::Status ReadAddress(const Settings& settings, std::string_view flag, std::string& address) {
  const auto value = settings.Find(flag);
  if (value && !SplitHostAndPort(value->text)) {
    return BadValue(*value, "must be HOST:PORT");
  }
  return ReadText(settings, flag, address);
}

// The TLS of a section's listener; null where it has none. Those of metrics and health that have
// no files of their own have the server's.
absl::StatusOr<std::shared_ptr<TlsContext>> ReadTls(const Settings& settings,
                                                    std::string_view section) {
  const std::string prefix = std::string(section) + ".tls.";
  bool enabled = false;
  TlsFiles files;
  RETURN_IF_ERROR(ReadBool(settings, prefix + "enabled", enabled));
  if (!enabled) {
    return nullptr;
  }
  RETURN_IF_ERROR(ReadText(settings, "server.tls.cert_file", files.cert_file));
  RETURN_IF_ERROR(ReadText(settings, "server.tls.key_file", files.key_file));
  RETURN_IF_ERROR(ReadText(settings, prefix + "cert_file", files.cert_file));
  RETURN_IF_ERROR(ReadText(settings, prefix + "key_file", files.key_file));
  if (!GUARD("serve.tls-files", !files.cert_file.empty() && !files.key_file.empty())) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%senabled needs %scert_file and %skey_file", prefix, prefix, prefix));
  }
  return TlsContext::Load(files);
}

}  // namespace

absl::Status ReadListeners(const Settings& settings, ServerOptions& server) {
  ASSIGN_OR_RETURN(server.tls, ReadTls(settings, "server"));
  ASSIGN_OR_RETURN(server.metrics_tls, ReadTls(settings, "metrics"));
  ASSIGN_OR_RETURN(server.health_tls, ReadTls(settings, "health"));
  server.listen = "127.0.0.1:8080";
  RETURN_IF_ERROR(ReadListener(settings, "server", "127.0.0.1", 8080, server.listen));
  RETURN_IF_ERROR(ReadAddress(settings, "listen", server.listen));
  RETURN_IF_ERROR(ReadListener(settings, "metrics", "localhost", 9090, server.metrics_listen));
  RETURN_IF_ERROR(ReadAddress(settings, "metrics-listen", server.metrics_listen));
  RETURN_IF_ERROR(ReadListener(settings, "health", "localhost", 8080, server.health_listen));
  return ReadAddress(settings, "health-listen", server.health_listen);
}

}  // namespace api
