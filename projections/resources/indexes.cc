#include "projections/resources/indexes.h"

#include <optional>

namespace projections {
namespace {

using PairList = flatbuffers::Vector<flatbuffers::Offset<schemas::KeyValue>>;

constexpr std::size_t kUuidLength = 36;
constexpr int kHintDigits = 16;

std::optional<unsigned> HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return static_cast<unsigned>(c - '0');
  }
  if (c >= 'a' && c <= 'f') {
    return static_cast<unsigned>(c - 'a') + 10;
  }
  return std::nullopt;
}

// Key by key, value by value; a missing pair is before every other.
std::strong_ordering CompareTenancy(const PairList* a, const Tenancy& b) {
  const std::size_t size = a == nullptr ? 0 : a->size();
  auto expected = b.begin();
  for (std::size_t i = 0; i < size && expected != b.end(); ++i, ++expected) {
    const schemas::KeyValue* pair = a->Get(static_cast<flatbuffers::uoffset_t>(i));
    const std::strong_ordering keys = schemas::Text(pair->key()) <=> expected->first;
    const std::strong_ordering values = schemas::Text(pair->value()) <=> expected->second;
    if (keys != 0 || values != 0) {
      return keys != 0 ? keys : values;
    }
  }
  return size <=> b.size();
}

std::strong_ordering CompareTenancy(const PairList* a, const PairList* b) {
  const std::size_t size_a = a == nullptr ? 0 : a->size();
  const std::size_t size_b = b == nullptr ? 0 : b->size();
  for (flatbuffers::uoffset_t i = 0; i < size_a && i < size_b; ++i) {
    const std::strong_ordering keys =
        schemas::Text(a->Get(i)->key()) <=> schemas::Text(b->Get(i)->key());
    const std::strong_ordering values =
        schemas::Text(a->Get(i)->value()) <=> schemas::Text(b->Get(i)->value());
    if (keys != 0 || values != 0) {
      return keys != 0 ? keys : values;
    }
  }
  return size_a <=> size_b;
}

std::strong_ordering CompareName(EntryPtr a, const NameProbe& b) {
  std::strong_ordering order = CompareKinds(a->kind(), b.kind);
  if (order == 0) {
    order = a->owner_id() <=> b.owner_id;
  }
  if (order == 0) {
    order = a->name() <=> b.name;
  }
  return order == 0 && a->is_root() ? CompareTenancy(a->table().tenancy(), b.tenancy) : order;
}

}  // namespace

std::uint64_t IdProbe::HintOf(std::string_view text) {
  if (text.size() != kUuidLength) {
    return engine::Checksum64(text);
  }
  std::uint64_t hint = 0;
  int digits = 0;
  for (std::size_t i = 0; digits < kHintDigits && i < text.size(); ++i) {
    if (text[i] == '-') {
      continue;
    }
    const std::optional<unsigned> digit = HexDigit(text[i]);
    if (!digit.has_value()) {
      return engine::Checksum64(text);
    }
    hint = hint << 4 | *digit;
    ++digits;
  }
  return hint;
}

bool ByName::operator()(EntryPtr a, EntryPtr b) const {
  std::strong_ordering order = CompareKinds(a->kind(), b->kind());
  if (order == 0) {
    order = a->owner_id() <=> b->owner_id();
  }
  if (order == 0) {
    order = a->name() <=> b->name();
  }
  if (order == 0 && a->is_root()) {
    order = CompareTenancy(a->table().tenancy(), b->table().tenancy());
  }
  return (order != 0 ? order : a->id() <=> b->id()) < 0;
}

bool ByName::operator()(EntryPtr a, const NameProbe& b) const {
  return CompareName(a, b) < 0;
}
bool ByName::operator()(const NameProbe& a, EntryPtr b) const {
  return CompareName(b, a) > 0;
}

}  // namespace projections
