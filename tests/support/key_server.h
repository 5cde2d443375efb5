// KeyServer: an issuer's key set over HTTP, which a test changes while it is being served.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/http/router.h"
#include "api/http/transport.h"
#include "engine/base/mutex.h"

namespace support {

// Thread-safe.
class KeyServer {
 public:
  // Serves `text` at `/keys` of a free port of this machine.
  explicit KeyServer(std::string text);
  ~KeyServer();

  std::string url() const { return "http://" + address_ + "/keys"; }
  void Set(std::string text, int status = 200);
  // From now on requests wait for Release.
  void Hold();
  void Release();
  // Requests that came.
  int asked() const;

 private:
  api::Response Answer() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable engine::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  int status_ ABSL_GUARDED_BY(mutex_) = 200;
  int asked_ ABSL_GUARDED_BY(mutex_) = 0;
  bool holding_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<api::Responder> held_ ABSL_GUARDED_BY(mutex_);
  api::Router router_;
  std::unique_ptr<api::Transport> transport_;
  std::string address_;
};

}  // namespace support
