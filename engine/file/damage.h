// How the file backend says what is wrong with a file.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace engine::file {

// kDataLoss: `FILE at byte OFFSET: WHY`. Every damage in a file is told like this.
absl::Status DamageAt(const std::string& file, std::uint64_t offset, std::string_view why);

// `status`, which is not ok and was made of the bytes alone, with file and offset before its
// message.
absl::Status ErrorAt(const std::string& file, std::uint64_t offset, const absl::Status& status);

// The message of a status, without its code.
std::string MessageOf(const absl::Status& status);

}  // namespace engine::file
