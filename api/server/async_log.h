// AsyncLog: log lines are written by a thread of their own, so that nobody who logs waits for a
// slow terminal or pipe.

#pragma once

#include <cstdint>
#include <memory>

namespace api {

enum class LogOutput { kStandardError, kStandardOutput };

// While it lives, engine::Log hands its lines over to it. One at a time. Thread-safe.
class AsyncLog {
 public:
  explicit AsyncLog(LogOutput output = LogOutput::kStandardError);
  // Writes what waits, then restores the direct way.
  ~AsyncLog();
  AsyncLog(const AsyncLog&) = delete;
  AsyncLog& operator=(const AsyncLog&) = delete;

  // Lines that were given up because 8,192 were waiting: the oldest go first.
  std::uint64_t dropped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace api
