#include "engine/base/guard.h"

#include <cstdlib>
#include <string_view>

namespace engine {

bool GuardRemoved(const char* id) {
#if HALO_MUTANTS
  static const char* const mutant = std::getenv("HALO_MUTANT");
  return mutant != nullptr && std::string_view(mutant) == id;
#else
  (void)id;
  return false;
#endif
}

}  // namespace engine
