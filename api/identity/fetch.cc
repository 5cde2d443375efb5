#include "api/identity/fetch.h"

#include <memory>
#include <string_view>

#include <absl/strings/str_format.h>
#include <curl/curl.h>

namespace api {
namespace {

struct Body {
  std::string text;
  std::size_t max_bytes;
};

// What is not taken ends the transfer.
std::size_t TakeBytes(char* bytes, std::size_t size, std::size_t count, void* context) {
  auto& body = *static_cast<Body*>(context);
  if (size * count > body.max_bytes - body.text.size()) {
    return 0;
  }
  body.text.append(bytes, size * count);
  return size * count;
}

int IsStopped(void* context, curl_off_t /*total_down*/, curl_off_t /*down*/,
              curl_off_t /*total_up*/, curl_off_t /*up*/) {
  return static_cast<const std::atomic<bool>*>(context)->load() ? 1 : 0;
}

void SetUp(CURL* curl, const FetchOptions& options, Body& body, const std::atomic<bool>& stop) {
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout);
  curl_easy_setopt(curl, CURLOPT_URL, options.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "halo-server");
  if (!options.ca_file.empty()) {
    // The system's directory of certificates stays in use.
    curl_easy_setopt(curl, CURLOPT_CAINFO, options.ca_file.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, TakeBytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, IsStopped);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, const_cast<std::atomic<bool>*>(&stop));
}

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
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 curl_easy_cleanup);
  if (ready != CURLE_OK || curl == nullptr) {
    return absl::UnavailableError("libcurl cannot be used");
  }
  Body body{{}, options.max_bytes};
  SetUp(curl.get(), options, body, stop);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_WRITE_ERROR) {
    return absl::UnavailableError(
        absl::StrFormat("%s: more than %d bytes", options.url, options.max_bytes));
  }
  if (code != CURLE_OK) {
    return absl::UnavailableError(absl::StrFormat("%s: %s", options.url, curl_easy_strerror(code)));
  }
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    return absl::UnavailableError(absl::StrFormat("%s: answered %d", options.url, status));
  }
  return std::move(body.text);
}

}  // namespace api
