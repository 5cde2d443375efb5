#include "tests/outside/outside.h"

#include <filesystem>

#include "tests/support/process.h"

namespace outside {
namespace {

bool HasNode() {
  const auto version = support::RunProcess({.argv = {"node", "--version"}},
                                           engine::Deadline::After(std::chrono::minutes(1)));
  return version.ok() && version->exit.code == 0;
}

}  // namespace

bool Has(const std::string& package) {
  static const bool kHasNode = HasNode();
  return kHasNode && std::filesystem::exists(Path("node_modules/" + package + "/package.json"));
}

std::string Path(const std::string& name) {
  return std::string(HALO_OUTSIDE) + "/" + name;
}

}  // namespace outside
