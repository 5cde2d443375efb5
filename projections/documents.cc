#include "projections/documents.h"

#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/saved_text.h"
#include "schemas/codec.h"
#include "schemas/document_generated.h"

namespace projections {
namespace {

// What the digest is taken over, and what is saved.
std::string BytesOf(const Document& document) {
  std::string bytes;
  AppendText(document.id.kind, bytes);
  AppendText(document.id.name, bytes);
  AppendText(document.lease, bytes);
  engine::AppendU64(document.token, bytes);
  engine::AppendU64(engine::Raw(document.version), bytes);
  engine::AppendU64(static_cast<std::uint64_t>(document.at.micros), bytes);
  bytes += document.body;
  return bytes;
}

std::uint64_t DigestOf(const Document& document) {
  return engine::Checksum64(BytesOf(document));
}

std::optional<Document> DocumentOf(std::string_view bytes) {
  constexpr std::size_t kNumbers = 24;
  std::optional<std::string> kind = TakeText(bytes);
  std::optional<std::string> name = kind ? TakeText(bytes) : std::nullopt;
  std::optional<std::string> lease = name ? TakeText(bytes) : std::nullopt;
  if (!lease || bytes.size() < kNumbers) {
    return std::nullopt;
  }
  return Document{.id = {*std::move(kind), *std::move(name)},
                  .version = engine::Position{engine::ReadU64(bytes.substr(8))},
                  .at = {static_cast<std::int64_t>(engine::ReadU64(bytes.substr(16)))},
                  .body = std::string(bytes.substr(kNumbers)),
                  .lease = *std::move(lease),
                  .token = engine::ReadU64(bytes)};
}

template <class Table>
engine::DocumentId IdOf(const Table& table) {
  return {std::string(schemas::Text(table.kind())), std::string(schemas::Text(table.name()))};
}

absl::Status CheckKey(const engine::Record& record, const engine::DocumentId& id) {
  if (!GUARD("documents.key", record.key == engine::DocumentKey(id))) {
    return absl::DataLossError(
        absl::StrFormat("the record of document %s has another key", engine::DocumentKey(id)));
  }
  return absl::OkStatus();
}

// Refuses what is not of the version that was expected, and notes what was looked at.
absl::Status JudgeVersion(engine::StreamId stream, const DocumentsImage& image,
                          const DocumentWrite& write, engine::Footprint& footprint) {
  RETURN_IF_ERROR(engine::CheckDocumentId(write.id));
  const std::string fact =
      absl::StrFormat("document/%d/%s", engine::Raw(stream), engine::DocumentKey(write.id));
  footprint.Read(fact);
  const Document* document = image.Find(write.id);
  const engine::Position found = document == nullptr ? engine::kNoVersion : document->version;
  if (!GUARD("documents.version", found == write.expected)) {
    return engine::VersionConflictError(write.id, write.expected, found);
  }
  footprint.Write(fact);
  return absl::OkStatus();
}

engine::Proposal ProposalOf(engine::StreamId stream, const DocumentWrite& write,
                            std::uint16_t flags, std::string payload) {
  engine::Proposal proposal;
  proposal.records.push_back({.stream = stream,
                              .key = engine::DocumentKey(write.id),
                              .previous = write.expected,
                              .flags = flags,
                              .payload = std::move(payload)});
  return proposal;
}

}  // namespace

const Document* DocumentsImage::Find(const engine::DocumentId& id) const {
  const DocumentPtr* found = documents_.Find(id);
  return found == nullptr ? nullptr : found->get();
}

absl::Status DocumentsImage::Save(const engine::StatePartSink& sink) const {
  for (const DocumentPtr& document : documents_) {
    RETURN_IF_ERROR(sink(BytesOf(*document)));
  }
  return absl::OkStatus();
}

absl::Status DocumentsProjection::Apply(const engine::Record& record) {
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(record.payload));
  if (const auto* document = view.As<schemas::Document>(); document != nullptr) {
    const engine::DocumentId id = IdOf(*document);
    RETURN_IF_ERROR(CheckKey(record, id));
    const auto* body = document->body();
    Put({.id = id,
         .version = record.position,
         .at = record.at,
         .body = std::string(reinterpret_cast<const char*>(body->data()), body->size()),
         .lease = std::string(schemas::Text(document->lease())),
         .token = document->token()});
    return absl::OkStatus();
  }
  if (const auto* tombstone = view.As<schemas::DocumentTombstone>(); tombstone != nullptr) {
    const engine::DocumentId id = IdOf(*tombstone);
    RETURN_IF_ERROR(CheckKey(record, id));
    Remove(id);
    return absl::OkStatus();
  }
  // In a keyed stream even a record that may be skipped takes the place of its key's state.
  return absl::DataLossError("the record is no document");
}

void DocumentsProjection::Put(Document document) {
  Remove(document.id);
  auto entry = std::make_shared<const Document>(std::move(document));
  digest_ += DigestOf(*entry);
  documents_.Insert(std::move(entry));
}

void DocumentsProjection::Remove(const engine::DocumentId& id) {
  if (const std::optional<DocumentPtr> removed = documents_.Erase(id)) {
    digest_ -= DigestOf(**removed);
  }
}

std::shared_ptr<const engine::ProjectionImage> DocumentsProjection::Publish() {
  std::shared_ptr<DocumentsImage> image;
  if (stream_ == Documents::kStream) {
    image = std::make_shared<Documents>();
  } else {
    ENGINE_CHECK(stream_ == ControllerState::kStream);
    image = std::make_shared<ControllerState>();
  }
  image->documents_ = documents_.Snapshot();
  image->digest_ = digest_;
  return image;
}

absl::Status DocumentsProjection::Load(std::string_view part) {
  std::optional<Document> document = DocumentOf(part);
  if (!document.has_value()) {
    return absl::DataLossError("a saved document is cut off");
  }
  Put(*std::move(document));
  return absl::OkStatus();
}

void DocumentsProjection::Reset() {
  documents_.Clear();
  digest_ = 0;
}

absl::StatusOr<engine::Proposal> ProposeDocument(const engine::InTerm& term,
                                                 engine::StreamId stream,
                                                 const DocumentsImage& image,
                                                 const DocumentWrite& write,
                                                 engine::Footprint& footprint) {
  if (write.body.size() > engine::kMaxDocumentBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a document of %d bytes is over the limit", write.body.size()));
  }
  RETURN_IF_ERROR(JudgeVersion(stream, image, write, footprint));
  flatbuffers::FlatBufferBuilder body;
  const auto kind = body.CreateString(write.id.kind);
  const auto name = body.CreateString(write.id.name);
  const auto bytes = body.CreateVector(reinterpret_cast<const std::uint8_t*>(write.body.data()),
                                       write.body.size());
  const auto lease = body.CreateString(term.fence().lease);
  return ProposalOf(stream, write, 0,
                    schemas::Encode(body, schemas::CreateDocument(body, kind, name, bytes, lease,
                                                                  term.fence().token)));
}

absl::StatusOr<engine::Proposal> ProposeDocumentRemoval(const engine::InTerm& term,
                                                        engine::StreamId stream,
                                                        const DocumentsImage& image,
                                                        const DocumentWrite& write,
                                                        engine::Footprint& footprint) {
  RETURN_IF_ERROR(JudgeVersion(stream, image, write, footprint));
  if (write.expected == engine::kNoVersion) {
    return engine::VersionConflictError(write.id, write.expected, engine::kNoVersion);
  }
  flatbuffers::FlatBufferBuilder body;
  const auto kind = body.CreateString(write.id.kind);
  const auto name = body.CreateString(write.id.name);
  const auto lease = body.CreateString(term.fence().lease);
  return ProposalOf(stream, write, engine::kTombstone,
                    schemas::Encode(body, schemas::CreateDocumentTombstone(body, kind, name, lease,
                                                                           term.fence().token)));
}

}  // namespace projections
