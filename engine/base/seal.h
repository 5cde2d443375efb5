// Seal: tokens that only those who share a key can read or make.
//
// A token hides its text and cannot be forged or changed: AES-256-GCM, with a nonce that is an
// HMAC of purpose and text. So equal texts give equal tokens on every replica, and no two texts
// share a nonce. What is sealed for one purpose opens for no other.
//
// Thread-safe; never blocks.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

class Seal {
 public:
  static constexpr std::size_t kKeyBytes = 32;

  // REQUIRES: `key` has kKeyBytes bytes.
  explicit Seal(std::string_view key);

  // The token: letters, digits, `-` and `_` (base64url without padding).
  std::string Close(std::string_view purpose, std::string_view text) const;

  // The text; empty when the token was made with another key or for another purpose, or is none.
  std::optional<std::string> Open(std::string_view purpose, std::string_view token) const;

 private:
  std::string NonceOf(std::string_view purpose, std::string_view text) const;

  std::string cipher_key_;
  std::string nonce_key_;
};

// base64url without padding (RFC 4648, 5).
std::string ToBase64Url(std::string_view bytes);
// Empty for padding, other characters, an impossible length, or bits that a shorter text would not
// have: each text has one spelling.
std::optional<std::string> FromBase64Url(std::string_view text);

}  // namespace engine
