#include "engine/base/seal.h"

#include <cstdint>
#include <memory>

#include <openssl/evp.h>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/sha256.h"

namespace engine {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

// Fetched once, as in sha256.cc. The object lives for ever.
const EVP_CIPHER* Algorithm() {
  static const EVP_CIPHER* const algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  ENGINE_CHECK(algorithm != nullptr);
  return algorithm;
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

// A context that has taken key, nonce and purpose.
Context Begin(std::string_view key, std::string_view nonce, std::string_view purpose, bool closes) {
  Context context(EVP_CIPHER_CTX_new());
  ENGINE_CHECK(context != nullptr);
  ENGINE_CHECK(EVP_CipherInit_ex2(context.get(), Algorithm(), Bytes(key), Bytes(nonce),
                                  closes ? 1 : 0, nullptr) == 1);
  int size = 0;
  ENGINE_CHECK(EVP_CipherUpdate(context.get(), nullptr, &size, Bytes(purpose),
                                static_cast<int>(purpose.size())) == 1);
  return context;
}

std::string Update(EVP_CIPHER_CTX* context, std::string_view in) {
  std::string out(in.size(), '\0');
  int size = 0;
  ENGINE_CHECK(
      EVP_CipherUpdate(context, Bytes(out), &size, Bytes(in), static_cast<int>(in.size())) == 1);
  return out;
}

// HMAC-SHA256 (RFC 2104); `key` is as long as a hash.
std::string Hmac(std::string_view key, std::string_view text) {
  constexpr std::size_t kBlockBytes = 64;
  const auto padded = [&](char pad) {
    std::string block(key);
    block.resize(kBlockBytes, '\0');
    for (char& c : block) {
      c = static_cast<char>(c ^ pad);
    }
    return block;
  };
  return Sha256Of(padded('\x5c') + Sha256Of(padded('\x36') + std::string(text)));
}

int DigitOf(char c) {
  const std::size_t found = kDigits.find(c);
  return found == std::string_view::npos ? -1 : static_cast<int>(found);
}

}  // namespace

Seal::Seal(std::string_view key)
    : cipher_key_(Hmac(key, "halo seal: cipher")), nonce_key_(Hmac(key, "halo seal: nonce")) {
  ENGINE_CHECK(key.size() == kKeyBytes);
}

std::string Seal::NonceOf(std::string_view purpose, std::string_view text) const {
  std::string all;
  AppendU64(purpose.size(), all);
  all += purpose;
  all += text;
  return Hmac(nonce_key_, all).substr(0, kNonceBytes);
}

std::string Seal::Close(std::string_view purpose, std::string_view text) const {
  std::string sealed = NonceOf(purpose, text);
  const Context context = Begin(cipher_key_, sealed, purpose, true);
  sealed += Update(context.get(), text);
  std::string tag(kTagBytes, '\0');
  int size = 0;
  ENGINE_CHECK(EVP_CipherFinal_ex(context.get(), Bytes(tag), &size) == 1);
  ENGINE_CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) ==
               1);
  return ToBase64Url(sealed + tag);
}

std::optional<std::string> Seal::Open(std::string_view purpose, std::string_view token) const {
  const std::optional<std::string> sealed = FromBase64Url(token);
  if (!sealed || sealed->size() < kNonceBytes + kTagBytes) {
    return std::nullopt;
  }
  const std::string_view all(*sealed);
  const std::string_view nonce = all.substr(0, kNonceBytes);
  std::string tag(all.substr(all.size() - kTagBytes));
  const Context context = Begin(cipher_key_, nonce, purpose, false);
  std::string text =
      Update(context.get(), all.substr(kNonceBytes, all.size() - kNonceBytes - kTagBytes));
  ENGINE_CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) ==
               1);
  int size = 0;
  if (!GUARD("seal.tag", EVP_CipherFinal_ex(context.get(), Bytes(tag), &size) == 1)) {
    return std::nullopt;
  }
  return text;
}

std::string ToBase64Url(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    count += 8;
    while (count >= 6) {
      count -= 6;
      text += kDigits[(bits >> count) & 63];
    }
  }
  if (count > 0) {
    text += kDigits[(bits << (6 - count)) & 63];
  }
  return text;
}

std::optional<std::string> FromBase64Url(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = DigitOf(c);
    if (digit < 0) {
      return std::nullopt;
    }
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> count) & 0xFF);
    }
  }
  const bool is_exact = count < 6 && (bits & ((1U << count) - 1)) == 0;
  return is_exact ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace engine
