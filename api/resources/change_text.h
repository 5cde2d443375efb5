// A record of the stream `resources` as people are shown it: what was done, by whom, and what the
// resource was from then on. Histories and watches show the same.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "api/json/writer.h"
#include "engine/journal.h"
#include "projections/registry.h"
#include "schemas/resource_generated.h"

namespace api {

// Writes the members `actor`, `action` and `generation` and `resource`, or `removal`, into the
// object that is open. Fails with kDataLoss, having written nothing, when the record is none of
// that stream.
absl::Status WriteChange(const engine::Record& record, const projections::Registry& registry,
                         JsonWriter& json);

// The state in the payload of a record; null: it is a tombstone. Points into the payload. Fails as
// WriteChange does.
absl::StatusOr<const schemas::Resource*> StateIn(const engine::Payload& payload);

}  // namespace api
