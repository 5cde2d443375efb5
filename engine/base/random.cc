#include "engine/base/random.h"

#include <array>
#include <cstring>

#include <openssl/rand.h>

#include "engine/base/check.h"

namespace engine {
namespace {

class MachineRandom final : public Random {
 public:
  void Fill(char* out, std::size_t size) override {
    ENGINE_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(out), static_cast<int>(size)) == 1);
  }
};

}  // namespace

std::uint64_t Random::NextU64() {
  std::array<char, sizeof(std::uint64_t)> bytes{};
  Fill(bytes.data(), bytes.size());
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

std::uint64_t Random::Below(std::uint64_t bound) {
  ENGINE_CHECK(bound > 0);
  // Draw again where the last, incomplete run of `bound` values would favour small results.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t value = NextU64();
  while (value >= limit) {
    value = NextU64();
  }
  return value % bound;
}

Random& SystemRandom() {
  static MachineRandom random;
  return random;
}

std::string NewUuidV7(Timestamp now, Random& random) {
  std::array<unsigned char, 16> bytes{};
  random.Fill(reinterpret_cast<char*>(bytes.data()), bytes.size());
  const auto millis = static_cast<std::uint64_t>(now.micros / 1000);
  for (int i = 0; i < 6; ++i) {
    bytes[static_cast<std::size_t>(i)] = static_cast<unsigned char>(millis >> (8 * (5 - i)));
  }
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0F) | 0x70);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3F) | 0x80);
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text.push_back('-');
    }
    text.push_back(kHex[bytes[i] >> 4]);
    text.push_back(kHex[bytes[i] & 0x0F]);
  }
  return text;
}

}  // namespace engine
