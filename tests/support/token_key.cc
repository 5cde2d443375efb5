#include "tests/support/token_key.h"

#include <utility>

#include <absl/strings/str_format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "api/identity/base64url.h"
#include "engine/base/check.h"

namespace support {
namespace {

using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

// Big-endian, `size` bytes; 0: as many as there are.
std::string BytesOf(const BIGNUM* number, int size = 0) {
  std::string bytes(static_cast<std::size_t>(size == 0 ? BN_num_bytes(number) : size), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
               static_cast<int>(bytes.size()));
  return bytes;
}

std::string Parameter(EVP_PKEY* key, const char* name, int size = 0) {
  BIGNUM* number = nullptr;
  ENGINE_CHECK(EVP_PKEY_get_bn_param(key, name, &number) == 1);
  const Number owned(number, BN_free);
  return api::EncodeBase64Url(BytesOf(number, size));
}

const char* DigestOf(std::string_view algorithm) {
  return algorithm.ends_with("256") ? "SHA256" : algorithm.ends_with("384") ? "SHA384" : "SHA512";
}

int CoordinateBytes(std::string_view algorithm) {
  return algorithm == "ES256" ? 32 : 48;
}

// The two numbers of a DER signature, one after the other.
std::string RawOf(const std::string& der, int size) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> numbers(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), ECDSA_SIG_free);
  return BytesOf(ECDSA_SIG_get0_r(numbers.get()), size) +
         BytesOf(ECDSA_SIG_get0_s(numbers.get()), size);
}

}  // namespace

TokenKey TokenKey::Make(std::string algorithm, std::string kid, int rsa_bits) {
  TokenKey key;
  EVP_PKEY* made = algorithm == "ES256"   ? EVP_EC_gen("P-256")
                   : algorithm == "ES384" ? EVP_EC_gen("P-384")
                                          : EVP_RSA_gen(static_cast<unsigned>(rsa_bits));
  ENGINE_CHECK(made != nullptr);
  key.key_ = std::shared_ptr<EVP_PKEY>(made, EVP_PKEY_free);
  key.algorithm_ = std::move(algorithm);
  key.kid_ = std::move(kid);
  return key;
}

std::string TokenKey::Jwk(bool with_alg) const {
  std::string jwk = absl::StrFormat(R"({"use":"sig","kid":"%s",)", kid_);
  if (with_alg) {
    jwk += absl::StrFormat(R"("alg":"%s",)", algorithm_);
  }
  if (!algorithm_.starts_with("ES")) {
    return jwk + absl::StrFormat(R"("kty":"RSA","n":"%s","e":"%s"})",
                                 Parameter(key_.get(), OSSL_PKEY_PARAM_RSA_N),
                                 Parameter(key_.get(), OSSL_PKEY_PARAM_RSA_E));
  }
  const int size = CoordinateBytes(algorithm_);
  return jwk + absl::StrFormat(R"("kty":"EC","crv":"%s","x":"%s","y":"%s"})",
                               size == 32 ? "P-256" : "P-384",
                               Parameter(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, size),
                               Parameter(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, size));
}

std::string TokenKey::SignatureOf(std::string_view text, std::string_view algorithm) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  EVP_PKEY_CTX* key_context = nullptr;
  ENGINE_CHECK(EVP_DigestSignInit_ex(context.get(), &key_context, DigestOf(algorithm), nullptr,
                                     nullptr, key_.get(), nullptr) == 1);
  if (algorithm.starts_with("PS")) {
    EVP_PKEY_CTX_set_rsa_padding(key_context, RSA_PKCS1_PSS_PADDING);
    EVP_PKEY_CTX_set_rsa_pss_saltlen(key_context, RSA_PSS_SALTLEN_DIGEST);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size());
  std::string signature(size, '\0');
  ENGINE_CHECK(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                              &size, bytes, text.size()) == 1);
  signature.resize(size);
  return algorithm_.starts_with("ES") ? RawOf(signature, CoordinateBytes(algorithm_)) : signature;
}

std::string TokenKey::Sign(std::string_view header, std::string_view payload,
                           std::string_view algorithm) const {
  const std::string text = api::EncodeBase64Url(header) + "." + api::EncodeBase64Url(payload);
  return text + "." +
         api::EncodeBase64Url(SignatureOf(text, algorithm.empty() ? algorithm_ : algorithm));
}

std::string TokenKey::Token(std::string_view claims) const {
  return Sign(absl::StrFormat(R"({"alg":"%s","kid":"%s","typ":"JWT"})", algorithm_, kid_), claims);
}

std::string KeySetText(const std::vector<const TokenKey*>& keys) {
  std::string text = "{\"keys\":[";
  for (const TokenKey* key : keys) {
    text += (text.back() == '[' ? "" : ",") + key->Jwk();
  }
  return text + "]}";
}

}  // namespace support
