#include "api/cli/state_json.h"

#include <absl/strings/str_format.h>

#include "engine/base/logging.h"
#include "projections/audit.h"
#include "projections/kill_list.h"
#include "projections/registry.h"
#include "projections/resources/document.h"
#include "projections/resources/image.h"
#include "projections/statuses/document.h"
#include "projections/statuses/image.h"

namespace api::cli {
namespace {

std::string Json(const projections::AuditTrail& trail) {
  return absl::StrFormat("{\"total\":%d,\"head\":\"%s\"}", trail.total(), trail.head());
}

std::string Json(const projections::KillList& list) {
  std::string out = absl::StrFormat("{\"version\":%d,\"killed\":[", list.version());
  const char* separator = "";
  for (const projections::KilledPtr& killed : list.killed()) {
    out += separator;
    out += "{\"experiment\":";
    engine::AppendJsonString(killed->name, out);
    out += ",\"by\":";
    engine::AppendJsonString(killed->by, out);
    out += ",\"reason\":";
    engine::AppendJsonString(killed->reason, out);
    out += ",\"at\":\"" + engine::FormatTimestamp(killed->at) + "\"}";
    separator = ",";
  }
  return out + "]}";
}

std::string Json(const projections::ResourcesImage& image) {
  const projections::Registry registry = projections::Registry::Stock();
  std::string out = "[";
  const char* separator = "";
  for (const projections::ResourceEntry* entry : image) {
    out += separator;
    projections::AppendResourceState(entry->table(), registry, out);
    separator = ",";
  }
  return out + "]";
}

std::string Json(const projections::StatusesImage& image) {
  std::string out = "{\"conditions\":[";
  const char* separator = "{\"resource_id\":";
  for (const projections::StatusEntry* entry : image.AllConditions()) {
    out += separator;
    engine::AppendJsonString(entry->resource_id(), out);
    out += ",\"conditions\":";
    projections::AppendConditions(entry->table(), out);
    out += "}";
    separator = ",{\"resource_id\":";
  }
  out += "],\"reports\":[";
  separator = "{\"resource_id\":";
  for (const projections::ReportEntry* entry : image.AllReports()) {
    out += separator;
    engine::AppendJsonString(entry->resource_id(), out);
    out += ",\"report\":";
    projections::AppendReportDocument(entry->table(), out);
    out += "}";
    separator = ",{\"resource_id\":";
  }
  return out + "]}";
}

}  // namespace

std::string StateJson(const engine::StreamView& stream) {
  if (const auto* trail = dynamic_cast<const projections::AuditTrail*>(stream.image.get())) {
    return Json(*trail);
  }
  if (const auto* list = dynamic_cast<const projections::KillList*>(stream.image.get())) {
    return Json(*list);
  }
  if (const auto* image = dynamic_cast<const projections::ResourcesImage*>(stream.image.get())) {
    return Json(*image);
  }
  if (const auto* image = dynamic_cast<const projections::StatusesImage*>(stream.image.get())) {
    return Json(*image);
  }
  return "null";
}

}  // namespace api::cli
