// Sweeper: removes key-value rows that have expired, now and then, so that they take no room. Each
// replica does; they pass each other's rows by.

#pragma once

#include "api/dispatch/ticker.h"
#include "engine/key_value.h"

namespace api {

// Removes what has expired, batch after batch. Blocks; a failure is logged and ends it, since the
// next sweep comes anyway.
void SweepExpired(engine::KeyValue& key_value);

// Thread-safe. Destruction waits for a sweep under way.
class Sweeper {
 public:
  // `key_value` must outlive the object.
  explicit Sweeper(engine::KeyValue& key_value, engine::Duration interval = std::chrono::minutes(1))
      : ticker_("kv-sweep", interval, [&key_value] { SweepExpired(key_value); }) {}

 private:
  Ticker ticker_;
};

}  // namespace api
