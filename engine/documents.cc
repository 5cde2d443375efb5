#include "engine/documents.h"

#include <algorithm>

#include <absl/strings/str_format.h>

namespace engine {
namespace {

constexpr char kConflictUrl[] = "halo/version-conflict";

bool IsLowerOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool IsOfKind(char c) {
  return IsLowerOrDigit(c) || c == '-';
}

bool IsOfName(char c) {
  return IsOfKind(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == ':' || c == '/';
}

}  // namespace

absl::Status CheckDocumentId(const DocumentId& id) {
  if (id.kind.empty() || id.kind.size() > kMaxDocumentKindBytes ||
      !std::ranges::all_of(id.kind, IsOfKind)) {
    return absl::InvalidArgumentError(absl::StrFormat("\"%s\" is no kind of document", id.kind));
  }
  if (id.name.empty() || id.name.size() > kMaxDocumentNameBytes ||
      !std::ranges::all_of(id.name, IsOfName)) {
    return absl::InvalidArgumentError(absl::StrFormat("\"%s\" is no name of a document", id.name));
  }
  return absl::OkStatus();
}

std::string DocumentKey(const DocumentId& id) {
  return id.kind + "/" + id.name;
}

absl::Status VersionConflictError(const DocumentId& id, Position expected, Position found) {
  absl::Status status = absl::AbortedError(absl::StrFormat(
      "document %s is at version %d, not %d", DocumentKey(id), Raw(found), Raw(expected)));
  status.SetPayload(kConflictUrl, absl::Cord("1"));
  return status;
}

bool IsVersionConflict(const absl::Status& status) {
  return status.GetPayload(kConflictUrl).has_value();
}

}  // namespace engine
