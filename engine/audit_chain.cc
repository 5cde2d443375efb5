#include "engine/audit_chain.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/audit_cover.h"
#include "engine/audit_text.h"
#include "engine/base/bytes.h"
#include "engine/base/sha256.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

constexpr std::size_t kHashDigits = 64;

void AppendMember(std::string_view name, std::string_view value, std::string& out) {
  out += ",\"";
  out += name;
  out += "\":";
  AppendAuditText(value, out);
}

void AppendMemberUnlessEmpty(std::string_view name, std::string_view value, std::string& out) {
  if (!value.empty()) {
    AppendMember(name, value, out);
  }
}

// Keys are replaced before they are sorted, and of keys that become equal the first one stays.
void AppendDetails(const std::map<std::string, std::string>& details, std::string& out) {
  std::map<std::string, std::string_view> valid;
  for (const auto& [key, value] : details) {
    valid.emplace(ValidAuditText(key), value);
  }
  char separator = '{';
  out += ",\"details\":";
  for (const auto& [key, value] : valid) {
    out.push_back(separator);
    separator = ',';
    AppendAuditText(key, out);
    out.push_back(':');
    AppendAuditText(value, out);
  }
  out.push_back('}');
}

absl::Status Malformed(std::string_view what) {
  return absl::DataLossError(absl::StrFormat("the audit entry's %s is not canonical", what));
}

// Up to nine digits of a fraction are accepted, of which Timestamp keeps six: hashes are taken
// over the payload itself, so nothing is lost that the chain rests on.
std::optional<Timestamp> ParseTime(std::string_view text) {
  if (!text.ends_with('Z')) {
    return std::nullopt;
  }
  const std::size_t dot = std::min(text.find('.'), text.size() - 1);
  const std::string_view fraction = text.substr(dot, text.size() - 1 - dot);
  const std::string whole = std::string(text.substr(0, dot)) + "Z";
  const std::optional<Timestamp> second = ParseTimestamp(whole);
  // Formatting again refuses what is another way to write a time (a leap second, for one).
  if (!second || FormatTimestamp(*second) != whole) {
    return std::nullopt;
  }
  if (fraction.empty()) {
    return second;
  }
  const std::string_view digits = fraction.substr(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || digits.size() > 9 || digits.back() == '0' ||
      !std::ranges::all_of(digits, is_digit)) {
    return std::nullopt;
  }
  std::string micros(digits.substr(0, 6));
  micros.resize(6, '0');
  return Timestamp{second->micros + std::stoll(micros)};
}

absl::Status ReadMember(std::string_view name, AuditReader& reader, std::string& value) {
  if (!reader.Skip(",\"") || !reader.Skip(name) || !reader.Skip("\":")) {
    return Malformed(name);
  }
  std::optional<std::string> text = reader.Text();
  if (!text) {
    return Malformed(name);
  }
  value = *std::move(text);
  return absl::OkStatus();
}

// A member that is left out when empty.
absl::Status ReadOptional(std::string_view name, AuditReader& reader, std::string& value) {
  if (!reader.Skip(absl::StrFormat(",\"%s\":", name))) {
    return absl::OkStatus();
  }
  std::optional<std::string> text = reader.Text();
  if (!text || text->empty()) {
    return Malformed(name);
  }
  value = *std::move(text);
  return absl::OkStatus();
}

absl::Status ReadDetails(AuditReader& reader, std::map<std::string, std::string>& details) {
  if (!reader.Skip(",\"details\":")) {
    return absl::OkStatus();
  }
  std::string_view separator = "{";
  do {
    if (!reader.Skip(separator)) {
      return Malformed("details");
    }
    std::optional<std::string> key = reader.Text();
    if (!key || !reader.Skip(":")) {
      return Malformed("details");
    }
    std::optional<std::string> value = reader.Text();
    if (!value || (!details.empty() && *key <= details.rbegin()->first)) {
      return Malformed("details");
    }
    details.emplace_hint(details.end(), *std::move(key), *std::move(value));
    separator = ",";
  } while (!reader.Skip("}"));
  return absl::OkStatus();
}

absl::Status ReadHead(AuditReader& reader, AuditEntry& entry) {
  if (!reader.Skip("{\"seq\":")) {
    return Malformed("seq");
  }
  const std::optional<std::uint64_t> seq = reader.Number();
  if (!seq || *seq == 0) {
    return Malformed("seq");
  }
  entry.seq = Position{*seq};
  std::string time;
  RETURN_IF_ERROR(ReadMember("time", reader, time));
  const std::optional<Timestamp> parsed = ParseTime(time);
  if (!parsed) {
    return Malformed("time");
  }
  entry.time = *parsed;
  return absl::OkStatus();
}

absl::Status ReadPrevious(AuditReader& reader, AuditEntry& entry) {
  RETURN_IF_ERROR(ReadMember("prev", reader, entry.prev));
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const std::size_t digits = entry.seq == Position{1} ? 0 : kHashDigits;
  if (entry.prev.size() != digits || !std::ranges::all_of(entry.prev, is_hex)) {
    return Malformed("prev");
  }
  return absl::OkStatus();
}

}  // namespace

std::string EncodeAuditEntry(const AuditEntry& entry) {
  std::string out = absl::StrFormat("{\"seq\":%d", Raw(entry.seq));
  AppendMember("time", FormatTimestamp(entry.time), out);
  AppendMember("actor", entry.what.actor, out);
  AppendMember("action", entry.what.action, out);
  AppendMemberUnlessEmpty("target", entry.what.target, out);
  AppendMemberUnlessEmpty("ip", entry.what.ip, out);
  AppendMemberUnlessEmpty("requestId", entry.what.request_id, out);
  if (!entry.what.details.empty()) {
    AppendDetails(entry.what.details, out);
  }
  AppendMember("prev", entry.prev, out);
  AppendMember("hash", "", out);
  out.push_back('}');
  return out;
}

absl::StatusOr<AuditEntry> DecodeAuditEntry(std::string_view payload) {
  AuditReader reader(payload);
  AuditEntry entry;
  RETURN_IF_ERROR(ReadHead(reader, entry));
  RETURN_IF_ERROR(ReadMember("actor", reader, entry.what.actor));
  RETURN_IF_ERROR(ReadMember("action", reader, entry.what.action));
  RETURN_IF_ERROR(ReadOptional("target", reader, entry.what.target));
  RETURN_IF_ERROR(ReadOptional("ip", reader, entry.what.ip));
  RETURN_IF_ERROR(ReadOptional("requestId", reader, entry.what.request_id));
  RETURN_IF_ERROR(ReadDetails(reader, entry.what.details));
  RETURN_IF_ERROR(ReadPrevious(reader, entry));
  if (!reader.Skip(",\"hash\":\"\"}") || !reader.AtEnd()) {
    return Malformed("hash");
  }
  return entry;
}

std::string AuditHash(std::string_view payload) {
  return ToHex(Sha256Of(payload));
}

std::string SealAuditEntry(const AuditDraft& draft, Position seq, Timestamp at,
                           std::string_view previous_payload, std::span<const Record> covers,
                           const Catalogue& catalogue) {
  AuditEntry entry{.seq = seq, .time = at, .what = draft, .prev = {}};
  if (!previous_payload.empty()) {
    entry.prev = AuditHash(previous_payload);
  }
  if (!covers.empty()) {
    const AuditCover cover = CoverOf(covers);
    entry.what.details[kCoverRecordsDetail] = FormatCover(cover, catalogue);
    entry.what.details[kCoverHashDetail] = cover.sha256;
  }
  return EncodeAuditEntry(entry);
}

}  // namespace engine
