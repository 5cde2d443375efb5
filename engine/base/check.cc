#include "engine/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace engine {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr,
               "{\"level\":\"fatal\",\"message\":\"check failed: %s\",\"source\":\"%s:%d\"}\n",
               condition, file, line);
  std::abort();
}

}  // namespace engine
