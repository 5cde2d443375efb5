// Connection: one client's socket and the requests that come through it, one after the other.
// Part of the transport; nothing else includes it.
//
// A state machine of plain callbacks on the I/O thread. Nearly always one read is outstanding,
// also while a request is parked: that is how a client that goes away is noticed.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/http/response.h"
#include "api/http/tls.h"
#include "api/http/transport_core.h"
#include "api/http/transport_parser.h"

namespace api {

// One request and the right to answer it. Outlives connection and transport where a handler
// keeps its responder that long; the answer is dropped then.
class Exchange final : public AnswerSink, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<TransportCore> core, std::weak_ptr<Connection> connection,
           std::shared_ptr<Request> request);

  void Answer(Response response) override { Deliver(std::move(response)); }
  void Abandon() override { Deliver(std::nullopt); }
  bool Gone() const override { return gone_.load(std::memory_order_acquire); }
  void SetGone() { gone_.store(true, std::memory_order_release); }

  const std::shared_ptr<Request>& request() const { return request_; }

 private:
  void Deliver(std::optional<Response> response);

  std::shared_ptr<TransportCore> core_;
  std::weak_ptr<Connection> connection_;
  std::shared_ptr<Request> request_;
  std::atomic<bool> gone_{false};
};

// One thread (the I/O thread). What waits for its socket holds it, and the core holds what waits:
// so it does not own the core, which ends after it.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  // `tls`: null for a connection in the clear.
  Connection(TransportCore& core, const Router& router, TcpSocket socket,
             std::unique_ptr<TlsSession> tls);

  void Start();
  // From the exchange. An empty response means that the handler dropped its responder.
  void OnAnswer(const Exchange& exchange, std::optional<Response> response);
  // Closes what has waited too long. Called about once a second.
  void OnTick(engine::Duration now);
  // Closes now when idle, else after the answer in flight.
  void Drain();
  // The transport is gone: no callback follows.
  void Abort();
  bool is_settled() const { return is_settled_; }
  // Bytes of answers that wait for the client to take others.
  std::size_t unsent() const { return unsent_; }
  // When it is closed unless something happens; while it writes, the earlier the longer the client
  // has taken nothing.
  engine::Duration waits_until() const { return wait_until_; }
  // Closes: its client is slow, and the memory is wanted.
  void CutOff();

 private:
  enum class Wait { kHandshake, kIdle, kHead, kBody, kAnswer, kWrite, kLinger };

  void Read();
  void OnRead(const boost::system::error_code& error, std::size_t size);
  void OnEnd();
  void MakeRoom();
  void Advance();
  bool MayParse() const;
  bool ParseOne();
  void Dispatch();
  // `detail` by value: it mostly comes from the parser, which ends here.
  void Refuse(Refusal refusal, std::string detail);
  void FinishExchange();
  void Unpark();
  void Render(const Request& request, Response response);
  void Flush();
  void OnWritable(const boost::system::error_code& error);
  void BeginStream(std::shared_ptr<BodySource> source);
  void EndStream();
  void Pump();
  void Linger();
  void CountUnsent();
  void Close();
  void SetWait(Wait wait);
  // transport_tls.cc.
  bool Decrypt(std::size_t size);
  void Encrypt();
  void EndTls();

  TransportCore& core_;
  const Router& router_;
  TcpSocket socket_;
  std::string remote_address_;
  const std::unique_ptr<TlsSession> tls_;
  bool is_secure_ = false;     // The handshake is done.
  bool is_encrypted_ = false;  // `out_` holds bytes as they go over the wire.
  bool has_said_end_ = false;  // The peer has announced its last byte.

  std::string in_;  // Bytes read are those from `in_begin_` to `in_end_`.
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  std::optional<WireParser> parser_;  // Of the request that is coming in.
  engine::Duration arrival_{};        // When its first byte came; before that, the connection.

  std::shared_ptr<Exchange> exchange_;  // Of the request that is being answered.
  bool is_answered_ = false;            // Its answer has come; empty when it was dropped.
  std::optional<Response> answer_;
  bool is_dispatching_ = false;
  bool is_parked_ = false;
  bool was_full_ = false;  // Whether there was no room to park it.
  bool keeps_alive_ = true;
  bool is_http_1_0_ = false;

  std::shared_ptr<BodySource> source_;  // Of the answer that is being sent piece by piece.

  std::string out_;          // Heads and small bodies on their way out.
  std::string tail_;         // A large body, sent after `out_` without a copy.
  std::size_t written_ = 0;  // Of both together.
  std::size_t unsent_ = 0;   // What the core knows of.

  Wait wait_ = Wait::kIdle;
  engine::Duration wait_until_{};
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool sent_continue_ = false;
  bool has_ended_ = false;   // The client has sent its last byte.
  bool is_closing_ = false;  // After what is on its way out.
  bool is_settled_ = false;
  bool is_closed_ = false;
};

}  // namespace api
