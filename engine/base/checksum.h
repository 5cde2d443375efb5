// Checksum64: XXH3 with 64 bits, seed 0 (xxHash 0.8, stable since 0.8.0).
//
// Finds corruption, edits and lost history; it is no cryptography (the audit chain is).
// Thread-safe; never blocks. Golden values: tests/engine/base/checksum_test.cc.

#pragma once

#include <cstdint>
#include <string_view>

namespace engine {

std::uint64_t Checksum64(std::string_view bytes);

}  // namespace engine
