#include "api/http_client/transfer.h"

#include <algorithm>
#include <memory>

#include <absl/strings/str_format.h>
#include <curl/curl.h>

namespace api {
namespace {

using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

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

void SetRules(CURL* curl, const TransferRequest& request) {
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(request.timeout);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "halo-server");
  if (!request.ca_file.empty()) {
    // The system's directory of certificates stays in use.
    curl_easy_setopt(curl, CURLOPT_CAINFO, request.ca_file.c_str());
  }
}

void SetStop(CURL* curl, const std::atomic<bool>& stop) {
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, IsStopped);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, const_cast<std::atomic<bool>*>(&stop));
}

void SetBody(CURL* curl, std::string_view body) {
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
}

HeaderList HeadersOf(const TransferRequest& request) {
  // No `Expect`: a server that does not know it would cost a second a request.
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  for (const auto& [name, value] : request.headers) {
    list = curl_slist_append(list, absl::StrFormat("%s: %s", name, value).c_str());
  }
  return {list, curl_slist_free_all};
}

TransferAnswer AnswerOf(CURL* curl, std::string body) {
  long status = 0;
  curl_off_t wait = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  return {static_cast<int>(status), std::move(body),
          std::chrono::seconds(std::max<curl_off_t>(0, wait))};
}

}  // namespace

absl::StatusOr<TransferAnswer> Transfer(const TransferRequest& request,
                                        const std::atomic<bool>& stop) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const Curl curl(curl_easy_init(), curl_easy_cleanup);
  if (ready != CURLE_OK || curl == nullptr) {
    return absl::UnavailableError("libcurl cannot be used");
  }
  SetRules(curl.get(), request);
  SetStop(curl.get(), stop);
  if (request.body.has_value()) {
    SetBody(curl.get(), *request.body);
  }
  const HeaderList headers = HeadersOf(request);
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  Body body{{}, request.max_answer_bytes};
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, TakeBytes);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_WRITE_ERROR) {
    return absl::UnavailableError(
        absl::StrFormat("%s: more than %d bytes", request.url, request.max_answer_bytes));
  }
  if (code != CURLE_OK) {
    return absl::UnavailableError(absl::StrFormat("%s: %s", request.url, curl_easy_strerror(code)));
  }
  return AnswerOf(curl.get(), std::move(body.text));
}

}  // namespace api
