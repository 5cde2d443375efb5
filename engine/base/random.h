// Random: the only source of chance, passed in so that a simulation can seed it.

#pragma once

#include <cstdint>
#include <string>

#include "engine/base/clock.h"

namespace engine {

// Thread-safe; never blocks after start-up.
class Random {
 public:
  virtual ~Random() = default;
  virtual void Fill(char* out, std::size_t size) = 0;

  std::uint64_t NextU64();
  // Uniform in [0, bound). REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound);
};

// The operating system's generator, through OpenSSL; fit for identifiers and tokens.
Random& SystemRandom();

// A UUID of version 7 (RFC 9562), 36 characters in lower case: milliseconds of `now`, then 74
// random bits. Sorts by time of making to the millisecond.
std::string NewUuidV7(Timestamp now, Random& random);

}  // namespace engine
