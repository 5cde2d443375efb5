#include "api/resources/change_text.h"

#include <string>
#include <string_view>

#include "engine/base/status_macros.h"
#include "projections/resources/document.h"
#include "schemas/codec.h"

namespace api {
namespace {

// A record is written by a create, a patch or a delete; which one, it shows.
std::string_view ActionOf(const engine::Record& record, const schemas::Resource& state) {
  if (state.deletion() != nullptr) {
    return "delete";
  }
  return record.previous == engine::Position::kBeforeFirst ? "create" : "patch";
}

std::string_view CauseName(schemas::RemovalCause cause) {
  switch (cause) {
    case schemas::RemovalCause::kCascaded:
      return "cascaded";
    case schemas::RemovalCause::kForced:
      return "forced";
    case schemas::RemovalCause::kFinalized:
      return "finalized";
    default:
      return "deleted";
  }
}

void WriteState(const engine::Record& record, const schemas::Resource& state,
                const projections::Registry& registry, JsonWriter& json) {
  const schemas::Deletion* deletion = state.deletion();
  json.Key("actor").String(
      schemas::Text(deletion != nullptr ? deletion->by() : state.updated_by()));
  json.Key("action").String(ActionOf(record, state));
  json.Key("generation").Int(state.generation());
  std::string document;
  projections::AppendResourceState(state, registry, document);
  json.Key("resource").Raw(document);
}

void WriteRemoval(const schemas::ResourceTombstone& tombstone, JsonWriter& json) {
  json.Key("actor").String(schemas::Text(tombstone.by()));
  json.Key("action").String("remove");
  json.Key("removal").BeginObject();
  json.Key("cause").String(CauseName(tombstone.cause()));
  if (const std::string_view reason = schemas::Text(tombstone.reason()); !reason.empty()) {
    json.Key("reason").String(reason);
  }
  json.EndObject();
}

absl::Status WrongType() {
  return absl::DataLossError("a record of the stream resources is of another type");
}

}  // namespace

absl::Status WriteChange(const engine::Record& record, const projections::Registry& registry,
                         JsonWriter& json) {
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(record.payload));
  if (const auto* state = view.As<schemas::Resource>()) {
    WriteState(record, *state, registry, json);
  } else if (const auto* tombstone = view.As<schemas::ResourceTombstone>()) {
    WriteRemoval(*tombstone, json);
  } else {
    return WrongType();
  }
  return absl::OkStatus();
}

absl::StatusOr<const schemas::Resource*> StateIn(const engine::Payload& payload) {
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(payload));
  const auto* state = view.As<schemas::Resource>();
  if (state == nullptr && view.As<schemas::ResourceTombstone>() == nullptr) {
    return WrongType();
  }
  return state;
}

}  // namespace api
