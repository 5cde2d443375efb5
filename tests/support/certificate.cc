#include "tests/support/certificate.h"

#include <memory>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace support {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Cert = std::unique_ptr<X509, decltype(&X509_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

std::string TextOf(BIO* bio) {
  std::string text(BIO_ctrl_pending(bio), '\0');
  BIO_read(bio, text.data(), static_cast<int>(text.size()));
  return text;
}

bool Fill(X509* cert, EVP_PKEY* key) {
  X509_set_version(cert, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
  X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
  X509_gmtime_adj(X509_getm_notAfter(cert), 24L * 3600);
  X509_set_pubkey(cert, key);
  X509_NAME* const name = X509_get_subject_name(cert);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(cert, name);
  X509_EXTENSION* const names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  const bool added = names != nullptr && X509_add_ext(cert, names, -1) == 1;
  X509_EXTENSION_free(names);
  return added && X509_sign(cert, key, EVP_sha256()) > 0;
}

}  // namespace

absl::StatusOr<Certificate> MakeCertificate() {
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Cert cert(X509_new(), X509_free);
  const Bio key_text(BIO_new(BIO_s_mem()), BIO_free);
  const Bio cert_text(BIO_new(BIO_s_mem()), BIO_free);
  if (key == nullptr || cert == nullptr || !Fill(cert.get(), key.get()) ||
      PEM_write_bio_X509(cert_text.get(), cert.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return absl::InternalError("OpenSSL made no certificate");
  }
  return Certificate{TextOf(cert_text.get()), TextOf(key_text.get())};
}

}  // namespace support
