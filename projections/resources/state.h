// ResourceState: a resource as plain values, and how it becomes the bytes of a record.
//
// Only mutations use it, to say what the next state is; everything that reads works on the
// verified bytes (projections/resources/entry.h).
//
// Pure functions; thread-safe, never block.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "projections/resources/names.h"
#include "schemas/resource_generated.h"

namespace projections {

using Tenancy = std::map<std::string, std::string>;

struct OwnerState {
  std::string id;
  std::string kind;
  std::string href;
};

struct ReferenceState {
  std::string ref_type;
  std::string target_id;
  std::string target_kind;
  friend auto operator<=>(const ReferenceState&, const ReferenceState&) = default;
};

struct DeletionState {
  engine::Timestamp time;
  std::string by;
};

struct ResourceState {
  std::string id;
  std::string kind;
  std::string name;
  std::string href;
  std::optional<OwnerState> owner;
  std::string spec;  // An object in canonical JSON.
  Labels labels;
  Tenancy tenancy;
  std::vector<ReferenceState> references;  // Sorted by type, then target.
  std::int32_t generation = 1;
  engine::Timestamp created_time;
  std::string created_by;
  engine::Timestamp updated_time;
  std::string updated_by;
  std::optional<DeletionState> deletion;
};

ResourceState StateOf(const schemas::Resource& resource);
// The references alone.
std::vector<ReferenceState> ReferencesOf(const schemas::Resource& resource);

// The payload of a record. The same state always gives the same bytes.
std::string EncodeResource(const ResourceState& state);

struct TombstoneState {
  std::string id;
  schemas::RemovalCause cause = schemas::RemovalCause::kInvalid;
  std::string by;
  std::string reason;
};
std::string EncodeTombstone(const TombstoneState& state);

// The table in a payload that EncodeResource made in this process: it is not verified again.
// Points into `payload`.
const schemas::Resource& ResourceIn(std::string_view payload);

// At most how many bytes a record with that spec, those labels and those references has, in every
// state that its resource can get into without others.
std::size_t RecordSizeBound(std::string_view spec, const Labels& labels,
                            const std::vector<ReferenceState>& references = {});

}  // namespace projections
