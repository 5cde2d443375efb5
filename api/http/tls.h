// TLS for listeners: what a connection's bytes are made of, and nothing of sockets.
//
// TLS 1.2 and 1.3, no client certificates. Certificates can be replaced while connections are open.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <absl/status/statusor.h>

#include "engine/base/mutex.h"

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

// Thread-safe. Load and Refresh read files.
class TlsContext {
 public:
  // Fails with kFailedPrecondition and the file: not there, not PEM, a key of another certificate.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Load(const TlsFiles& files);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Null when memory is short.
  std::unique_ptr<TlsSession> Accept() const;

  // Reads the files again if they are others than before; whether they were. Connections that are
  // open keep what they have. Fails as Load does; then what was stays, and the next call tries
  // again.
  absl::StatusOr<bool> Refresh();

  const TlsFiles& files() const { return files_; }

 private:
  TlsContext(TlsFiles files, ssl_ctx_st* context, std::uint64_t contents)
      : files_(std::move(files)), context_(context), contents_(contents) {}

  const TlsFiles files_;
  mutable engine::Mutex mutex_;
  ssl_ctx_st* context_ ABSL_GUARDED_BY(mutex_);
  // A checksum of both files, as they were read.
  std::uint64_t contents_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace api
