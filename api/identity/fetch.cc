#include "api/identity/fetch.h"

#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/http_client/transfer.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// `localhost` of `http://localhost:8080/keys`; empty when there is no host, or a user before it.
std::string_view HostOf(std::string_view url, std::string_view scheme) {
  std::string_view authority = url.substr(scheme.size());
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos) {
    return {};
  }
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    return end == std::string_view::npos ? std::string_view() : authority.substr(0, end + 1);
  }
  return authority.substr(0, authority.find(':'));
}

}  // namespace

bool IsSecureUrl(std::string_view url) {
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F || c == '\\') {
      return false;
    }
  }
  if (url.starts_with("https://")) {
    return !HostOf(url, "https://").empty();
  }
  if (!url.starts_with("http://")) {
    return false;
  }
  const std::string_view host = HostOf(url, "http://");
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

absl::StatusOr<std::string> FetchText(const FetchOptions& options, const std::atomic<bool>& stop) {
  ASSIGN_OR_RETURN(TransferAnswer answer, Transfer({.url = options.url,
                                                    .ca_file = options.ca_file,
                                                    .timeout = options.timeout,
                                                    .max_answer_bytes = options.max_bytes},
                                                   stop));
  if (answer.status != 200) {
    return absl::UnavailableError(absl::StrFormat("%s: answered %d", options.url, answer.status));
  }
  return std::move(answer.body);
}

}  // namespace api
