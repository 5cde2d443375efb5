// A source of chance that a test can repeat: the seed is printed, and HALO_SEED sets it.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>

#include "engine/base/random.h"

namespace support {

// One thread. Never blocks.
class SeededRandom final : public engine::Random {
 public:
  SeededRandom() : SeededRandom(ChooseSeed()) {
    std::cout << "HALO_SEED=" << seed_ << " repeats this test\n";
  }
  explicit SeededRandom(std::uint64_t seed) : seed_(seed), generator_(seed) {}

  void Fill(char* out, std::size_t size) override {
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
      const std::uint64_t value = generator_();
      std::memcpy(out + i, &value, std::min(sizeof(value), size - i));
    }
  }
  std::uint64_t seed() const { return seed_; }

 private:
  static std::uint64_t ChooseSeed() {
    const char* seed = std::getenv("HALO_SEED");
    return seed != nullptr ? std::strtoull(seed, nullptr, 10)
                           : engine::SystemRandom().NextU64() % 1'000'000'000;
  }

  const std::uint64_t seed_;
  std::mt19937_64 generator_;
};

}  // namespace support
