// What a connection does about TLS, where its listener has it.

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>

#include "api/http/transport_connection.h"

namespace api {

// Turns what was just read into what was in it. False: the connection is closed.
bool Connection::Decrypt(std::size_t size) {
  std::string plain;
  const TlsSession::State state = tls_->Receive({in_.data() + in_end_, size}, plain);
  if (state == TlsSession::State::kBroken) {
    EndTls();  // Which tells the peer why.
    Close();
    return false;
  }
  is_secure_ = is_secure_ || state == TlsSession::State::kOpen;
  if (in_.size() - in_end_ < plain.size()) {
    in_.resize(in_end_ + plain.size());
  }
  std::ranges::copy(plain, in_.begin() + static_cast<std::ptrdiff_t>(in_end_));
  in_end_ += plain.size();
  has_said_end_ = state == TlsSession::State::kEnded;
  return true;
}

// Turns what is on its way out, if that was not done yet, into the bytes that go; these begin with
// what the handshake has to say.
void Connection::Encrypt() {
  if (is_encrypted_) {
    return;
  }
  if (is_secure_) {
    tls_->Send(out_);
    tls_->Send(tail_);
  }
  out_ = tls_->TakeBytes();
  tail_ = std::string();
  is_encrypted_ = !out_.empty();
}

// Says that nothing follows. What the kernel does not take at once is left unsaid.
void Connection::EndTls() {
  if (tls_ == nullptr || is_writing_) {
    return;
  }
  tls_->End();
  const std::string bytes = tls_->TakeBytes();
  boost::system::error_code ignored;
  if (!bytes.empty()) {
    socket_.write_some(asio::buffer(bytes), ignored);
  }
}

}  // namespace api
