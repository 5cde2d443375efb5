// Small things that several storage commands need: names of streams, messages, one row's check.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/journal.h"

namespace api::cli {

// The name of a stream of the catalogue. REQUIRES: it is in there.
const std::string& NameOf(const engine::Catalogue& catalogue, engine::StreamId stream);

// The stream of this name. Fails with kNotFound.
absl::StatusOr<engine::StreamSpec> FindStream(const engine::Catalogue& catalogue,
                                              const std::string& name);

// Fails with kInvalidArgument when `--to` lies before `--from`: no record could be meant.
absl::Status CheckRange(std::uint64_t from, std::optional<std::uint64_t> to);

engine::Cursors FromTheStart(const engine::Catalogue& catalogue);

inline std::string_view Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// kDataLoss, naming stream and position.
absl::Status Damaged(const engine::Record& row, const std::string& stream, std::string_view what);

// Whether the row's checksum fits it.
absl::Status CheckRow(const engine::Record& row, const std::string& stream);

}  // namespace api::cli
