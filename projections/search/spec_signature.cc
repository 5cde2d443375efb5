#include "projections/search/spec_signature.h"

#include <string>

#include "engine/base/checksum.h"
#include "projections/search/json_scan.h"

namespace projections::search {

SpecSignature::Bits::Bits(std::string_view key, std::string_view value) {
  thread_local std::string member;  // Its memory is used again.
  member.assign(key);
  member += ':';
  member += value;
  const std::uint64_t hash = engine::Checksum64(member);
  first_ = static_cast<unsigned>(hash % kBits);
  second_ = static_cast<unsigned>(hash / kBits % kBits);
}

SpecSignature::SpecSignature(std::string_view spec) {
  // Depths do not matter, so the text is read from front to end: a string with a colon behind it is
  // a key.
  while (true) {
    const std::size_t quote = spec.find('"');
    if (quote == std::string_view::npos) {
      return;
    }
    spec.remove_prefix(quote);
    const std::string_view text = ValueAt(spec).text;
    spec.remove_prefix(text.size());
    if (text.size() < 2 || !spec.starts_with(':')) {
      continue;
    }
    spec.remove_prefix(1);
    if (spec.starts_with('{') || spec.starts_with('[')) {
      continue;
    }
    const JsonSlice value = ValueAt(spec);
    spec.remove_prefix(value.text.size());
    const bool is_text = value.kind == JsonKind::kString && value.text.size() >= 2;
    const Bits bits(text.substr(1, text.size() - 2),
                    is_text ? value.text.substr(1, value.text.size() - 2) : value.text);
    Set(bits.first_);
    Set(bits.second_);
  }
}

}  // namespace projections::search
