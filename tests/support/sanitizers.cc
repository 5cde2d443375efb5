#include "tests/support/sanitizers.h"

#include <algorithm>
#include <atomic>

#include <gtest/gtest.h>

namespace support {
namespace {

std::atomic<int> races = 0;

class FailOnRace final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { before_ = races; }
  void OnTestEnd(const testing::TestInfo&) override {
    if (races != before_) {
      ADD_FAILURE() << "ThreadSanitizer reported " << races - before_ << " times";
    }
  }

  int before_ = 0;
};

}  // namespace

std::string SanitizerReport(std::string_view error_output) {
  constexpr std::size_t kPage = 6000;
  std::size_t first = std::string_view::npos;
  for (const std::string_view mark :
       {"WARNING: ThreadSanitizer:", "ERROR: ThreadSanitizer:", "ERROR: AddressSanitizer:",
        "ERROR: LeakSanitizer:", ": runtime error: "}) {
    first = std::min(first, error_output.find(mark));
  }
  if (first == std::string_view::npos) {
    return "";
  }
  const std::size_t newline = error_output.rfind('\n', first);
  return std::string(
      error_output.substr(newline == std::string_view::npos ? 0 : newline + 1, kPage));
}

void InstallRaceCheck() {
  testing::UnitTest::GetInstance()->listeners().Append(new FailOnRace);
}

}  // namespace support

// ThreadSanitizer calls this, where it is linked, for each report and goes on. It holds locks of
// its own meanwhile.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is the sanitizer's.
extern "C" void __tsan_on_report(void* /*report*/);
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is the sanitizer's.
extern "C" void __tsan_on_report(void* /*report*/) {
  support::races.fetch_add(1, std::memory_order_relaxed);
}
