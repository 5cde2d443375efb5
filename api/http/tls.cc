#include "api/http/tls.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <fstream>
#include <iterator>

#include <absl/strings/str_format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "engine/base/checksum.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// Why the last call failed, in words; nothing of it is left behind for the next one.
std::string LastError() {
  const unsigned long code = ERR_get_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "unreadable" : reason;
}

absl::Status Refused(const std::string& file) {
  return absl::FailedPreconditionError(absl::StrFormat("%s: %s", file, LastError()));
}

// The one protocol that is spoken here; a client that offers others only gets none chosen.
int ChooseProtocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length,
                   const unsigned char* in, unsigned int in_length, void* /*unused*/) {
  static constexpr unsigned char kHttp[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int found =
      SSL_select_next_proto(&chosen, out_length, kHttp, sizeof(kHttp) - 1, in, in_length);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// Empty text for a file that cannot be read: OpenSSL says why.
std::uint64_t ChecksumOf(const TlsFiles& files) {
  std::string text;
  for (const std::string& name : {files.cert_file, files.key_file}) {
    std::ifstream file(name, std::ios::binary);
    text.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    text += '\0';
  }
  return engine::Checksum64(text);
}

absl::StatusOr<SSL_CTX*> MakeContext(const TlsFiles& files) {
  ERR_clear_error();
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                       SSL_CTX_free);
  SSL_CTX* const raw = context.get();
  if (raw == nullptr) {
    return absl::ResourceExhaustedError("no memory for TLS");
  }
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(raw, ChooseProtocol, nullptr);
  if (SSL_CTX_use_certificate_chain_file(raw, files.cert_file.c_str()) != 1) {
    return Refused(files.cert_file);
  }
  if (SSL_CTX_use_PrivateKey_file(raw, files.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(raw) != 1) {
    return Refused(files.key_file);
  }
  return context.release();
}

}  // namespace

TlsSession::TlsSession(ssl_st* ssl) : ssl_(ssl) {}

TlsSession::~TlsSession() {
  SSL_free(ssl_);
}

TlsSession::State TlsSession::Receive(std::string_view bytes, std::string& plain) {
  ERR_clear_error();
  while (!bytes.empty()) {
    const auto size = static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX));
    const int taken = BIO_write(SSL_get_rbio(ssl_), bytes.data(), size);
    if (taken <= 0) {
      return State::kBroken;
    }
    bytes.remove_prefix(static_cast<std::size_t>(taken));
  }
  std::array<char, 16384> part;
  for (;;) {
    // Makes the handshake too, for as long as it is not done.
    const int got = SSL_read(ssl_, part.data(), static_cast<int>(part.size()));
    if (got > 0) {
      plain.append(part.data(), static_cast<std::size_t>(got));
      continue;
    }
    switch (SSL_get_error(ssl_, got)) {
      case SSL_ERROR_WANT_READ:
        return SSL_is_init_finished(ssl_) == 1 ? State::kOpen : State::kHandshake;
      case SSL_ERROR_ZERO_RETURN:
        return State::kEnded;
      default:
        ERR_clear_error();
        return State::kBroken;
    }
  }
}

void TlsSession::Send(std::string_view plain) {
  while (!plain.empty()) {
    const auto size = static_cast<int>(std::min<std::size_t>(plain.size(), INT_MAX));
    // A BIO in memory takes everything.
    const int sent = SSL_write(ssl_, plain.data(), size);
    if (sent <= 0) {
      ERR_clear_error();
      return;
    }
    plain.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void TlsSession::End() {
  if (SSL_is_init_finished(ssl_) == 1) {
    SSL_shutdown(ssl_);
    ERR_clear_error();
  }
}

std::string TlsSession::TakeBytes() {
  BIO* const bio = SSL_get_wbio(ssl_);
  std::string bytes(BIO_ctrl_pending(bio), '\0');
  if (!bytes.empty()) {
    BIO_read(bio, bytes.data(), static_cast<int>(bytes.size()));
  }
  return bytes;
}

// The checksum is taken first: what changes while it is read is read again by the next Refresh.
absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::Load(const TlsFiles& files) {
  const std::uint64_t contents = ChecksumOf(files);
  ASSIGN_OR_RETURN(SSL_CTX * context, MakeContext(files));
  return std::shared_ptr<TlsContext>(new TlsContext(files, context, contents));
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

absl::StatusOr<bool> TlsContext::Refresh() {
  const std::uint64_t contents = ChecksumOf(files_);
  {
    engine::MutexLock lock(mutex_);
    if (contents == contents_) {
      return false;
    }
  }
  ASSIGN_OR_RETURN(SSL_CTX * context, MakeContext(files_));
  engine::MutexLock lock(mutex_);
  // Sessions hold what they were made from.
  SSL_CTX_free(std::exchange(context_, context));
  contents_ = contents;
  return true;
}

std::unique_ptr<TlsSession> TlsContext::Accept() const {
  SSL* ssl = nullptr;
  {
    engine::MutexLock lock(mutex_);
    ssl = SSL_new(context_);
  }
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  if (ssl == nullptr || in == nullptr || out == nullptr) {
    SSL_free(ssl);
    BIO_free(in);
    BIO_free(out);
    return nullptr;
  }
  SSL_set_bio(ssl, in, out);  // Both are the session's now.
  SSL_set_accept_state(ssl);
  return std::make_unique<TlsSession>(ssl);
}

}  // namespace api
