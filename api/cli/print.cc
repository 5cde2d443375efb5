#include "api/cli/print.h"

#include <algorithm>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"

namespace api::cli {

const std::string& NameOf(const engine::Catalogue& catalogue, engine::StreamId stream) {
  const auto spec = std::ranges::find(catalogue, stream, &engine::StreamSpec::id);
  ENGINE_CHECK(spec != catalogue.end());
  return spec->name;
}

absl::StatusOr<engine::StreamSpec> FindStream(const engine::Catalogue& catalogue,
                                              const std::string& name) {
  const auto spec = std::ranges::find(catalogue, name, &engine::StreamSpec::name);
  if (spec == catalogue.end()) {
    return absl::NotFoundError("there is no stream " + name);
  }
  return *spec;
}

absl::Status CheckRange(std::uint64_t from, std::optional<std::uint64_t> to) {
  if (to.has_value() && *to < from) {
    return absl::InvalidArgumentError(absl::StrFormat("--to %d lies before --from %d", *to, from));
  }
  return absl::OkStatus();
}

engine::Cursors FromTheStart(const engine::Catalogue& catalogue) {
  engine::Cursors cursors;
  for (const engine::StreamSpec& spec : catalogue) {
    cursors.push_back({spec.id, {}, {}});
  }
  return cursors;
}

absl::Status Damaged(const engine::Record& row, const std::string& stream, std::string_view what) {
  return absl::DataLossError(
      absl::StrFormat("stream %s position %d: %s", stream, Raw(row.position), what));
}

absl::Status CheckRow(const engine::Record& row, const std::string& stream) {
  if (row.checksum != engine::RowChecksum(row)) {
    return Damaged(row, stream, "the checksum does not fit the row");
  }
  return absl::OkStatus();
}

}  // namespace api::cli
