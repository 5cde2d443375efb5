// SHA-256 (FIPS 180-4), by OpenSSL: for what must not be forged. Against accidents there is
// engine/base/checksum.h, which costs less.

#pragma once

#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace engine {

// One running hash. One thread; never blocks.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(std::string_view bytes);
  // The 32 bytes of the hash. Call nothing after it.
  std::string Finish();

 private:
  evp_md_ctx_st* const context_;
};

// The 32 bytes of the hash of `bytes`. Thread-safe.
std::string Sha256Of(std::string_view bytes);

}  // namespace engine
