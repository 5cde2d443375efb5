#include "engine/base/sha256.h"

#include <openssl/evp.h>

#include "engine/base/check.h"

namespace engine {
namespace {

// Fetching an algorithm looks it up by name in every provider, which costs more than hashing a
// short text; so it is done once. The object lives for ever.
const EVP_MD* Algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  ENGINE_CHECK(algorithm != nullptr);
  return algorithm;
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  ENGINE_CHECK(context_ != nullptr);
  ENGINE_CHECK(EVP_DigestInit_ex2(context_, Algorithm(), nullptr) == 1);
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(context_);
}

void Sha256::Update(std::string_view bytes) {
  ENGINE_CHECK(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::Finish() {
  std::string hash(32, '\0');
  unsigned size = 0;
  ENGINE_CHECK(EVP_DigestFinal_ex(context_, reinterpret_cast<unsigned char*>(hash.data()), &size) ==
               1);
  ENGINE_CHECK(size == hash.size());
  return hash;
}

std::string Sha256Of(std::string_view bytes) {
  Sha256 sha;
  sha.Update(bytes);
  return sha.Finish();
}

}  // namespace engine
