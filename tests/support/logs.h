// Catches the log lines of a test program.

#pragma once

#include <string>
#include <vector>

namespace support {

// Called by main: fails each test that logged an error without announcing it.
void InstallLogCheck();

// Errors are expected for the rest of this test.
void ExpectErrorLogs();

// The lines of the running test so far, every severity from info up.
std::vector<std::string> LogLines();

}  // namespace support
