#include "api/main/variables.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// Of the operator's client, the build, its tests and its benchmarks.
constexpr std::string_view kOthers[] = {
    "HALO_BENCH_ROWS", "HALO_CRASH_ROUNDS",        "HALO_JOBS",        "HALO_MUTANT", "HALO_SEED",
    "HALO_SERVER",     "HALO_PROCESS_TEST_PARENT", "HALO_SOURCE_ROOT", "HALO_TOKEN"};
constexpr std::string_view kOthersPrefix = "HALO_TEST_";

// `HALO_SERVICE_HOST`, `HALO_SERVER_PORT_8080_TCP_ADDR`, ...: where a service of that name is.
bool IsServiceLink(std::string_view name, std::string_view value) {
  const bool is_service =
      name.ends_with("_SERVICE_HOST") || name.find("_SERVICE_PORT") != std::string_view::npos;
  const bool is_link = value.starts_with("tcp://") || value.starts_with("udp://");
  const bool is_part =
      name.find("_TCP") != std::string_view::npos || name.find("_UDP") != std::string_view::npos;
  return is_service || (name.find("_PORT") != std::string_view::npos && (is_link || is_part));
}

bool IsOfOthers(std::string_view name, std::string_view value) {
  return value.empty() || !name.starts_with("HALO_") || name.starts_with(kOthersPrefix) ||
         std::ranges::find(kOthers, name) != std::end(kOthers) || IsServiceLink(name, value);
}

// How many letters have to be put in, taken out or changed to get from one to the other.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

std::string VariableName(std::string_view prefix, std::string_view flag_or_key) {
  std::string upper(prefix);
  for (const char c : flag_or_key) {
    const bool is_lower = c >= 'a' && c <= 'z';
    upper.push_back(is_lower ? static_cast<char>(c - 'a' + 'A') : (c == '-' || c == '.') ? '_' : c);
  }
  return upper;
}

absl::Status CheckVariables(const Environment& environment) {
  std::vector<std::string> known;
  for (const Setting& setting : AllSettings()) {
    if (!setting.flag.empty()) {
      known.push_back(VariableName("HALO_", setting.flag));
    }
  }
  for (const auto& [name, value] : environment) {
    const bool is_known = std::ranges::find(known, name) != known.end();
    if (!GUARD("settings.variables", is_known || IsOfOthers(name, value))) {
      const auto closest = std::ranges::min_element(
          known, {}, [&](const std::string& other) { return Distance(name, other); });
      return absl::FailedPreconditionError(
          absl::StrFormat("%s is no setting; did you mean %s?", name, *closest));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Environment> ReadVariableFiles(Environment environment) {
  std::erase_if(environment, [](const auto& variable) {
    return variable.first.starts_with("HALO_") && IsServiceLink(variable.first, variable.second);
  });
  for (const std::string_view part : {"HOST", "PORT", "NAME", "USERNAME", "PASSWORD"}) {
    const std::string name = "HYPERFLEET_DATABASE_" + std::string(part);
    const auto file = environment.find(name + "_FILE");
    if (file == environment.end() || file->second.empty() || environment.contains(name)) {
      continue;
    }
    ASSIGN_OR_RETURN(std::string text, ReadFile(file->second));
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    environment.emplace(name, std::move(text));
  }
  return environment;
}

}  // namespace api
