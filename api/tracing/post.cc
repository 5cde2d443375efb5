#include "api/tracing/post.h"

#include <cstddef>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/http_client/transfer.h"
#include "api/tracing/otlp.h"

namespace api {
namespace {

constexpr std::size_t kMaxAnswerBytes = 65536;

// As the protocol has it: these answers are worth another try, others are not.
bool IsPassing(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

Posted Judge(const CollectorOptions& collector, const TransferAnswer& answer) {
  if (answer.status >= 200 && answer.status < 300) {
    Rejected rejected = RejectedSpans(answer.body);
    return {Posted::Outcome::kTaken, rejected.spans, {}, std::move(rejected.why)};
  }
  return {IsPassing(answer.status) ? Posted::Outcome::kTryAgain : Posted::Outcome::kRefused, 0,
          answer.wait, absl::StrFormat("%s: answered %d", collector.url, answer.status)};
}

}  // namespace

Posted PostSpans(const CollectorOptions& collector, const std::string& json,
                 const std::atomic<bool>& stop) {
  TransferRequest request{.url = collector.url,
                          .ca_file = collector.ca_file,
                          .timeout = collector.timeout,
                          .max_answer_bytes = kMaxAnswerBytes,
                          .headers = {{"Content-Type", "application/json"}},
                          .body = json};
  request.headers.insert(request.headers.end(), collector.headers.begin(), collector.headers.end());
  const absl::StatusOr<TransferAnswer> answer = Transfer(request, stop);
  if (!answer.ok()) {
    return {Posted::Outcome::kTryAgain, 0, {}, std::string(answer.status().message())};
  }
  return Judge(collector, *answer);
}

}  // namespace api
