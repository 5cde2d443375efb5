// Requests, kinds and short looks at answers that the tests of the rules share.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "projections/resources/rules.h"
#include "tests/projections/resources/store.h"

namespace projections {

inline EntityDescriptor Kind(std::string kind, std::string plural, std::string parent,
                             OnParentDelete policy, std::vector<std::string> adapters = {}) {
  EntityDescriptor entity;
  entity.kind = std::move(kind);
  entity.plural = std::move(plural);
  entity.parent_kind = std::move(parent);
  entity.on_parent_delete = policy;
  entity.required_adapters = std::move(adapters);
  return entity;
}

// Three levels: everything below Top cascades; what is below Middle restricts, cascades, or has to
// be finalized.
inline Registry ThreeLevels() {
  return *Registry::Create({Kind("Top", "tops", "", OnParentDelete::kUnset),
                            Kind("Middle", "middles", "Top", OnParentDelete::kCascade),
                            Kind("Lock", "locks", "Middle", OnParentDelete::kRestrict),
                            Kind("Leaf", "leaves", "Middle", OnParentDelete::kCascade),
                            Kind("Slow", "slows", "Middle", OnParentDelete::kCascade, {"x"})});
}

inline CreateRequest Creation(TestStore& store, std::string kind, std::string name,
                              std::string parent_id = {}) {
  return {.id = store.NextId(),
          .kind = std::move(kind),
          .name = std::move(name),
          .parent_id = std::move(parent_id),
          .spec = R"({"a":1})",
          .labels = {{"team", "x"}},
          .tenancy = {},
          .actor = "alice"};
}

// RefSource needs one `dep`, OptSource may have any number of `link`s; both are to RefTargets,
// which own Parts and are themselves owned by nobody.
inline Registry WithReferences() {
  EntityDescriptor needs = Kind("RefSource", "refsources", "", OnParentDelete::kUnset);
  needs.references = {{"dep", "RefTarget", 1, 1}};
  EntityDescriptor may = Kind("OptSource", "optsources", "", OnParentDelete::kUnset);
  may.references = {{"link", "RefTarget", 0, 0}, {"self", "OptSource", 0, 0}, {"part", "Part"}};
  EntityDescriptor part = Kind("Part", "parts", "RefTarget", OnParentDelete::kCascade);
  part.references = {{"sibling", "Part", 0, 0}};
  return *Registry::Create(
      {Kind("RefTarget", "reftargets", "", OnParentDelete::kUnset), needs, may, part});
}

inline RequestedReferences To(const std::string& type, const std::string& kind,
                              const std::vector<std::string>& ids) {
  RequestedReferences references;
  for (const std::string& id : ids) {
    references[type].push_back({id, kind});
  }
  return references;
}

inline PatchRequest PatchReferences(std::string id, RequestedReferences references) {
  return {{std::move(id), {}, {}}, {}, {}, {}, "bob", std::move(references)};
}

inline PatchRequest Patch(std::string id, std::optional<std::string> spec,
                          std::optional<Labels> labels = {}) {
  return {{std::move(id), {}, {}}, {}, std::move(spec), std::move(labels), "bob"};
}

// Of the resources that it changes.
inline std::vector<std::string> KeysOf(const Judgement& judgement) {
  std::vector<std::string> keys;
  for (const engine::RecordDraft& draft : judgement.proposal.records) {
    if (draft.stream == ResourcesImage::kStream) {
      keys.push_back(draft.key);
    }
  }
  return keys;
}

// What the log says about a key, newest last: `state` or the cause of a tombstone.
inline schemas::RemovalCause CauseOf(const TestStore& store, std::string_view id) {
  for (auto record = store.log().rbegin(); record != store.log().rend(); ++record) {
    if (record->key == id) {
      const auto view = schemas::Decode(record->payload);
      const auto* tombstone = view->As<schemas::ResourceTombstone>();
      return tombstone == nullptr ? schemas::RemovalCause::kInvalid : tombstone->cause();
    }
  }
  return schemas::RemovalCause::kInvalid;
}

}  // namespace projections
