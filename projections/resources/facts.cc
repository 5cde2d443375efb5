#include "projections/resources/facts.h"

#include "engine/base/guard.h"

namespace projections {
namespace {

std::string RecordFact(std::string_view id) {
  return "r/" + std::string(id);
}

std::string ChildrenPrefix(std::string_view owner_id) {
  return "c/" + std::string(owner_id) + "/";
}

std::string ChildFact(std::string_view owner_id, std::string_view id) {
  return ChildrenPrefix(owner_id) + std::string(id);
}

std::string SourcesPrefix(std::string_view target_id) {
  return "s/" + std::string(target_id) + "/";
}

std::string NameFact(const NameProbe& name) {
  std::string fact = "n/";
  fact.append(name.kind).append("/").append(name.owner_id).append("/");
  if (name.owner_id.empty()) {
    for (const auto& [key, value] : name.tenancy) {
      fact.append(key).append("=").append(value).append(",");
    }
  }
  return fact.append("/").append(name.name);
}

}  // namespace

const ResourceEntry* TrackedResources::Find(std::string_view id) {
  if (!GUARD("resources.facts-record", false)) {
    footprint_.Read(RecordFact(id));
  }
  return image_.Find(id);
}

const ResourceEntry* TrackedResources::FindNamed(const NameProbe& name) {
  if (!GUARD("resources.facts-name", false)) {
    footprint_.Read(NameFact(name));
  }
  return image_.FindNamed(name);
}

std::vector<const ResourceEntry*> TrackedResources::Children(std::string_view owner_id) {
  if (!GUARD("resources.facts-children", false)) {
    footprint_.ReadPrefix(ChildrenPrefix(owner_id));
  }
  return image_.Children(owner_id);
}

std::vector<const ResourceEntry*> TrackedResources::Sources(std::string_view target_id) {
  if (!GUARD("resources.facts-sources", false)) {
    footprint_.ReadPrefix(SourcesPrefix(target_id));
  }
  return image_.Sources(target_id);
}

void TrackedResources::Use(const ResourceEntry& found) {
  footprint_.Read(RecordFact(found.id()));
}

void TrackedResources::NoteReferences(std::string_view id,
                                      const std::vector<ReferenceState>& references) {
  for (const ReferenceState& reference : references) {
    footprint_.Write(SourcesPrefix(reference.target_id) + std::string(id));
  }
}

void TrackedResources::NoteCreated(const ResourceState& state, const NameProbe& name) {
  footprint_.Write(RecordFact(state.id));
  footprint_.Write(NameFact(name));
  if (!name.owner_id.empty()) {
    footprint_.Write(ChildFact(name.owner_id, state.id));
  }
  NoteReferences(state.id, state.references);
}

void TrackedResources::NotePatched(const ResourceEntry& entry, const ResourceState& state) {
  footprint_.Write(RecordFact(entry.id()));
  const std::vector<ReferenceState> before = ReferencesOf(entry.table());
  if (before != state.references) {
    NoteReferences(entry.id(), before);
    NoteReferences(entry.id(), state.references);
  }
}

void TrackedResources::NoteDeleted(const ResourceEntry& entry) {
  footprint_.Write(RecordFact(entry.id()));
  if (!entry.is_root()) {
    footprint_.Write(ChildFact(entry.owner_id(), entry.id()));
  }
  NoteReferences(entry.id(), ReferencesOf(entry.table()));
  if (!entry.is_deleting()) {
    const Tenancy tenancy = StateOf(entry.table()).tenancy;
    footprint_.Write(NameFact({entry.kind(), entry.owner_id(), entry.name(), tenancy}));
  }
}

}  // namespace projections
