#include "tests/support/logs.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "engine/base/logging.h"
#include "engine/base/mutex.h"

namespace support {
namespace {

struct Caught {
  engine::Mutex mutex;
  std::vector<std::string> lines ABSL_GUARDED_BY(mutex);
  std::vector<std::string> errors ABSL_GUARDED_BY(mutex);
  bool errors_expected ABSL_GUARDED_BY(mutex) = false;
};

Caught& Log() {
  static Caught caught;
  return caught;
}

void Catch(engine::Severity severity, std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  engine::MutexLock lock(Log().mutex);
  Log().lines.emplace_back(line);
  if (severity == engine::Severity::kError) {
    Log().errors.emplace_back(line);
  }
}

class FailOnErrorLog final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    engine::MutexLock lock(Log().mutex);
    Log().lines.clear();
    Log().errors.clear();
    Log().errors_expected = false;
  }
  void OnTestEnd(const testing::TestInfo&) override {
    engine::MutexLock lock(Log().mutex);
    if (!Log().errors_expected && !Log().errors.empty()) {
      ADD_FAILURE() << "unannounced error in the log: " << Log().errors.front();
    }
  }
};

}  // namespace

void InstallLogCheck() {
  engine::SetLogSink(Catch);
  testing::UnitTest::GetInstance()->listeners().Append(new FailOnErrorLog);
}

void ExpectErrorLogs() {
  engine::MutexLock lock(Log().mutex);
  Log().errors_expected = true;
}

std::vector<std::string> LogLines() {
  engine::MutexLock lock(Log().mutex);
  return Log().lines;
}

}  // namespace support
