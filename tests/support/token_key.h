// TokenKey: a key pair that signs tokens, as an issuer has it.
//
//   const TokenKey key = TokenKey::Make("ES256", "k1");
//   key.Token(R"({"iss":"https://issuer.example","exp":4102444800})");
//   KeySetText({&key});   // {"keys":[...]}

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct evp_pkey_st;

namespace support {

// Immutable, so thread-safe. Making an RSA key takes a tenth of a second or so.
class TokenKey {
 public:
  // `algorithm`: RS256, RS384, RS512, PS256, ES256 or ES384.
  static TokenKey Make(std::string algorithm, std::string kid, int rsa_bits = 2048);

  // The public key as JSON, with kid, use and, unless told not to, alg.
  std::string Jwk(bool with_alg = true) const;

  // A token with these claims: header with alg and kid.
  std::string Token(std::string_view claims) const;
  // Header and payload as given, signed with this key; `algorithm` where it is not the key's own.
  std::string Sign(std::string_view header, std::string_view payload,
                   std::string_view algorithm = "") const;

  const std::string& kid() const { return kid_; }

 private:
  TokenKey() = default;
  std::string SignatureOf(std::string_view text, std::string_view algorithm) const;

  std::string algorithm_;
  std::string kid_;
  std::shared_ptr<evp_pkey_st> key_;
};

std::string KeySetText(const std::vector<const TokenKey*>& keys);

}  // namespace support
