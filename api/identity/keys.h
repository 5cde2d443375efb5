// KeySet: the public keys that an issuer signs with (RFC 7517).
//
//   ASSIGN_OR_RETURN(KeySet keys, KeySet::Parse(text));   // {"keys": [{"kty": "RSA", ...}]}
//   for (const VerificationKey& key : keys.keys()) { key.Verify(algorithm, message, signature); }

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "api/json/parser.h"

struct evp_pkey_st;

namespace api {

// What tokens may be signed with. Nothing that needs a shared secret, and never nothing at all.
enum class SignatureAlgorithm { kRs256, kRs384, kRs512, kPs256, kEs256, kEs384 };

// Of `RS256` and so on, exactly as written; empty: none of them.
std::optional<SignatureAlgorithm> FindSignatureAlgorithm(std::string_view name);

// Immutable, so thread-safe; never blocks.
class VerificationKey {
 public:
  // Empty when the key cannot verify signatures of ours: another type or curve, for encryption,
  // broken, or too weak (RSA below 2048 bits, an even exponent or 1, or a modulus of the family
  // that CVE-2017-15361 factors).
  static std::optional<VerificationKey> Make(const JsonObject& jwk);

  // Empty: it has none.
  const std::string& kid() const { return kid_; }

  // Whether the key is for signatures of that kind: its type and curve, and its `alg` if it has
  // one.
  bool Fits(SignatureAlgorithm algorithm) const;

  // False also where the key does not fit.
  bool Verify(SignatureAlgorithm algorithm, std::string_view message,
              std::string_view signature) const;

 private:
  VerificationKey(std::string kid, std::string alg, std::string type,
                  std::shared_ptr<evp_pkey_st> key)
      : kid_(std::move(kid)), alg_(std::move(alg)), type_(std::move(type)), key_(std::move(key)) {}

  std::string kid_;
  std::string alg_;   // Empty: it does not say.
  std::string type_;  // `RSA`, `P-256`, `P-384`.
  std::shared_ptr<evp_pkey_st> key_;
};

// Immutable, so thread-safe; never blocks.
class KeySet {
 public:
  KeySet() = default;

  // At most 256 keys. Keys that VerificationKey refuses are left out: issuers publish those that
  // others need, too. Fails with kInvalidArgument when it is no key set, or has none for us.
  static absl::StatusOr<KeySet> Parse(std::string_view text);

  const std::vector<VerificationKey>& keys() const { return keys_; }
  // The keys of both.
  void Add(const KeySet& other);

 private:
  std::vector<VerificationKey> keys_;
};

}  // namespace api
