// Payload: immutable bytes with shared ownership, in one allocation.
//
// A record's bytes go from the store to a projection and into answers without being copied.
// Aligned to 8 bytes, as FlatBuffers wants. Copying a Payload copies a pointer. Thread-safe as
// any immutable value; never blocks.

#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace engine {

class Payload {
 public:
  Payload() = default;
  explicit Payload(std::string_view bytes)
      : words_(std::make_shared_for_overwrite<std::uint64_t[]>((bytes.size() + 7) / 8)),
        size_(bytes.size()) {
    if (!bytes.empty()) {
      std::memcpy(words_.get(), bytes.data(), bytes.size());
    }
  }

  std::string_view view() const { return {reinterpret_cast<const char*>(words_.get()), size_}; }
  std::size_t size() const { return size_; }
  friend bool operator==(const Payload& a, const Payload& b) { return a.view() == b.view(); }

 private:
  std::shared_ptr<std::uint64_t[]> words_;
  std::size_t size_ = 0;
};

}  // namespace engine
