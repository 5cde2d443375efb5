#include "engine/base/checksum.h"

#include <xxhash.h>

namespace engine {

std::uint64_t Checksum64(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace engine
