#include "api/http/response.h"

#include "engine/base/check.h"

namespace api {
namespace {

class FunctionSink final : public AnswerSink {
 public:
  explicit FunctionSink(std::function<void(Response)> answer) : answer_(std::move(answer)) {}

  void Answer(Response response) override { answer_(std::move(response)); }
  void Abandon() override { answer_(TextResponse(500, "the request was dropped\n")); }

 private:
  std::function<void(Response)> answer_;
};

}  // namespace

Response JsonResponse(int status, std::string body) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

Response TextResponse(int status, std::string body) {
  Response response = JsonResponse(status, std::move(body));
  response.content_type = "text/plain; charset=utf-8";
  return response;
}

Responder::Responder(std::function<void(Response)> answer)
    : sink_(std::make_shared<FunctionSink>(std::move(answer))) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  if (this != &other) {
    Drop();
    sink_ = std::move(other.sink_);
  }
  return *this;
}

void Responder::Answer(Response response) {
  ENGINE_CHECK(sink_ != nullptr);
  const std::shared_ptr<AnswerSink> sink = std::move(sink_);
  sink->Answer(std::move(response));
}

void Responder::Drop() {
  if (sink_ != nullptr) {
    const std::shared_ptr<AnswerSink> sink = std::move(sink_);
    sink->Abandon();
  }
}

}  // namespace api
