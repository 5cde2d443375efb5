#include "engine/postgres/params.h"

#include <bit>
#include <cstring>
#include <utility>

namespace engine::postgres {
namespace {

static_assert(std::endian::native == std::endian::little);

std::uint16_t Swap(std::uint16_t value) {
  return __builtin_bswap16(value);
}
std::uint32_t Swap(std::uint32_t value) {
  return __builtin_bswap32(value);
}
std::uint64_t Swap(std::uint64_t value) {
  return __builtin_bswap64(value);
}

template <class T>
void AppendBigEndian(T value, std::string& out) {
  const T swapped = Swap(value);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &swapped, sizeof(T));
  out.append(bytes, sizeof(T));
}

}  // namespace

ArrayParam::ArrayParam(std::uint32_t element_oid, std::size_t size) {
  AppendBigEndian(std::uint32_t{size == 0 ? 0U : 1U}, bytes_);  // Dimensions.
  AppendBigEndian(std::uint32_t{1}, bytes_);                    // There may be nulls.
  AppendBigEndian(element_oid, bytes_);
  if (size != 0) {
    AppendBigEndian(static_cast<std::uint32_t>(size), bytes_);
    AppendBigEndian(std::uint32_t{1}, bytes_);  // The first index.
  }
}

void ArrayParam::AddInt16(std::int16_t value) {
  AppendBigEndian(std::uint32_t{sizeof(value)}, bytes_);
  AppendBigEndian(static_cast<std::uint16_t>(value), bytes_);
}

void ArrayParam::AddInt32(std::int32_t value) {
  AppendBigEndian(std::uint32_t{sizeof(value)}, bytes_);
  AppendBigEndian(static_cast<std::uint32_t>(value), bytes_);
}

void ArrayParam::AddInt64(std::int64_t value) {
  AppendBigEndian(std::uint32_t{sizeof(value)}, bytes_);
  AppendBigEndian(static_cast<std::uint64_t>(value), bytes_);
}

void ArrayParam::AddBytes(std::string_view value) {
  AppendBigEndian(static_cast<std::uint32_t>(value.size()), bytes_);
  bytes_ += value;
}

void ArrayParam::AddNull() {
  AppendBigEndian(std::uint32_t{0xffffffff}, bytes_);
}

Params& Params::Int32(std::int32_t value) {
  std::string bytes;
  AppendBigEndian(static_cast<std::uint32_t>(value), bytes);
  return Text(std::move(bytes));
}

Params& Params::Int64(std::int64_t value) {
  std::string bytes;
  AppendBigEndian(static_cast<std::uint64_t>(value), bytes);
  return Text(std::move(bytes));
}

Params& Params::Text(std::string value) {
  values_.push_back(std::move(value));
  return *this;
}

std::vector<const char*> Params::Pointers() const {
  std::vector<const char*> pointers;
  pointers.reserve(values_.size());
  for (const std::string& value : values_) {
    pointers.push_back(value.data());
  }
  return pointers;
}

std::vector<int> Params::Lengths() const {
  std::vector<int> lengths;
  lengths.reserve(values_.size());
  for (const std::string& value : values_) {
    lengths.push_back(static_cast<int>(value.size()));
  }
  return lengths;
}

}  // namespace engine::postgres
