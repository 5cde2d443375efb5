#include "api/dispatch/sweeper.h"

#include <string>

#include "engine/base/logging.h"

namespace api {
namespace {

constexpr int kBatch = 1000;
// What more there is, is left to the next sweep: a stop must not wait for a million rows.
constexpr int kMaxBatches = 100;
constexpr engine::Duration kBatchTime = std::chrono::seconds(5);

}  // namespace

void SweepExpired(engine::KeyValue& key_value) {
  for (int batch = 0; batch < kMaxBatches; ++batch) {
    const absl::StatusOr<int> removed =
        key_value.Sweep(kBatch, engine::Deadline::After(kBatchTime));
    if (!removed.ok()) {
      const absl::Status& why = removed.status();
      engine::Log(engine::Severity::kWarning, "expired key-value rows could not be removed",
                  {{"why", std::string(why.message().data(), why.message().size())}});
      return;
    }
    if (*removed < kBatch) {
      return;
    }
  }
}

}  // namespace api
