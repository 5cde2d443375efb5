#include "api/identity/signatures.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "engine/base/guard.h"

namespace api {
namespace {

// In the order of SignatureAlgorithm.
constexpr std::array<AlgorithmFacts, 6> kAlgorithms = {{
    {"RS256", "RSA", "SHA256", false},
    {"RS384", "RSA", "SHA384", false},
    {"RS512", "RSA", "SHA512", false},
    {"PS256", "RSA", "SHA256", true},
    {"ES256", "P-256", "SHA256", false},
    {"ES384", "P-384", "SHA384", false},
}};

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// ECDSA signatures of tokens are the two numbers one after the other (RFC 7518, 3.4); OpenSSL
// wants them in DER. Empty when the length is wrong.
std::string DerOf(std::string_view signature, std::size_t coordinate_bytes) {
  if (signature.size() != 2 * coordinate_bytes) {
    return {};
  }
  const auto size = static_cast<int>(coordinate_bytes);
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> numbers(ECDSA_SIG_new(),
                                                                      ECDSA_SIG_free);
  BIGNUM* r = BN_bin2bn(Bytes(signature), size, nullptr);
  BIGNUM* s = BN_bin2bn(Bytes(signature) + size, size, nullptr);
  ECDSA_SIG_set0(numbers.get(), r, s);
  unsigned char* der = nullptr;
  const int length = i2d_ECDSA_SIG(numbers.get(), &der);
  std::string text(reinterpret_cast<char*>(der), length > 0 ? static_cast<std::size_t>(length) : 0);
  OPENSSL_free(der);
  return text;
}

bool UsePss(EVP_PKEY_CTX* context) {
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

}  // namespace

std::optional<SignatureAlgorithm> FindSignatureAlgorithm(std::string_view name) {
  const auto* const found = std::ranges::find(kAlgorithms, name, &AlgorithmFacts::name);
  if (found == kAlgorithms.end()) {
    return std::nullopt;
  }
  return static_cast<SignatureAlgorithm>(found - kAlgorithms.begin());
}

const AlgorithmFacts& FactsOf(SignatureAlgorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

std::size_t CoordinateBytes(std::string_view curve) {
  return curve == "P-256" ? 32 : 48;
}

bool VerifySignature(evp_pkey_st* key, SignatureAlgorithm algorithm, std::string_view message,
                     std::string_view signature) {
  const AlgorithmFacts& facts = FactsOf(algorithm);
  std::string der;
  if (facts.key_type != "RSA") {
    der = DerOf(signature, CoordinateBytes(facts.key_type));
    signature = der;
  }
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  EVP_PKEY_CTX* key_context = nullptr;  // The other one owns it.
  const bool verified = !signature.empty() &&
                        EVP_DigestVerifyInit_ex(context.get(), &key_context, facts.digest, nullptr,
                                                nullptr, key, nullptr) == 1 &&
                        (!facts.is_pss || UsePss(key_context)) &&
                        EVP_DigestVerify(context.get(), Bytes(signature), signature.size(),
                                         Bytes(message), message.size()) == 1;
  ERR_clear_error();
  return GUARD("jwt.signature", verified);
}

}  // namespace api
