#include "api/identity/keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include <absl/strings/str_format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "api/identity/base64url.h"
#include "api/identity/signatures.h"
#include "engine/base/guard.h"

namespace api {
namespace {

constexpr std::size_t kMaxKeys = 256;
constexpr int kMinRsaBits = 2048;
// What a verification costs grows with the square of it, and nobody uses more.
constexpr int kMaxRsaBits = 8192;
constexpr std::size_t kMaxKidBytes = 512;

using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, decltype(&OSSL_PARAM_BLD_free)>;

// A member's text; empty when it is not there or no text.
std::string TextIn(const JsonObject& object, std::string_view member) {
  const JsonValue* value = object.if_contains(member);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// An unsigned big-endian number.
Number NumberIn(const JsonObject& jwk, std::string_view member) {
  const auto bytes = DecodeBase64Url(TextIn(jwk, member));
  if (!bytes || bytes->empty() || bytes->size() > kMaxRsaBits / 8 + 1) {
    return {nullptr, BN_free};
  }
  return {BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes->data()),
                    static_cast<int>(bytes->size()), nullptr),
          BN_free};
}

// Whether each residue of `n` is a power of 65537: of chance moduli one in 2^27 is like that, of
// those that the broken library of CVE-2017-15361 made each is.
bool IsOfTheBrokenFamily(const BIGNUM* n) {
  constexpr std::array kPrimes = {3,   5,   7,   11,  13,  17,  19,  23,  29,  31,  37,  41,  43,
                                  47,  53,  59,  61,  67,  71,  73,  79,  83,  89,  97,  101, 103,
                                  107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167};
  return std::ranges::all_of(kPrimes, [n](int prime) {
    const auto residue = static_cast<int>(BN_mod_word(n, static_cast<BN_ULONG>(prime)));
    int power = 1;
    do {
      if (power == residue) {
        return true;
      }
      power = power * (65537 % prime) % prime;
    } while (power != 1);
    return false;
  });
}

bool IsSound(const BIGNUM* n, const BIGNUM* e) {
  const int bits = BN_num_bits(n);
  return bits >= kMinRsaBits && bits <= kMaxRsaBits && BN_is_odd(n) == 1 && BN_is_odd(e) == 1 &&
         BN_is_one(e) == 0 && BN_num_bits(e) <= 64 && !IsOfTheBrokenFamily(n);
}

// Null when OpenSSL refuses it, as it does a point that is not on the curve.
std::shared_ptr<EVP_PKEY> KeyOf(const char* type, OSSL_PARAM_BLD* builder) {
  const std::unique_ptr<OSSL_PARAM, decltype(&OSSL_PARAM_free)> parameters(
      OSSL_PARAM_BLD_to_param(builder), OSSL_PARAM_free);
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY* key = nullptr;
  if (parameters == nullptr || context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    ERR_clear_error();
    return nullptr;
  }
  return {key, EVP_PKEY_free};
}

std::shared_ptr<EVP_PKEY> RsaKey(const JsonObject& jwk) {
  const Number n = NumberIn(jwk, "n");
  const Number e = NumberIn(jwk, "e");
  if (n == nullptr || e == nullptr || !GUARD("jwt.sound-key", IsSound(n.get(), e.get()))) {
    return nullptr;
  }
  const Builder builder(OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free);
  if (OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return KeyOf("RSA", builder.get());
}

std::shared_ptr<EVP_PKEY> EcKey(const JsonObject& jwk, std::size_t coordinate_bytes) {
  const auto x = DecodeBase64Url(TextIn(jwk, "x"));
  const auto y = DecodeBase64Url(TextIn(jwk, "y"));
  if (!x || !y || x->size() != coordinate_bytes || y->size() != coordinate_bytes) {
    return nullptr;
  }
  const std::string point = "\x04" + *x + *y;
  const std::string curve = TextIn(jwk, "crv");
  const Builder builder(OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free);
  if (OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve.c_str(),
                                      0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return nullptr;
  }
  return KeyOf("EC", builder.get());
}

// Whether the key may verify signatures, as far as it says what it is for.
bool IsForSignatures(const JsonObject& jwk) {
  if (const JsonValue* use = jwk.if_contains("use"); use != nullptr && *use != "sig") {
    return false;
  }
  const JsonValue* operations = jwk.if_contains("key_ops");
  if (operations == nullptr) {
    return true;
  }
  const JsonArray* list = operations->if_array();
  return list != nullptr &&
         std::ranges::any_of(*list, [](const JsonValue& one) { return one == "verify"; });
}

}  // namespace

std::optional<VerificationKey> VerificationKey::Make(const JsonObject& jwk) {
  const std::string kid = TextIn(jwk, "kid");
  const std::string alg = TextIn(jwk, "alg");
  const bool known_alg = !jwk.contains("alg") || FindSignatureAlgorithm(alg).has_value();
  if (!IsForSignatures(jwk) || !known_alg || kid.size() > kMaxKidBytes) {
    return std::nullopt;
  }
  const std::string kty = TextIn(jwk, "kty");
  std::string type = kty == "EC" ? TextIn(jwk, "crv") : kty;
  std::shared_ptr<EVP_PKEY> key;
  if (kty == "RSA") {
    key = RsaKey(jwk);
  } else if (kty == "EC" && (type == "P-256" || type == "P-384")) {
    key = EcKey(jwk, CoordinateBytes(type));
  }
  if (key == nullptr) {
    return std::nullopt;
  }
  return VerificationKey(kid, alg, std::move(type), std::move(key));
}

bool VerificationKey::Fits(SignatureAlgorithm algorithm) const {
  const AlgorithmFacts& facts = FactsOf(algorithm);
  return type_ == facts.key_type && (alg_.empty() || alg_ == facts.name);
}

bool VerificationKey::Verify(SignatureAlgorithm algorithm, std::string_view message,
                             std::string_view signature) const {
  return GUARD("jwt.key-fits", Fits(algorithm)) &&
         VerifySignature(key_.get(), algorithm, message, signature);
}

absl::StatusOr<KeySet> KeySet::Parse(std::string_view text) {
  const JsonParse parsed = ParseJson(text);
  const JsonObject* object = parsed.ok() ? parsed.value->if_object() : nullptr;
  const JsonValue* keys = object == nullptr ? nullptr : object->if_contains("keys");
  if (keys == nullptr || !keys->is_array()) {
    return absl::InvalidArgumentError("no key set: an object with an array `keys` is expected");
  }
  if (keys->get_array().size() > kMaxKeys) {
    return absl::InvalidArgumentError(absl::StrFormat("a key set of more than %d keys", kMaxKeys));
  }
  KeySet set;
  for (const JsonValue& jwk : keys->get_array()) {
    if (!jwk.is_object()) {
      return absl::InvalidArgumentError("a key that is no object");
    }
    if (auto key = VerificationKey::Make(jwk.get_object())) {
      set.keys_.push_back(*std::move(key));
    }
  }
  if (set.keys_.empty()) {
    return absl::InvalidArgumentError(
        "no key for signatures: RSA of 2048 bits or more, P-256 and P-384 are taken");
  }
  return set;
}

void KeySet::Add(const KeySet& other) {
  keys_.insert(keys_.end(), other.keys_.begin(), other.keys_.end());
}

}  // namespace api
