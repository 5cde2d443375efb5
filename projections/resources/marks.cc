#include "projections/resources/marks.h"

#include <algorithm>
#include <string>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/checksum.h"

namespace projections {
namespace {

enum class MarkOf : std::uint8_t { kLabel = 1, kName = 2, kTenancy = 3 };

// Puts texts together so that no two sequences of them look alike.
class Hash {
 public:
  Hash(MarkOf what, std::string_view kind) {
    engine::AppendU8(static_cast<std::uint8_t>(what), bytes_);
    Add(kind);
  }
  Hash& Add(std::string_view text) {
    engine::AppendU32(static_cast<std::uint32_t>(text.size()), bytes_);
    bytes_ += text;
    return *this;
  }
  Hash& Add(const schemas::KeyValue& pair) {
    return Add(schemas::Text(pair.key())).Add(schemas::Text(pair.value()));
  }
  std::uint64_t Result() const { return engine::Checksum64(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

std::uint64_t LabelMark(std::string_view kind, std::string_view key, std::string_view value) {
  return Hash(MarkOf::kLabel, kind).Add(key).Add(value).Result();
}

std::uint64_t NameMark(std::string_view kind, std::string_view name) {
  return Hash(MarkOf::kName, kind).Add(name).Result();
}

std::uint64_t TenancyMark(std::string_view kind, const Tenancy& dims) {
  ENGINE_CHECK(dims.size() == 1 || dims.size() == 2);
  Hash hash(MarkOf::kTenancy, kind);
  for (const auto& [key, value] : dims) {
    hash.Add(key).Add(value);
  }
  return hash.Result();
}

std::vector<std::uint64_t> MarksOf(const ResourceEntry& entry) {
  const std::string_view kind = entry.kind();
  std::vector<std::uint64_t> marks = {NameMark(kind, entry.name())};
  if (const auto* labels = entry.table().labels(); labels != nullptr) {
    for (const schemas::KeyValue* label : *labels) {
      marks.push_back(Hash(MarkOf::kLabel, kind).Add(*label).Result());
    }
  }
  if (const auto* tenancy = entry.table().tenancy(); tenancy != nullptr) {
    for (flatbuffers::uoffset_t first = 0; first < tenancy->size(); ++first) {
      const schemas::KeyValue& one = *tenancy->Get(first);
      marks.push_back(Hash(MarkOf::kTenancy, kind).Add(one).Result());
      for (flatbuffers::uoffset_t second = first + 1; second < tenancy->size(); ++second) {
        marks.push_back(Hash(MarkOf::kTenancy, kind).Add(one).Add(*tenancy->Get(second)).Result());
      }
    }
  }
  std::ranges::sort(marks);
  return marks;
}

}  // namespace projections
