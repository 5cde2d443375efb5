#include "projections/search/needles.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "schemas/codec.h"

namespace projections::search {
namespace {

bool IsPlain(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; });
}

void AddNeedle(const Test& test, std::vector<Needle>& needles) {
  if (test.field.kind != FieldKind::kSpec || test.op != Operator::kEq) {
    return;
  }
  const auto* value = std::get_if<std::string>(&test.values.front());
  const std::string& key = test.field.path.back();
  if (value != nullptr && IsPlain(*value) && IsPlain(key)) {
    Needle& needle = needles.emplace_back();
    needle.key = '"' + key + "\":";
    needle.value = *value;
    if (!value->starts_with('{') && !value->starts_with('[')) {
      needle.bits.emplace(key, *value);
    }
  }
}

}  // namespace

std::vector<Needle> NeedlesOf(const Node& node) {
  std::vector<Needle> needles;
  if (node.kind == NodeKind::kTest) {
    AddNeedle(node.test, needles);
  } else if (node.kind == NodeKind::kAnd) {
    for (const Node& child : node.children) {
      for (Needle& needle : NeedlesOf(child)) {
        needles.push_back(std::move(needle));
      }
    }
  }
  return needles;
}

bool MayHave(std::string_view spec, const Needle& needle) {
  while (true) {
    const void* const found =
        memmem(spec.data(), spec.size(), needle.key.data(), needle.key.size());
    if (found == nullptr) {
      return false;
    }
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - spec.data());
    spec.remove_prefix(at + needle.key.size());
    // A number, a word and what is nested are compared with a text as they are written.
    if (spec.starts_with(needle.value) ||
        (spec.starts_with('"') && spec.substr(1).starts_with(needle.value) &&
         spec.substr(1 + needle.value.size()).starts_with('"'))) {
      return true;
    }
  }
}

bool MayHave(const ResourceEntry& entry, const Needle& needle) {
  return (!needle.bits || entry.spec_signature().MayHave(*needle.bits)) &&
         MayHave(schemas::Text(entry.table().spec()), needle);
}

bool ReadsSpecs(const Node& node) {
  return node.kind == NodeKind::kTest ? node.test.field.kind == FieldKind::kSpec
                                      : std::ranges::any_of(node.children, ReadsSpecs);
}

}  // namespace projections::search
