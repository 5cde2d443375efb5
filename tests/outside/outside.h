// Programs of others, as packages of npm, that tests run against the real server.
//
// package.json names them, package-lock.json pins each byte of them; `./dev test` installs them
// into this folder of the build. Where that could not be done (no registry can be reached), the
// tests that need them are skipped, and counted as skipped:
//
//   if (!outside::Has("@redocly/cli")) {
//     GTEST_SKIP() << outside::kMissing;
//   }

#pragma once

#include <string>
#include <string_view>

namespace outside {

inline constexpr std::string_view kMissing =
    "the npm packages of tests/outside are not installed: `./dev test` does it, given a registry";

// Whether this package is installed and there is a Node.js to run it.
bool Has(const std::string& package);

// The path of a file of this folder as the build has it, or of one that a package brought.
std::string Path(const std::string& name);

}  // namespace outside
