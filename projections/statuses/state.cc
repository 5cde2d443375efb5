#include "projections/statuses/state.h"

#include <algorithm>
#include <array>

#include "schemas/codec.h"

namespace projections {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using schemas::ConditionStatus;

std::string TextOf(const flatbuffers::String* text) {
  return std::string(schemas::Text(text));
}

flatbuffers::Offset<flatbuffers::String> CreateText(Builder& builder, std::string_view text) {
  return text.empty() ? flatbuffers::Offset<flatbuffers::String>()
                      : builder.CreateString(text.data(), text.size());
}

flatbuffers::Offset<schemas::ResourceCondition> CreateCondition(Builder& builder,
                                                                const ConditionState& state) {
  const auto type = builder.CreateString(state.type);
  const auto reason = CreateText(builder, state.reason);
  const auto message = CreateText(builder, state.message);
  return schemas::CreateResourceCondition(
      builder, type, state.status, reason, message, state.observed_generation,
      state.created_time.micros, state.last_updated_time.micros, state.last_transition_time.micros);
}

flatbuffers::Offset<schemas::ReportedCondition> CreateReported(
    Builder& builder, const ReportedConditionState& state) {
  const auto type = builder.CreateString(state.type);
  const auto reason = CreateText(builder, state.reason);
  const auto message = CreateText(builder, state.message);
  return schemas::CreateReportedCondition(builder, type, state.status, reason, message,
                                          state.last_transition_time.micros);
}

template <typename Table>
const Table& TableIn(std::string_view payload) {
  return *flatbuffers::GetRoot<Table>(schemas::GetEnvelope(payload.data())->body()->data());
}

struct NamedStatus {
  ConditionStatus status;
  std::string_view name;
};
constexpr std::array<NamedStatus, 3> kStatusNames = {{{ConditionStatus::kTrue, "True"},
                                                      {ConditionStatus::kFalse, "False"},
                                                      {ConditionStatus::kUnknown, "Unknown"}}};

}  // namespace

ConditionState StateOf(const schemas::ResourceCondition& condition) {
  return {.type = TextOf(condition.type()),
          .status = condition.status(),
          .reason = TextOf(condition.reason()),
          .message = TextOf(condition.message()),
          .observed_generation = condition.observed_generation(),
          .created_time = {condition.created_time()},
          .last_updated_time = {condition.last_updated_time()},
          .last_transition_time = {condition.last_transition_time()}};
}

ConditionStates StateOf(const schemas::ResourceStatus& status) {
  ConditionStates states;
  states.reserve(status.conditions()->size());
  for (const schemas::ResourceCondition* condition : *status.conditions()) {
    states.push_back(StateOf(*condition));
  }
  return states;
}

ReportState StateOf(const schemas::AdapterReport& report) {
  ReportState state;
  state.resource_id = TextOf(report.resource_id());
  state.adapter = TextOf(report.adapter());
  state.observed_generation = report.observed_generation();
  for (const schemas::ReportedCondition* condition : *report.conditions()) {
    state.conditions.push_back({.type = TextOf(condition->type()),
                                .status = condition->status(),
                                .reason = TextOf(condition->reason()),
                                .message = TextOf(condition->message()),
                                .last_transition_time = {condition->last_transition_time()}});
  }
  state.data = TextOf(report.data());
  state.metadata = TextOf(report.metadata());
  state.created_time = {report.created_time()};
  state.last_report_time = {report.last_report_time()};
  return state;
}

std::string EncodeStatus(std::string_view resource_id, const ConditionStates& conditions) {
  Builder builder;
  std::vector<flatbuffers::Offset<schemas::ResourceCondition>> offsets;
  offsets.reserve(conditions.size());
  for (const ConditionState& condition : conditions) {
    offsets.push_back(CreateCondition(builder, condition));
  }
  const auto list = builder.CreateVector(offsets);
  const auto id = builder.CreateString(resource_id.data(), resource_id.size());
  return schemas::Encode(builder, schemas::CreateResourceStatus(builder, id, list));
}

std::string EncodeReport(const ReportState& state) {
  Builder builder(state.data.size() + state.metadata.size() + 1024);
  std::vector<flatbuffers::Offset<schemas::ReportedCondition>> offsets;
  offsets.reserve(state.conditions.size());
  for (const ReportedConditionState& condition : state.conditions) {
    offsets.push_back(CreateReported(builder, condition));
  }
  const auto metadata = CreateText(builder, state.metadata);
  const auto data = builder.CreateString(state.data);
  const auto list = builder.CreateVector(offsets);
  const auto adapter = builder.CreateString(state.adapter);
  const auto id = builder.CreateString(state.resource_id);
  return schemas::Encode(
      builder, schemas::CreateAdapterReport(builder, id, adapter, state.observed_generation, list,
                                            data, metadata, state.created_time.micros,
                                            state.last_report_time.micros));
}

std::string EncodeStatusTombstone(std::string_view resource_id, std::string_view adapter) {
  Builder builder;
  const auto adapter_at = CreateText(builder, adapter);
  const auto id = builder.CreateString(resource_id.data(), resource_id.size());
  return schemas::Encode(builder, schemas::CreateStatusTombstone(builder, id, adapter_at));
}

const schemas::ResourceStatus& StatusIn(std::string_view payload) {
  return TableIn<schemas::ResourceStatus>(payload);
}

const schemas::AdapterReport& ReportIn(std::string_view payload) {
  return TableIn<schemas::AdapterReport>(payload);
}

std::string_view StatusName(ConditionStatus status) {
  for (const NamedStatus& named : kStatusNames) {
    if (named.status == status) {
      return named.name;
    }
  }
  return {};
}

std::string CutText(std::string_view text, std::size_t max_bytes) {
  std::size_t end = std::min(text.size(), max_bytes);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return std::string(text.substr(0, end));
}

ConditionStatus FindStatus(std::string_view name) {
  for (const NamedStatus& named : kStatusNames) {
    if (named.name == name) {
      return named.status;
    }
  }
  return ConditionStatus::kInvalid;
}

}  // namespace projections
