// Documents: the newest state of each document of one stream (engine/documents.h), and the only
// ways to propose a change of one. Two streams have documents: `documents` and `controller-state`.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/command.h"
#include "engine/documents.h"
#include "engine/fenced.h"
#include "engine/projection.h"
#include "projections/persistent_tree.h"
#include "schemas/streams.h"

namespace projections {

// Immutable.
struct Document {
  engine::DocumentId id;
  engine::Position version = engine::kNoVersion;
  engine::Timestamp at;
  std::string body;
  std::string lease;  // The term that wrote it.
  std::uint64_t token = 0;
};
using DocumentPtr = std::shared_ptr<const Document>;

// By kind, then name.
struct DocumentLess {
  static auto Key(const DocumentPtr& document) {
    return std::tie(document->id.kind, document->id.name);
  }
  static auto Key(const engine::DocumentId& id) { return std::tie(id.kind, id.name); }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return Key(a) < Key(b);
  }
};

// The documents of one stream at one position. Immutable; thread-safe.
class DocumentsImage : public engine::ProjectionImage {
 public:
  static constexpr engine::Freshness kNeeds = engine::Freshness::kLatest;
  using Entries = TreeSnapshot<DocumentPtr, DocumentLess>;

  // Sorted by kind and name.
  const Entries& documents() const { return documents_; }
  // Null when there is none of that name. Lives as long as the image.
  const Document* Find(const engine::DocumentId& id) const;

  std::uint64_t StateDigest() const override { return digest_; }
  absl::Status Save(const engine::StatePartSink& sink) const override;

 private:
  friend class DocumentsProjection;

  Entries documents_;
  std::uint64_t digest_ = 0;
};

// Which stream an image is of, by type, so that a view can be asked for it.
class Documents final : public DocumentsImage {
 public:
  static constexpr engine::StreamId kStream = schemas::kDocumentsStream;
};
class ControllerState final : public DocumentsImage {
 public:
  static constexpr engine::StreamId kStream = schemas::kControllerStateStream;
};

// One thread, as any projection; never blocks.
class DocumentsProjection final : public engine::Projection {
 public:
  // REQUIRES: `stream` is one of the two.
  explicit DocumentsProjection(engine::StreamId stream) : stream_(stream) {}

  engine::StreamId stream() const override { return stream_; }
  std::uint32_t fold_version() const override { return 1; }
  absl::Status Apply(const engine::Record& record) override;
  std::shared_ptr<const engine::ProjectionImage> Publish() override;
  absl::Status Load(std::string_view part) override;
  void Reset() override;

 private:
  absl::Status ApplyDocument(const engine::Record& record);
  void Put(Document document);
  void Remove(const engine::DocumentId& id);

  const engine::StreamId stream_;
  PersistentTree<DocumentPtr, DocumentLess> documents_;
  std::uint64_t digest_ = 0;  // Sum over the documents: independent of their order.
};

// What shall become of a document.
struct DocumentWrite {
  engine::DocumentId id;
  // The version that is replaced; kNoVersion: there must be none yet.
  engine::Position expected = engine::kNoVersion;
  std::string body;
};

// A proposal that sets, or removes, a document, judged under the lock in a live term. `image` is
// of `stream`. Facts: `document/<stream>/<kind>/<name>`.
//
// Fails with kInvalidArgument (id or size), VersionConflictError.
absl::StatusOr<engine::Proposal> ProposeDocument(const engine::InTerm& term,
                                                 engine::StreamId stream,
                                                 const DocumentsImage& image,
                                                 const DocumentWrite& write,
                                                 engine::Footprint& footprint);
// Likewise; `write.body` counts for nothing. Fails too, as a conflict, where there is none.
absl::StatusOr<engine::Proposal> ProposeDocumentRemoval(const engine::InTerm& term,
                                                        engine::StreamId stream,
                                                        const DocumentsImage& image,
                                                        const DocumentWrite& write,
                                                        engine::Footprint& footprint);

// The documents of one stream as the writer of a term sees them.
template <class Image>
class DocumentWriter {
 public:
  // `writer` must outlive it.
  explicit DocumentWriter(engine::FencedWriter& writer) : writer_(writer) {}

  // Sets a document; `position` of the outcome is its new version. Blocks as FencedWriter::Write.
  engine::FencedOutcome Put(DocumentWrite write, engine::Deadline deadline) {
    return Propose(&ProposeDocument, std::move(write), deadline);
  }
  engine::FencedOutcome Remove(DocumentWrite write, engine::Deadline deadline) {
    return Propose(&ProposeDocumentRemoval, std::move(write), deadline);
  }

 private:
  engine::FencedOutcome Propose(decltype(&ProposeDocument) propose, DocumentWrite write,
                                engine::Deadline deadline) {
    return writer_.Write(
        [propose, write = std::move(write)](
            const engine::DecideContext& context,
            const engine::InTerm& term) -> absl::StatusOr<engine::Proposal> {
          const auto image = engine::ImageIn<Image>(context.view);
          if (!image.ok()) {
            return image.status();
          }
          return propose(term, Image::kStream, **image, write, context.footprint);
        },
        deadline);
  }

  engine::FencedWriter& writer_;
};

}  // namespace projections
