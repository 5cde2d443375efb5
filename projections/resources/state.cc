#include "projections/resources/state.h"

#include "schemas/codec.h"

namespace projections {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using PairList = flatbuffers::Vector<flatbuffers::Offset<schemas::KeyValue>>;
using ReferenceList = flatbuffers::Vector<flatbuffers::Offset<schemas::Reference>>;

// Identifiers, names, times, hrefs and identities (at most 255 bytes each), with room to spare.
constexpr std::size_t kFixedBytes = 4096;
// Two strings and their table: lengths, terminators, padding and offsets.
constexpr std::size_t kBytesPerLabel = 48;
// The same for three strings.
constexpr std::size_t kBytesPerReference = 64;

std::string TextOf(const flatbuffers::String* text) {
  return std::string(schemas::Text(text));
}

// An empty list is absent.
flatbuffers::Offset<PairList> CreatePairs(Builder& builder,
                                          const std::map<std::string, std::string>& pairs) {
  if (pairs.empty()) {
    return 0;
  }
  std::vector<flatbuffers::Offset<schemas::KeyValue>> offsets;
  offsets.reserve(pairs.size());
  for (const auto& [key, value] : pairs) {
    const auto key_offset = builder.CreateString(key);
    const auto value_offset = builder.CreateString(value);
    offsets.push_back(schemas::CreateKeyValue(builder, key_offset, value_offset));
  }
  return builder.CreateVector(offsets);
}

flatbuffers::Offset<ReferenceList> CreateReferences(Builder& builder,
                                                    const std::vector<ReferenceState>& references) {
  if (references.empty()) {
    return 0;
  }
  std::vector<flatbuffers::Offset<schemas::Reference>> offsets;
  offsets.reserve(references.size());
  for (const ReferenceState& reference : references) {
    const auto type = builder.CreateString(reference.ref_type);
    const auto id = builder.CreateString(reference.target_id);
    const auto kind = builder.CreateString(reference.target_kind);
    offsets.push_back(schemas::CreateReference(builder, type, id, kind));
  }
  return builder.CreateVector(offsets);
}

flatbuffers::Offset<schemas::Owner> CreateOwner(Builder& builder,
                                                const std::optional<OwnerState>& owner) {
  if (!owner.has_value()) {
    return 0;
  }
  const auto id = builder.CreateString(owner->id);
  const auto kind = builder.CreateString(owner->kind);
  const auto href = builder.CreateString(owner->href);
  return schemas::CreateOwner(builder, id, kind, href);
}

flatbuffers::Offset<schemas::Deletion> CreateDeletion(
    Builder& builder, const std::optional<DeletionState>& deletion) {
  if (!deletion.has_value()) {
    return 0;
  }
  const auto by = builder.CreateString(deletion->by);
  return schemas::CreateDeletion(builder, deletion->time.micros, by);
}

std::map<std::string, std::string> PairsOf(const PairList* pairs) {
  std::map<std::string, std::string> result;
  if (pairs != nullptr) {
    for (const schemas::KeyValue* pair : *pairs) {
      result[TextOf(pair->key())] = TextOf(pair->value());
    }
  }
  return result;
}

}  // namespace

std::vector<ReferenceState> ReferencesOf(const schemas::Resource& resource) {
  std::vector<ReferenceState> references;
  if (const ReferenceList* list = resource.references()) {
    references.reserve(list->size());
    for (const schemas::Reference* reference : *list) {
      references.push_back({TextOf(reference->ref_type()), TextOf(reference->target_id()),
                            TextOf(reference->target_kind())});
    }
  }
  return references;
}

ResourceState StateOf(const schemas::Resource& resource) {
  ResourceState state;
  state.id = TextOf(resource.id());
  state.kind = TextOf(resource.kind());
  state.name = TextOf(resource.name());
  state.href = TextOf(resource.href());
  if (const schemas::Owner* owner = resource.owner()) {
    state.owner = OwnerState{TextOf(owner->id()), TextOf(owner->kind()), TextOf(owner->href())};
  }
  state.spec = TextOf(resource.spec());
  state.labels = PairsOf(resource.labels());
  state.tenancy = PairsOf(resource.tenancy());
  state.references = ReferencesOf(resource);
  state.generation = resource.generation();
  state.created_time = {resource.created_time()};
  state.created_by = TextOf(resource.created_by());
  state.updated_time = {resource.updated_time()};
  state.updated_by = TextOf(resource.updated_by());
  if (const schemas::Deletion* deletion = resource.deletion()) {
    state.deletion = DeletionState{{deletion->time()}, TextOf(deletion->by())};
  }
  return state;
}

std::string EncodeResource(const ResourceState& state) {
  Builder builder(RecordSizeBound(state.spec, state.labels, state.references) - kFixedBytes / 2);
  const auto deletion = CreateDeletion(builder, state.deletion);
  const auto updated_by = builder.CreateString(state.updated_by);
  const auto created_by = builder.CreateString(state.created_by);
  const auto references = CreateReferences(builder, state.references);
  const auto tenancy = CreatePairs(builder, state.tenancy);
  const auto labels = CreatePairs(builder, state.labels);
  const auto spec = builder.CreateString(state.spec);
  const auto owner = CreateOwner(builder, state.owner);
  const auto href = builder.CreateString(state.href);
  const auto name = builder.CreateString(state.name);
  const auto kind = builder.CreateString(state.kind);
  const auto id = builder.CreateString(state.id);
  schemas::ResourceBuilder resource(builder);
  resource.add_id(id);
  resource.add_kind(kind);
  resource.add_name(name);
  resource.add_href(href);
  resource.add_owner(owner);
  resource.add_spec(spec);
  resource.add_labels(labels);
  resource.add_tenancy(tenancy);
  resource.add_references(references);
  resource.add_generation(state.generation);
  resource.add_created_time(state.created_time.micros);
  resource.add_created_by(created_by);
  resource.add_updated_time(state.updated_time.micros);
  resource.add_updated_by(updated_by);
  resource.add_deletion(deletion);
  return schemas::Encode(builder, resource.Finish());
}

std::string EncodeTombstone(const TombstoneState& state) {
  Builder builder;
  const auto reason = state.reason.empty() ? flatbuffers::Offset<flatbuffers::String>()
                                           : builder.CreateString(state.reason);
  const auto by = builder.CreateString(state.by);
  const auto id = builder.CreateString(state.id);
  return schemas::Encode(builder,
                         schemas::CreateResourceTombstone(builder, id, state.cause, by, reason));
}

const schemas::Resource& ResourceIn(std::string_view payload) {
  const auto* body = schemas::GetEnvelope(payload.data())->body();
  return *flatbuffers::GetRoot<schemas::Resource>(body->data());
}

std::size_t RecordSizeBound(std::string_view spec, const Labels& labels,
                            const std::vector<ReferenceState>& references) {
  std::size_t bytes = kFixedBytes + spec.size();
  for (const auto& [key, value] : labels) {
    bytes += key.size() + value.size() + kBytesPerLabel;
  }
  for (const ReferenceState& reference : references) {
    bytes += reference.ref_type.size() + reference.target_id.size() + reference.target_kind.size() +
             kBytesPerReference;
  }
  return bytes;
}

}  // namespace projections
