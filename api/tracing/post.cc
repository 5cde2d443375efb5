#include "api/tracing/post.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>

#include <absl/strings/str_format.h>
#include <curl/curl.h>

#include "api/tracing/otlp.h"

namespace api {
namespace {

constexpr std::size_t kMaxAnswerBytes = 65536;

using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// What is not taken of an answer ends the transfer.
std::size_t TakeBytes(char* bytes, std::size_t size, std::size_t count, void* context) {
  auto& text = *static_cast<std::string*>(context);
  if (size * count > kMaxAnswerBytes - text.size()) {
    return 0;
  }
  text.append(bytes, size * count);
  return size * count;
}

int IsStopped(void* context, curl_off_t /*total_down*/, curl_off_t /*down*/,
              curl_off_t /*total_up*/, curl_off_t /*up*/) {
  return static_cast<const std::atomic<bool>*>(context)->load() ? 1 : 0;
}

HeaderList HeadersOf(const CollectorOptions& collector) {
  // No `Expect`: a collector that does not know it would cost a second a batch.
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
  list = curl_slist_append(list, "Expect:");
  for (const auto& [name, value] : collector.headers) {
    list = curl_slist_append(list, absl::StrFormat("%s: %s", name, value).c_str());
  }
  return {list, curl_slist_free_all};
}

void SetUp(CURL* curl, const CollectorOptions& collector, const std::string& json,
           const std::atomic<bool>& stop) {
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(collector.timeout);
  curl_easy_setopt(curl, CURLOPT_URL, collector.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "halo-server");
  if (!collector.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, collector.ca_file.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, IsStopped);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, const_cast<std::atomic<bool>*>(&stop));
}

// As the protocol has it: these answers are worth another try, others are not.
bool IsPassing(long status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

Posted Judge(CURL* curl, const CollectorOptions& collector, const std::string& answer) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300) {
    Rejected rejected = RejectedSpans(answer);
    return {Posted::Outcome::kTaken, rejected.spans, {}, std::move(rejected.why)};
  }
  curl_off_t seconds = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds);
  return {IsPassing(status) ? Posted::Outcome::kTryAgain : Posted::Outcome::kRefused, 0,
          std::chrono::seconds(std::max<curl_off_t>(0, seconds)),
          absl::StrFormat("%s: answered %d", collector.url, status)};
}

}  // namespace

Posted PostSpans(const CollectorOptions& collector, const std::string& json,
                 const std::atomic<bool>& stop) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const Curl curl(curl_easy_init(), curl_easy_cleanup);
  if (ready != CURLE_OK || curl == nullptr) {
    return {Posted::Outcome::kRefused, 0, {}, "libcurl cannot be used"};
  }
  const HeaderList headers = HeadersOf(collector);
  std::string answer;
  SetUp(curl.get(), collector, json, stop);
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, TakeBytes);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) {
    return {Posted::Outcome::kTryAgain,
            0,
            {},
            absl::StrFormat("%s: %s", collector.url, curl_easy_strerror(code))};
  }
  return Judge(curl.get(), collector, answer);
}

}  // namespace api
