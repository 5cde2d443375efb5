// An engine whose journal can be held, failed and watched, and a little world around it.

#pragma once

#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/dispatch/dispatcher.h"
#include "engine/base/mutex.h"
#include "engine/memory/memory.h"
#include "projections/all.h"
#include "schemas/streams.h"
#include "tests/support/hooked_journal.h"
#include "tests/support/logs.h"
#include "tests/support/status_matchers.h"

namespace dispatch_test {

class HookedEngine final : public engine::Engine {
 public:
  using Hook = std::function<absl::Status()>;

  HookedEngine() {
    journal_.hooks.after_read = [this] { return Run(after_read_); };
    journal_.hooks.before_begin = [this] { return Run(before_begin_); };
    journal_.hooks.on_rows = [this](std::vector<engine::Record>& rows) {
      engine::MutexLock lock(on_rows_mutex_);
      if (on_rows_) {
        on_rows_(rows);
      }
    };
  }

  engine::Journal& journal() override { return journal_; }
  engine::KeyValue& key_value() override { return behind_->key_value(); }
  engine::Leases& leases() override { return behind_->leases(); }
  engine::Presence& presence() override { return presence_; }
  absl::Status CheckReady(engine::Deadline /*deadline*/) override { return Run(ready_); }
  std::string backend() const override { return "hooked"; }

  // What flights, the lock, beats and the probe answer instead, when it is not ok. Null: nothing.
  void SetAfterRead(Hook hook) { Set(after_read_, std::move(hook)); }
  void SetBeforeBegin(Hook hook) { Set(before_begin_, std::move(hook)); }
  void SetReady(Hook hook) { Set(ready_, std::move(hook)); }
  void SetBeforeBeat(Hook hook) { Set(before_beat_, std::move(hook)); }
  // Changes the rows that are read one by one. Null: nothing.
  void SetOnRows(std::function<void(std::vector<engine::Record>&)> hook) {
    engine::MutexLock lock(on_rows_mutex_);
    on_rows_ = std::move(hook);
  }

 private:
  struct Guarded {
    engine::Mutex mutex;
    Hook hook ABSL_GUARDED_BY(mutex);
  };
  class HookedPresence final : public engine::Presence {
   public:
    explicit HookedPresence(HookedEngine& engine) : engine_(engine) {}
    absl::StatusOr<engine::Life> NoteLife(engine::Deadline deadline) override {
      return engine_.behind_->presence().NoteLife(deadline);
    }
    absl::StatusOr<engine::Pulse> Beat(const engine::Replica& self,
                                       engine::Deadline deadline) override {
      if (const absl::Status refused = Run(engine_.before_beat_); !refused.ok()) {
        return refused;
      }
      return engine_.behind_->presence().Beat(self, deadline);
    }

   private:
    HookedEngine& engine_;
  };
  static void Set(Guarded& guarded, Hook hook) {
    engine::MutexLock lock(guarded.mutex);
    guarded.hook = std::move(hook);
  }
  static absl::Status Run(Guarded& guarded) {
    Hook hook;
    {
      engine::MutexLock lock(guarded.mutex);
      hook = guarded.hook;
    }
    return hook ? hook() : absl::OkStatus();
  }

  const std::unique_ptr<engine::Engine> behind_ = engine::memory::Open(schemas::Streams());
  support::HookedJournal journal_{behind_->journal()};
  Guarded after_read_;
  Guarded before_begin_;
  Guarded ready_;
  Guarded before_beat_;
  engine::Mutex on_rows_mutex_;
  std::function<void(std::vector<engine::Record>&)> on_rows_ ABSL_GUARDED_BY(on_rows_mutex_);
  HookedPresence presence_{*this};
};

// One answer, waited for.
class Slot {
 public:
  api::Responder MakeResponder() {
    return api::Responder([state = state_](api::Response response) {
      engine::MutexLock lock(state->mutex);
      state->response = std::move(response);
      state->answered.SignalAll();
    });
  }
  api::Response Wait() {
    engine::MutexLock lock(state_->mutex);
    while (!state_->response) {
      state_->answered.Wait(state_->mutex);
    }
    return *state_->response;
  }
  bool Answered() {
    engine::MutexLock lock(state_->mutex);
    return state_->response.has_value();
  }

 private:
  struct State {
    engine::Mutex mutex;
    engine::CondVar answered;
    std::optional<api::Response> response ABSL_GUARDED_BY(mutex);
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

inline std::shared_ptr<api::Request> MakeRequest(const std::string& method,
                                                 const std::string& target,
                                                 std::vector<api::HeaderField> headers = {},
                                                 const std::string& body = "") {
  api::RequestParts parts;
  parts.method = method;
  parts.target = target;
  parts.headers = std::move(headers);
  parts.headers.push_back({"Host", "halo.example"});
  parts.body = body;
  parts.remote_address = "192.0.2.1:1024";
  parts.deadline = engine::Deadline::After(std::chrono::seconds(30));
  return std::make_shared<api::Request>(std::move(parts));
}

inline std::string HeaderOf(const api::Response& response, std::string_view name) {
  for (const api::HeaderField& header : response.headers) {
    if (header.name == name) {
      return header.value;
    }
  }
  return "";
}

}  // namespace dispatch_test
