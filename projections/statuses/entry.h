// StatusEntry and ReportEntry: the conditions of a resource, and one adapter's report about it, as
// a projection keeps them: the verified bytes of their records.
//
// Nothing is unpacked: every accessor reads from those bytes.

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "engine/base/payload.h"
#include "engine/journal.h"
#include "schemas/codec.h"
#include "schemas/status_generated.h"

namespace projections {

// A record of the stream `statuses` whose table is T. Immutable, so thread-safe; never blocks.
// Texts live as long as the entry, the entry as long as the image it was found in.
template <typename T>
class StatusRecord {
 public:
  // `table` is in `payload`.
  StatusRecord(engine::Payload payload, const T& table, engine::Position position,
               std::uint64_t digest)
      : payload_(std::move(payload)),
        table_(&table),
        position_(position),
        digest_(digest),
        resource_id_(schemas::Text(table.resource_id())) {}

  std::string_view resource_id() const { return resource_id_; }
  const T& table() const { return *table_; }
  const engine::Payload& payload() const { return payload_; }

  // Where the key's newest record is: `previous` of the next one.
  engine::Position position() const { return position_; }
  // What it adds to the state digest.
  std::uint64_t digest() const { return digest_; }

 private:
  engine::Payload payload_;
  const T* table_;
  engine::Position position_;
  std::uint64_t digest_;
  std::string_view resource_id_;
};

// All conditions of one resource.
class StatusEntry : public StatusRecord<schemas::ResourceStatus> {
 public:
  using StatusRecord::StatusRecord;

  // Null when the resource has no condition of that type.
  const schemas::ResourceCondition* FindCondition(std::string_view type) const {
    for (const schemas::ResourceCondition* condition : *table().conditions()) {
      if (schemas::Text(condition->type()) == type) {
        return condition;
      }
    }
    return nullptr;
  }
};

// The newest report of one adapter about one resource.
class ReportEntry : public StatusRecord<schemas::AdapterReport> {
 public:
  using StatusRecord::StatusRecord;

  std::string_view adapter() const { return schemas::Text(table().adapter()); }
};

}  // namespace projections
