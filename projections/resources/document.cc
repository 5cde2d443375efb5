#include "projections/resources/document.h"

#include "engine/base/logging.h"
#include "projections/json_object.h"
#include "projections/statuses/document.h"
#include "schemas/codec.h"

namespace projections {
namespace {

using PairList = flatbuffers::Vector<flatbuffers::Offset<schemas::KeyValue>>;

bool IsEmpty(const PairList* pairs) {
  return pairs == nullptr || pairs->size() == 0;
}

void AppendPairs(const PairList* pairs, std::string& out) {
  out += '{';
  if (pairs != nullptr) {
    for (const schemas::KeyValue* pair : *pairs) {
      if (out.back() != '{') {
        out += ',';
      }
      engine::AppendJsonString(schemas::Text(pair->key()), out);
      out += ':';
      engine::AppendJsonString(schemas::Text(pair->value()), out);
    }
  }
  out += '}';
}

void AppendOwner(const schemas::Owner& owner, std::string& out) {
  JsonObject object(out);
  object.Text("id", owner.id());
  object.Text("kind", owner.kind());
  object.Text("href", owner.href());
  object.Close();
}

void AppendReference(const schemas::Reference& reference, const Registry& registry,
                     std::string& out) {
  JsonObject object(out);
  object.Text("id", reference.target_id());
  object.Text("kind", reference.target_kind());
  if (const auto* target = registry.FindKind(schemas::Text(reference.target_kind()))) {
    object.Text("href", ResourceHref({}, target->plural, schemas::Text(reference.target_id())));
  }
  object.Close();
}

// References are sorted by type, so each type is one run of them.
void AppendReferences(const schemas::Resource& resource, const Registry& registry,
                      std::string& out) {
  out += '{';
  std::string_view type;
  for (const schemas::Reference* reference : *resource.references()) {
    const std::string_view next = schemas::Text(reference->ref_type());
    if (next == type) {
      out += ',';
    } else {
      out += type.empty() ? "" : "],";
      engine::AppendJsonString(next, out);
      out += ":[";
      type = next;
    }
    AppendReference(*reference, registry, out);
  }
  out += "]}";
}

}  // namespace

std::string ResourceHref(std::string_view owner_href, std::string_view plural,
                         std::string_view id) {
  std::string href(owner_href.empty() ? kResourcesBase : owner_href);
  if (!owner_href.empty()) {
    href += '/';
  }
  href += plural;
  href += '/';
  href += id;
  return href;
}

namespace {

// All but the status.
void AppendMembers(const schemas::Resource& resource, const Registry& registry,
                   JsonObject& object) {
  object.Text("id", resource.id());
  object.Text("kind", resource.kind());
  object.Text("name", resource.name());
  object.Text("href", resource.href());
  object.Member("spec") += schemas::Text(resource.spec());
  if (!IsEmpty(resource.labels())) {
    AppendPairs(resource.labels(), object.Member("labels"));
  }
  AppendPairs(resource.tenancy(), object.Member("tenancy"));
  object.Number("generation", resource.generation());
  if (const schemas::Owner* owner = resource.owner()) {
    AppendOwner(*owner, object.Member("owner_references"));
  }
  if (resource.references() != nullptr && resource.references()->size() > 0) {
    AppendReferences(resource, registry, object.Member("references"));
  }
  object.Time("created_time", {resource.created_time()});
  object.Text("created_by", resource.created_by());
  object.Time("updated_time", {resource.updated_time()});
  object.Text("updated_by", resource.updated_by());
  if (const schemas::Deletion* deletion = resource.deletion()) {
    object.Time("deleted_time", {deletion->time()});
    object.Text("deleted_by", deletion->by());
  }
}

}  // namespace

void AppendResourceState(const schemas::Resource& resource, const Registry& registry,
                         std::string& out) {
  JsonObject object(out);
  AppendMembers(resource, registry, object);
  object.Close();
}

void AppendResourceDocument(const schemas::Resource& resource,
                            const schemas::ResourceStatus* status, const Registry& registry,
                            std::string& out) {
  // Most of a document is its spec; the rest rarely needs more.
  out.reserve(out.size() + resource.spec()->size() + 1536);
  JsonObject object(out);
  AppendMembers(resource, registry, object);
  object.Member("status") += "{\"conditions\":";
  // What is recorded, as searches and gauges see it.
  if (status == nullptr) {
    out += "[]";
  } else {
    AppendConditions(*status, out);
  }
  out += '}';
  object.Close();
}

}  // namespace projections
