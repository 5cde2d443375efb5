// ResourceEntry: one resource as a projection keeps it: its verified bytes and a few fields that
// are looked at all the time.
//
// Nothing is unpacked: every accessor reads from the bytes of the record.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/payload.h"
#include "engine/journal.h"
#include "projections/search/spec_outline.h"
#include "schemas/codec.h"
#include "schemas/resource_generated.h"

namespace projections {

// Immutable, so thread-safe; never blocks. Texts live as long as the entry, the entry as long as
// the image it was found in.
class ResourceEntry {
 public:
  // `table` is in `payload`. `kind` outlives the entry; entries of one kind share it. `paths` get
  // those of the spec.
  static std::shared_ptr<const ResourceEntry> Make(engine::Payload payload,
                                                   const schemas::Resource& table,
                                                   const std::string& kind,
                                                   search::SpecPaths& paths,
                                                   engine::Position position, std::uint64_t digest);
  static void operator delete(void* entry) { ::operator delete(entry); }

  std::string_view id() const { return id_; }
  std::string_view kind() const { return *kind_; }
  const std::string& kind_text() const { return *kind_; }  // One object for all of the kind.
  std::string_view name() const { return schemas::Text(table_->name()); }
  std::string_view owner_id() const { return owner_id_; }  // Empty: a root.
  std::int64_t created_micros() const { return created_micros_; }
  bool is_root() const { return owner_id_.empty(); }
  // DELETE was asked for; it goes when nothing is left to wait for.
  bool is_deleting() const { return table_->deletion() != nullptr; }

  // Whether it is some tenant's: it was created while tenants were told apart.
  bool has_tenancy() const { return table_->tenancy() != nullptr && table_->tenancy()->size() > 0; }

  // What its spec has.
  const search::SpecOutline& spec_outline() const { return spec_outline_; }

  // Everything else.
  const schemas::Resource& table() const { return *table_; }
  const engine::Payload& payload() const { return payload_; }

  // Where the key's newest record is: `previous` of the next one.
  engine::Position position() const { return position_; }
  // What it adds to the state digest.
  std::uint64_t digest() const { return digest_; }

 private:
  // Bytes behind an entry that belong to it.
  struct Behind {
    std::size_t size;
  };
  static void* operator new(std::size_t size, Behind behind) {
    return ::operator new(size + behind.size);
  }
  static void operator delete(void* entry, Behind) { ::operator delete(entry); }

  ResourceEntry(engine::Payload payload, const schemas::Resource& table, const std::string& kind,
                const search::OutlinedSpec& spec, engine::Position position, std::uint64_t digest)
      : payload_(std::move(payload)),
        table_(&table),
        position_(position),
        digest_(digest),
        created_micros_(table.created_time()),
        kind_(&kind),
        id_(schemas::Text(table.id())),
        owner_id_(table.owner() == nullptr ? std::string_view()
                                           : schemas::Text(table.owner()->id())),
        spec_outline_(spec) {}

  engine::Payload payload_;
  const schemas::Resource* table_;
  engine::Position position_;
  std::uint64_t digest_;
  std::int64_t created_micros_;
  const std::string* kind_;
  std::string_view id_;
  std::string_view owner_id_;
  search::SpecOutline spec_outline_;  // The last one: it goes on behind the entry.
};

// The value of the label; empty when the resource has none of that key.
std::optional<std::string_view> LabelOf(const ResourceEntry& entry, std::string_view key);

}  // namespace projections
