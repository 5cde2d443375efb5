// What the algorithms of tokens are made of, and their verification by OpenSSL. Included by
// keys.cc only.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string_view>

#include "api/identity/keys.h"

namespace api {

struct AlgorithmFacts {
  std::string_view name;
  std::string_view key_type;  // As VerificationKey has it.
  const char* digest;
  bool is_pss;
};
const AlgorithmFacts& FactsOf(SignatureAlgorithm algorithm);

// Of a coordinate of `P-256` or `P-384`.
std::size_t CoordinateBytes(std::string_view curve);

// REQUIRES: `key` is of the algorithm's type.
bool VerifySignature(evp_pkey_st* key, SignatureAlgorithm algorithm, std::string_view message,
                     std::string_view signature);

}  // namespace api
