#include "projections/resources/indexes.h"

#include <array>
#include <cstddef>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace projections {
namespace {

using PairList = flatbuffers::Vector<flatbuffers::Offset<schemas::KeyValue>>;

constexpr std::size_t kUuidLength = 36;

// Of each byte: the digit, or kNoDigit.
constexpr unsigned kNoDigit = 16;
constexpr std::array<std::uint8_t, 256> kDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (unsigned i = 0; i < 16; ++i) {
    digits[static_cast<unsigned char>("0123456789abcdef"[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}();

bool HasTenancy(const PairList* pairs, const Tenancy& tenancy) {
  const std::size_t size = pairs == nullptr ? 0 : pairs->size();
  if (size != tenancy.size()) {
    return false;
  }
  auto expected = tenancy.begin();
  for (flatbuffers::uoffset_t i = 0; i < size; ++i, ++expected) {
    const schemas::KeyValue* pair = pairs->Get(i);
    if (schemas::Text(pair->key()) != expected->first ||
        schemas::Text(pair->value()) != expected->second) {
      return false;
    }
  }
  return true;
}

void AppendText(std::string_view text, std::string& out) {
  engine::AppendU32(static_cast<std::uint32_t>(text.size()), out);
  out += text;
}

// Everything but the tenancy of a root.
std::string NameBytes(std::string_view kind, std::string_view owner_id, std::string_view name) {
  std::string bytes;
  bytes.reserve(kind.size() + owner_id.size() + name.size() + 12);
  AppendText(kind, bytes);
  AppendText(owner_id, bytes);
  AppendText(name, bytes);
  return bytes;
}

}  // namespace

std::uint64_t IdProbe::HintOf(std::string_view text) {
  if (text.size() != kUuidLength) {
    return engine::Checksum64(text);
  }
  std::uint64_t hint = 0;
  unsigned all = 0;
  const auto add = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const unsigned digit = kDigits[static_cast<unsigned char>(text[i])];
      all |= digit;
      hint = hint << 4 | digit;
    }
  };
  add(0, 8);
  add(9, 13);
  add(14, 18);
  return text[8] == '-' && text[13] == '-' && (all & kNoDigit) == 0 ? hint
                                                                    : engine::Checksum64(text);
}

bool HasName(const ResourceEntry& entry, const NameProbe& name) {
  return entry.kind() == name.kind && entry.owner_id() == name.owner_id &&
         entry.name() == name.name &&
         (!entry.is_root() || HasTenancy(entry.table().tenancy(), name.tenancy));
}

NameKey::NameKey(EntryPtr e) : entry(e) {
  std::string bytes = NameBytes(e->kind(), e->owner_id(), e->name());
  if (const PairList* tenancy = e->table().tenancy(); tenancy != nullptr && e->is_root()) {
    for (const schemas::KeyValue* pair : *tenancy) {
      AppendText(schemas::Text(pair->key()), bytes);
      AppendText(schemas::Text(pair->value()), bytes);
    }
  }
  hash = engine::Checksum64(bytes);
}

HashedName::HashedName(const NameProbe& n) : hash(0), name(n) {
  std::string bytes = NameBytes(n.kind, n.owner_id, n.name);
  if (n.owner_id.empty()) {
    for (const auto& [key, value] : n.tenancy) {
      AppendText(key, bytes);
      AppendText(value, bytes);
    }
  }
  hash = engine::Checksum64(bytes);
}

bool ByName::operator()(const NameKey& a, const NameKey& b) const {
  return a.hash != b.hash ? a.hash < b.hash : a.entry->id() < b.entry->id();
}
bool ByName::operator()(const NameKey& a, const HashedName& b) const {
  return a.hash < b.hash;
}
bool ByName::operator()(const HashedName& a, const NameKey& b) const {
  return a.hash < b.hash;
}

}  // namespace projections
