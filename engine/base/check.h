// ENGINE_CHECK: what only our own bug can break. Prints the condition and aborts, in every build.
//
// Input, rows, peers and configuration are judged with absl::Status instead.

#pragma once

namespace engine {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace engine

#define ENGINE_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::engine::CheckFailed(#condition, __FILE__, __LINE__))
