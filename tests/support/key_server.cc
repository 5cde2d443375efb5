#include "tests/support/key_server.h"

#include <utility>

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace support {

KeyServer::KeyServer(std::string text) : text_(std::move(text)) {
  router_.Handle(api::Method::kGet, "/keys",
                 [this](const api::RequestPtr&, api::Responder responder) {
                   engine::MutexLock lock(mutex_);
                   ++asked_;
                   if (holding_) {
                     held_.push_back(std::move(responder));
                   } else {
                     responder.Answer(Answer());
                   }
                 });
  transport_ = std::make_unique<api::Transport>(api::TransportOptions());
  const auto address = transport_->Listen("127.0.0.1:0", router_);
  EXPECT_OK(address);
  address_ = address.value_or("");
  transport_->Start();
}

KeyServer::~KeyServer() {
  Release();
  transport_->Stop();
}

api::Response KeyServer::Answer() const {
  return api::JsonResponse(status_, text_);
}

void KeyServer::Set(std::string text, int status) {
  engine::MutexLock lock(mutex_);
  text_ = std::move(text);
  status_ = status;
}

void KeyServer::Hold() {
  engine::MutexLock lock(mutex_);
  holding_ = true;
}

void KeyServer::Release() {
  std::vector<api::Responder> held;
  api::Response answer;
  {
    engine::MutexLock lock(mutex_);
    holding_ = false;
    held.swap(held_);
    answer = Answer();
  }
  for (api::Responder& responder : held) {
    responder.Answer(answer);
  }
}

int KeyServer::asked() const {
  engine::MutexLock lock(mutex_);
  return asked_;
}

}  // namespace support
