#include "projections/resources/document.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/clock.h"
#include "engine/base/logging.h"
#include "schemas/codec.h"

namespace projections {
namespace {

using PairList = flatbuffers::Vector<flatbuffers::Offset<schemas::KeyValue>>;
using engine::Timestamp;

// Appends members, with the comma between them. `name` needs no escaping.
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }

  std::string& Member(std::string_view name) {
    if (out_.back() != '{') {
      out_ += ',';
    }
    out_ += '"';
    out_ += name;
    out_ += "\":";
    return out_;
  }
  void Text(std::string_view name, std::string_view value) {
    engine::AppendJsonString(value, Member(name));
  }
  void Text(std::string_view name, const flatbuffers::String* value) {
    Text(name, schemas::Text(value));
  }
  void Time(std::string_view name, Timestamp time) { Text(name, engine::FormatTimestamp(time)); }
  void Number(std::string_view name, std::int64_t value) { Member(name) += std::to_string(value); }
  void Close() { out_ += '}'; }

 private:
  std::string& out_;
};

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
  Object object(out);
  object.Text("id", owner.id());
  object.Text("kind", owner.kind());
  object.Text("href", owner.href());
  object.Close();
}

void AppendReference(const schemas::Reference& reference, const Registry& registry,
                     std::string& out) {
  Object object(out);
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

struct Condition {
  std::string_view type;
  std::string_view reason;
  std::string message;
  std::int32_t observed_generation;
  Timestamp created;
  Timestamp last_updated;
};

void AppendCondition(const Condition& condition, std::string& out) {
  Object object(out);
  object.Text("type", condition.type);
  object.Text("status", std::string_view("False"));
  object.Text("reason", condition.reason);
  object.Text("message", std::string_view(condition.message));
  object.Number("observed_generation", condition.observed_generation);
  object.Time("created_time", condition.created);
  object.Time("last_updated_time", condition.last_updated);
  object.Time("last_transition_time", condition.created);
  object.Close();
}

std::string MissingMessage(std::vector<std::string> adapters) {
  std::ranges::sort(adapters);
  std::string message = "Waiting for adapters to report: ";
  for (const std::string& adapter : adapters) {
    if (adapter != adapters.front()) {
      message += ", ";
    }
    message += adapter;
  }
  return message;
}

// As they are while no adapter has reported: not reconciled since the resource was made. What has
// to be reported again after each change is the generation, so Reconciled is as new as that.
void AppendConditions(const schemas::Resource& resource, const Registry& registry,
                      std::string& out) {
  out += '[';
  const EntityDescriptor* descriptor = registry.FindKind(schemas::Text(resource.kind()));
  if (descriptor != nullptr && !descriptor->required_adapters.empty()) {
    const std::string message = MissingMessage(descriptor->required_adapters);
    const Timestamp created{resource.created_time()};
    AppendCondition({.type = "Reconciled",
                     .reason = "ReconciledMissingAdapters",
                     .message = message,
                     .observed_generation = resource.generation(),
                     .created = created,
                     .last_updated = {resource.updated_time()}},
                    out);
    out += ',';
    AppendCondition({.type = "LastKnownReconciled",
                     .reason = "AdaptersMissingReports",
                     .message = message,
                     .observed_generation = 1,
                     .created = created,
                     .last_updated = created},
                    out);
  }
  out += ']';
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
void AppendMembers(const schemas::Resource& resource, const Registry& registry, Object& object) {
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
  Object object(out);
  AppendMembers(resource, registry, object);
  object.Close();
}

void AppendResourceDocument(const schemas::Resource& resource, const Registry& registry,
                            std::string& out) {
  Object object(out);
  AppendMembers(resource, registry, object);
  object.Member("status") += "{\"conditions\":";
  AppendConditions(resource, registry, out);
  out += '}';
  object.Close();
}

}  // namespace projections
