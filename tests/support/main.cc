// The main function of every test program.
//
// A test fails when something logs an error that it did not announce with
// support::ExpectErrorLogs(): an alarm that nobody looks at is worse than none. The same goes for
// races that ThreadSanitizer reports.

#include <gtest/gtest.h>

#include "tests/support/logs.h"
#include "tests/support/sanitizers.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  support::InstallLogCheck();
  support::InstallRaceCheck();
  return RUN_ALL_TESTS();
}
