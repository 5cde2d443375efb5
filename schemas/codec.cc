#include "schemas/codec.h"

#include <algorithm>
#include <array>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/journal.h"
#include "schemas/document_generated.h"
#include "schemas/killswitch_generated.h"
#include "schemas/resource_generated.h"
#include "schemas/status_generated.h"

namespace schemas {
namespace {

constexpr std::size_t kAlignment = 8;

// Bounds on hostile nesting; far above what our tables need.
constexpr flatbuffers::uoffset_t kMaxDepth = 16;
constexpr flatbuffers::uoffset_t kMaxTables = 1 << 16;

template <class Table>
bool Verify(std::string_view bytes, const char* identifier) {
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
                                 kMaxDepth, kMaxTables);
  return verifier.VerifyBuffer<Table>(identifier);
}

template <class Table>
bool VerifyBody(std::string_view bytes) {
  return Verify<Table>(bytes, nullptr);
}

struct RecordType {
  Tag tag;
  std::string_view name;
  bool (*verify)(std::string_view body);
};

constexpr std::array kRecordTypes = {
    RecordType{Tag::kKill, "kill", VerifyBody<Kill>},
    RecordType{Tag::kResource, "resource", VerifyBody<Resource>},
    RecordType{Tag::kResourceTombstone, "resource tombstone", VerifyBody<ResourceTombstone>},
    RecordType{Tag::kDocument, "document", VerifyBody<Document>},
    RecordType{Tag::kDocumentTombstone, "document tombstone", VerifyBody<DocumentTombstone>},
    RecordType{Tag::kAdapterReport, "adapter report", VerifyBody<AdapterReport>},
    RecordType{Tag::kResourceStatus, "resource status", VerifyBody<ResourceStatus>},
    RecordType{Tag::kStatusTombstone, "status tombstone", VerifyBody<StatusTombstone>},
};

const RecordType* FindType(Tag tag) {
  const auto* found = std::ranges::find(kRecordTypes, tag, &RecordType::tag);
  return found == kRecordTypes.end() ? nullptr : found;
}

// The verifier judges alignment by distances from the start of the buffer only.
bool IsAligned(std::string_view bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment == 0;
}

absl::Status UnknownType(Tag tag) {
  return absl::DataLossError(
      absl::StrFormat("record type %d is unknown and may not be skipped", static_cast<int>(tag)));
}

}  // namespace

std::string EncodeBody(Tag tag, std::string_view body, Skippable skippable) {
  ENGINE_CHECK(tag != Tag::kInvalid);
  flatbuffers::FlatBufferBuilder builder(body.size() + 64);
  builder.ForceVectorAlignment(body.size(), sizeof(std::uint8_t), kAlignment);
  const auto bytes =
      builder.CreateVector(reinterpret_cast<const std::uint8_t*>(body.data()), body.size());
  FinishEnvelopeBuffer(builder, CreateEnvelope(builder, tag, skippable == Skippable::kYes, bytes));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

absl::StatusOr<RecordView> Decode(const engine::Payload& payload) {
  const std::string_view bytes = payload.view();
  if (bytes.size() > engine::kMaxRecordBytes) {
    return absl::DataLossError("the record is larger than any record may be");
  }
  if (!GUARD("schemas.envelope", Verify<Envelope>(bytes, EnvelopeIdentifier()))) {
    return absl::DataLossError("the record is no valid envelope");
  }
  const Envelope* envelope = GetEnvelope(bytes.data());
  RecordView record;
  record.tag_ = envelope->tag();
  record.skippable_ = envelope->skippable();
  record.body_ = {reinterpret_cast<const char*>(envelope->body()->data()),
                  envelope->body()->size()};
  if (record.tag_ == Tag::kInvalid) {
    return absl::DataLossError("the record has no type");
  }
  const RecordType* type = FindType(record.tag_);
  if (type == nullptr) {
    RETURN_IF_ERROR(RefuseUnlessSkippable(record));
    return record;
  }
  if (!GUARD("schemas.aligned", IsAligned(record.body_))) {
    return absl::DataLossError("the record's body is not aligned");
  }
  if (!GUARD("schemas.body", type->verify(record.body_))) {
    return absl::DataLossError(absl::StrFormat("the record is no valid %s", type->name));
  }
  record.known_ = true;
  return record;
}

absl::Status RefuseUnlessSkippable(const RecordView& record) {
  if (!GUARD("schemas.unknown", record.skippable())) {
    return UnknownType(record.tag());
  }
  return absl::OkStatus();
}

std::string_view TypeName(Tag tag) {
  const RecordType* type = FindType(tag);
  return type == nullptr ? std::string_view() : type->name;
}

}  // namespace schemas
