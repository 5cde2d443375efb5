// Reports of sanitizers (./dev test --tsan and --asan), for tests that would not see them: of
// another process, or of a race that the program goes on after.

#pragma once

#include <string>
#include <string_view>

namespace support {

// The first report in what a program wrote to standard error, up to a page of it. Empty when there
// is none.
std::string SanitizerReport(std::string_view error_output);

// Called by main: fails each test during which a race was reported.
void InstallRaceCheck();

}  // namespace support
