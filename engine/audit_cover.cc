#include "engine/audit_cover.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/sha256.h"

namespace engine {
namespace {

// A position as decimal digits without leading zeros, the whole of `text`.
std::optional<Position> ParsePosition(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 ||
      text.front() == '0') {
    return std::nullopt;
  }
  return Position{value};
}

std::optional<CoveredRange> ParseRange(std::string_view text, const Catalogue& catalogue) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto spec = std::ranges::find(catalogue, text.substr(0, colon), &StreamSpec::name);
  const std::string_view positions = text.substr(colon + 1);
  const std::size_t dash = positions.find('-');
  const auto first = ParsePosition(positions.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : ParsePosition(positions.substr(dash + 1));
  if (spec == catalogue.end() || !first.has_value() || !last.has_value() || *last < *first) {
    return std::nullopt;
  }
  return CoveredRange{spec->id, *first, *last};
}

}  // namespace

AuditCover CoverOf(std::span<const Record> rows) {
  std::vector<const Record*> ordered;
  ordered.reserve(rows.size());
  for (const Record& row : rows) {
    ordered.push_back(&row);
  }
  std::ranges::sort(ordered, {},
                    [](const Record* row) { return std::tuple(row->stream, row->position); });
  AuditCover cover;
  Sha256 sha;
  for (const Record* row : ordered) {
    const std::string bytes = RowBytes(*row);
    std::string length;
    AppendU32(static_cast<std::uint32_t>(bytes.size()), length);
    sha.Update(length);
    sha.Update(bytes);
    CoveredRange* const open = cover.ranges.empty() ? nullptr : &cover.ranges.back();
    if (open != nullptr && open->stream == row->stream && Next(open->last) == row->position) {
      open->last = row->position;
    } else {
      cover.ranges.push_back({row->stream, row->position, row->position});
    }
  }
  cover.sha256 = ToHex(sha.Finish());
  return cover;
}

std::string FormatCover(const AuditCover& cover, const Catalogue& catalogue) {
  std::string text;
  for (const CoveredRange& range : cover.ranges) {
    const auto spec = std::ranges::find(catalogue, range.stream, &StreamSpec::id);
    ENGINE_CHECK(spec != catalogue.end());
    text += absl::StrFormat("%s%s:%d", text.empty() ? "" : ",", spec->name, Raw(range.first));
    if (range.last != range.first) {
      text += absl::StrFormat("-%d", Raw(range.last));
    }
  }
  return text;
}

absl::StatusOr<AuditCover> ParseCover(std::string_view text, const Catalogue& catalogue) {
  AuditCover cover;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto range = ParseRange(rest.substr(0, comma), catalogue);
    if (!range.has_value()) {
      return absl::DataLossError(absl::StrFormat("%s is malformed: %s", kCoverRecordsDetail, text));
    }
    cover.ranges.push_back(*range);
    if (comma == std::string_view::npos) {
      return cover;
    }
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace engine
