// Documents: small named states of background work, in keyed streams that only a term may write.
//
// A document is named by kind and name, and has a version: the position of its newest record in
// its stream, so no version ever comes back. A write says which version it replaces and is refused
// if that is not the newest one (compare-and-set): two writers of one term cannot lose each
// other's writes, and the fence (engine/fenced.h) keeps every other term out.
//
// What is here is what writers and folds share; projections/documents.h folds and proposes.

#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "engine/journal.h"

namespace engine {

// Of a document that is not there.
inline constexpr Position kNoVersion = Position::kBeforeFirst;

inline constexpr std::size_t kMaxDocumentKindBytes = 63;
inline constexpr std::size_t kMaxDocumentNameBytes = 255;
// What is left of a record beside kind, name, lease and framing.
inline constexpr std::size_t kMaxDocumentBytes = kMaxRecordBytes - 2048;

struct DocumentId {
  std::string kind;  // `rollout`, `verdict`, `audit-export`, ...: [a-z0-9-], up to 63.
  std::string name;  // [A-Za-z0-9._:/-], up to 255.
  friend bool operator==(const DocumentId&, const DocumentId&) = default;
};

// Fails with kInvalidArgument.
absl::Status CheckDocumentId(const DocumentId& id);

// `<kind>/<name>`, the key of its records.
std::string DocumentKey(const DocumentId& id);

// kAborted, marked so that IsVersionConflict knows it: the document has another version than the
// one that was to be replaced. Nothing was written; read it again.
absl::Status VersionConflictError(const DocumentId& id, Position expected, Position found);
bool IsVersionConflict(const absl::Status& status);

}  // namespace engine
