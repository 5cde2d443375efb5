#include "api/feed/watch_event.h"

#include <algorithm>
#include <string_view>

#include <absl/status/statusor.h>

#include "api/json/writer.h"
#include "api/resources/change_text.h"
#include "engine/base/clock.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "projections/resources/image.h"
#include "schemas/json.h"
#include "schemas/streams.h"

namespace api {
namespace {

std::string_view NameOf(const engine::Catalogue& catalogue, engine::StreamId stream) {
  const auto spec = std::ranges::find(catalogue, stream, &engine::StreamSpec::id);
  return spec == catalogue.end() ? std::string_view() : spec->name;
}

// The members that are about the record itself; each begins with its comma.
absl::StatusOr<std::string> MembersOf(const engine::Record& record,
                                      const projections::Registry& registry) {
  std::string object;
  if (record.stream == schemas::kResourcesStream) {
    JsonWriter json(object);
    json.BeginObject();
    RETURN_IF_ERROR(WriteChange(record, registry, json));
    json.EndObject();
  } else {
    ASSIGN_OR_RETURN(object, schemas::RecordJson(record.stream, record.payload));
  }
  object.front() = ',';
  object.pop_back();
  return object;
}

}  // namespace

bool IsSeenBy(const projections::TenantScope& tenant, const engine::Record& record,
              const engine::Payload& before, const engine::View& view) {
  if (record.stream == schemas::kStatusesStream) {
    const std::string_view key(record.key);
    const auto image = engine::ImageIn<projections::ResourcesImage>(view);
    const projections::ResourceEntry* entry =
        image.ok() ? (*image)->Find(key.substr(0, key.find('/'))) : nullptr;
    return GUARD("watch.tenant-status", entry != nullptr && tenant.Sees(*entry));
  }
  if (record.stream != schemas::kResourcesStream) {
    return true;
  }
  const bool is_gone = (record.flags & engine::kTombstone) != 0;
  const auto state = StateIn(is_gone ? before : record.payload);
  return GUARD("watch.tenant", state.ok() && *state != nullptr && tenant.Sees(**state));
}

void AppendPlace(const engine::Record& record, std::string& out) {
  out += "\"position\":" + std::to_string(engine::Raw(record.position));
  out += ",\"tx\":" + std::to_string(engine::Raw(record.tx)) + ",";
}

std::string EventText(const engine::Record& record, const engine::Catalogue& catalogue,
                      const projections::Registry& registry) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  json.Key("stream").String(NameOf(catalogue, record.stream));
  json.Key("time").String(engine::FormatTimestamp(record.at));
  if (!record.key.empty()) {
    json.Key("key").String(record.key);
  }
  json.EndObject();
  text = text.substr(1, text.size() - 2);
  const absl::StatusOr<std::string> members = MembersOf(record, registry);
  if (members.ok()) {
    return text + *members;
  }
  engine::Log(engine::Severity::kError, "a record cannot be shown",
              {{"stream", engine::Raw(record.stream)},
               {"position", engine::Raw(record.position)},
               {"reason", members.status().ToString()}});
  return text + ",\"error\":\"the record cannot be shown\"";
}

}  // namespace api
