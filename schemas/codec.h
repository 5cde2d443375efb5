// Codec: from a table to the bytes of a record and back.
//
// A record's payload is an Envelope (schemas/envelope.fbs): a tag, the flag `skippable`, and the
// body, a FlatBuffers buffer of its own whose root table the tag names. Everything is verified on
// every decode, envelope and body, so that whatever bytes come out of a store, a view that was
// handed out can be read without further checks. Bytes: docs/formats/records.md.
//
// To add a record type: a tag in envelope.fbs, a .fbs file named in meson.build, one line in
// kTagOf below and one in kRecordTypes of codec.cc.
//
// Thread-safe; never blocks.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <flatbuffers/flatbuffers.h>

#include "engine/base/payload.h"
#include "schemas/envelope_generated.h"

namespace schemas {

struct AdapterReport;
struct Document;
struct DocumentTombstone;
struct Kill;
struct Resource;
struct ResourceStatus;
struct ResourceTombstone;
struct StatusTombstone;

template <class Table>
inline constexpr Tag kTagOf = Tag::kInvalid;
template <>
inline constexpr Tag kTagOf<Kill> = Tag::kKill;
template <>
inline constexpr Tag kTagOf<Resource> = Tag::kResource;
template <>
inline constexpr Tag kTagOf<ResourceTombstone> = Tag::kResourceTombstone;
template <>
inline constexpr Tag kTagOf<Document> = Tag::kDocument;
template <>
inline constexpr Tag kTagOf<DocumentTombstone> = Tag::kDocumentTombstone;
template <>
inline constexpr Tag kTagOf<AdapterReport> = Tag::kAdapterReport;
template <>
inline constexpr Tag kTagOf<ResourceStatus> = Tag::kResourceStatus;
template <>
inline constexpr Tag kTagOf<StatusTombstone> = Tag::kStatusTombstone;

// Whether readers that do not know the record's type may leave it out of their state.
enum class Skippable : bool { kNo = false, kYes = true };

// The payload of a record with the finished buffer `body`. REQUIRES: `tag` is not kInvalid, and
// the body is a buffer of its table.
std::string EncodeBody(Tag tag, std::string_view body, Skippable skippable);

// Finishes `body` with `root` and wraps it up:
//
//   flatbuffers::FlatBufferBuilder body;
//   const auto name = body.CreateString("exp");
//   ...
//   std::string payload = Encode(body, CreateKill(body, name, KillState::kKilled, by));
template <class Table>
std::string Encode(flatbuffers::FlatBufferBuilder& body, flatbuffers::Offset<Table> root,
                   Skippable skippable = Skippable::kNo) {
  static_assert(kTagOf<Table> != Tag::kInvalid, "give the table a tag");
  body.Finish(root);
  return EncodeBody(kTagOf<Table>,
                    {reinterpret_cast<const char*>(body.GetBufferPointer()), body.GetSize()},
                    skippable);
}

// A verified record. Points into the payload it was decoded from: keep that alive.
class RecordView {
 public:
  Tag tag() const { return tag_; }
  bool skippable() const { return skippable_; }
  // Whether this binary knows the tag. The body of an unknown record is not verified.
  bool known() const { return known_; }
  std::string_view body() const { return body_; }

  // The body as its table; null when the record is of another type.
  template <class Table>
  const Table* As() const {
    static_assert(kTagOf<Table> != Tag::kInvalid, "give the table a tag");
    return tag_ == kTagOf<Table>
               ? flatbuffers::GetRoot<Table>(reinterpret_cast<const std::uint8_t*>(body_.data()))
               : nullptr;
  }

 private:
  friend absl::StatusOr<RecordView> Decode(const engine::Payload& payload);

  Tag tag_ = Tag::kInvalid;
  bool skippable_ = false;
  bool known_ = false;
  std::string_view body_;
};

// Verifies a payload: envelope and body, alignment, required fields. A record of an unknown type
// comes out with known() false if it is skippable: carry it, count it, do not apply it.
//
// Fails with kDataLoss when the bytes are no such record, or of an unknown type that may not be
// skipped.
absl::StatusOr<RecordView> Decode(const engine::Payload& payload);

// The table of a record that has to be of this type; points into `payload`.
// Fails with kDataLoss, as Decode does and when it is of another type.
template <class Table>
absl::StatusOr<const Table*> DecodeAs(const engine::Payload& payload) {
  absl::StatusOr<RecordView> record = Decode(payload);
  if (!record.ok()) {
    return std::move(record).status();
  }
  const Table* table = record->As<Table>();
  if (table == nullptr) {
    return absl::DataLossError("the record is of another type");
  }
  return table;
}

// For a projection that met a record it does not fold: kDataLoss unless that one is skippable.
absl::Status RefuseUnlessSkippable(const RecordView& record);

// The name of a tag's record type, as tools show it (`kill`); empty when unknown.
std::string_view TypeName(Tag tag);

// Text out of a table that may lack it.
inline std::string_view Text(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

}  // namespace schemas
