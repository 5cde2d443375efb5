// TLS for listeners: what a connection's bytes are made of, and nothing of sockets.
//
// TLS 1.2 and 1.3, no client certificates. Certificates are read once, at start.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

// Of OpenSSL.
struct ssl_st;
struct ssl_ctx_st;

namespace api {

struct TlsFiles {
  std::string cert_file;  // PEM: the server's certificate, then those that lead to a known one.
  std::string key_file;   // PEM, not encrypted.
};

// One connection. One thread; never blocks.
class TlsSession {
 public:
  explicit TlsSession(ssl_st* ssl);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  enum class State {
    kHandshake,  // Nothing can be sent yet.
    kOpen,
    kEnded,   // The peer has said that it sends no more.
    kBroken,  // What came is no TLS, or not from this peer.
  };

  // Takes bytes as they came and appends to `plain` what was in them.
  State Receive(std::string_view bytes, std::string& plain);
  // REQUIRES: the state was kOpen.
  void Send(std::string_view plain);
  // Says that nothing follows.
  void End();
  // What has to go to the peer now, in this order: of the handshake, of Send, of End.
  std::string TakeBytes();

 private:
  ssl_st* const ssl_;
};

// Thread-safe.
class TlsContext {
 public:
  // Fails with kFailedPrecondition and the file: not there, not PEM, a key of another certificate.
  static absl::StatusOr<std::shared_ptr<const TlsContext>> Load(const TlsFiles& files);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Null when memory is short.
  std::unique_ptr<TlsSession> Accept() const;

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  ssl_ctx_st* const context_;
};

}  // namespace api
