#include "api/http/transport_connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include "api/http/gzip.h"
#include "api/http/trace.h"
#include "api/http/transport_answer.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"

namespace api {
namespace {

constexpr std::size_t kFirstBuffer = 4096;
// Pipelined input that is kept while an answer is awaited, and what a read takes at most.
constexpr std::size_t kMoreThanHead = std::size_t{32} << 10;
// Answers to pipelined requests are gathered up to this size.
constexpr std::size_t kGather = std::size_t{64} << 10;
// Bodies up to this size are copied behind their head; larger ones are sent from where they are.
constexpr std::size_t kSmallBody = std::size_t{16} << 10;
// How long a closed connection is read on, so that the client gets the answer and no reset.
constexpr engine::Duration kLingerTime = std::chrono::seconds(2);

std::optional<std::string_view> FindHeader(const RequestParts& parts, std::string_view name) {
  for (const HeaderField& field : parts.headers) {
    if (EqualsIgnoreCase(field.name, name)) {
      return field.value;
    }
  }
  return std::nullopt;
}

std::string AddressOf(const TcpSocket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? "" : ShowEndpoint(endpoint);
}

}  // namespace

// ---- Exchange -----------------------------------------------------------------------------------

Exchange::Exchange(std::shared_ptr<TransportCore> core, std::weak_ptr<Connection> connection,
                   std::shared_ptr<Request> request)
    : core_(std::move(core)), connection_(std::move(connection)), request_(std::move(request)) {}

void Exchange::Deliver(std::optional<Response> response) {
  if (core_->OnIoThread()) {
    if (const auto connection = connection_.lock()) {
      connection->OnAnswer(*this, std::move(response));
    }
    return;
  }
  // The connection belongs to the I/O thread: not even its last reference may end here.
  core_->Post([self = shared_from_this(), response = std::move(response)]() mutable {
    if (const auto connection = self->connection_.lock()) {
      connection->OnAnswer(*self, std::move(response));
    }
  });
}

// ---- Life ---------------------------------------------------------------------------------------

Connection::Connection(TransportCore& core, const Router& router, TcpSocket socket,
                       std::unique_ptr<TlsSession> tls)
    : core_(core),
      router_(router),
      socket_(std::move(socket)),
      remote_address_(AddressOf(socket_)),
      tls_(std::move(tls)) {}

void Connection::Start() {
  arrival_ = core_.Now();
  SetWait(tls_ == nullptr ? Wait::kIdle : Wait::kHandshake);
  Read();
}

void Connection::SetWait(Wait wait) {
  const TransportOptions& options = core_.options();
  wait_ = wait;
  switch (wait) {
    case Wait::kIdle:
      wait_until_ = core_.Now() + options.idle_timeout;
      break;
    case Wait::kHandshake:
    case Wait::kHead:
      wait_until_ = arrival_ + options.head_timeout;
      break;
    case Wait::kBody:
      wait_until_ = arrival_ + options.read_timeout;
      break;
    case Wait::kAnswer:
      // The handler has the request's deadline.
      wait_until_ = engine::Duration::max();
      break;
    case Wait::kWrite:
      wait_until_ = core_.Now() + options.write_timeout;
      break;
    case Wait::kLinger:
      wait_until_ = core_.Now() + kLingerTime;
      break;
  }
}

void Connection::OnTick(engine::Duration now) {
  Pump();
  if (now < wait_until_ || is_closed_) {
    return;
  }
  if (wait_ == Wait::kHead || wait_ == Wait::kBody) {
    Refuse(Refusal::kTimeout, "The request came too slowly");
    Flush();
  } else {
    Close();
  }
}

void Connection::Drain() {
  if (source_ != nullptr) {
    source_->End();
    return Pump();
  }
  const bool is_idle = exchange_ == nullptr && !is_writing_ && !parser_ && in_begin_ == in_end_;
  if (is_idle && !is_settled_) {
    Close();
  }
}

void Connection::CutOff() {
  engine::Log(engine::Severity::kWarning, "a client that is too slow was cut off",
              {{"remote_address", remote_address_}, {"unsent_bytes", unsent_}});
  Close();
}

// Only what has to wait: what the kernel takes at once never adds up.
void Connection::CountUnsent() {
  std::size_t now = 0;
  if (is_writing_ && !is_closed_) {
    now = out_.size() + tail_.size() - written_ + (answer_ ? answer_->body.size() : 0);
  }
  core_.CountUnsent(std::exchange(unsent_, now), now);
}

void Connection::Close() {
  if (is_closed_) {
    return;
  }
  EndTls();
  Abort();
  core_.Forget(shared_from_this());
}

void Connection::Abort() {
  is_closed_ = true;
  EndStream();
  CountUnsent();
  if (exchange_ != nullptr) {
    exchange_->SetGone();
    exchange_.reset();
  }
  answer_.reset();  // What its body comes from may end before the transport does.
  Unpark();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

// The last answer is on its way: say so to the client and wait until it closes.
void Connection::Linger() {
  if (has_ended_) {
    return Close();
  }
  EndTls();
  boost::system::error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  if (error) {
    return Close();
  }
  SetWait(Wait::kLinger);
  in_begin_ = in_end_ = 0;
  if (!is_settled_) {
    is_settled_ = true;
    core_.Settled();
  }
  Read();
}

// ---- Reading ------------------------------------------------------------------------------------

void Connection::MakeRoom() {
  if (in_begin_ == in_end_) {
    in_begin_ = in_end_ = 0;
    if (parser_ == std::nullopt && in_.size() > 2 * kFirstBuffer) {
      in_ = std::string();  // An idle connection holds little.
    }
  }
  if (in_begin_ > 0 && in_.size() - in_end_ < kFirstBuffer / 2) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  const std::size_t most = core_.options().max_head + kMoreThanHead;
  if (wait_ == Wait::kBody) {
    in_.resize(most);
  } else if (in_.size() - in_end_ < kFirstBuffer / 2) {
    in_.resize(std::min(most, std::max(kFirstBuffer, 2 * in_.size())));
  }
}

void Connection::Read() {
  if (is_reading_ || is_closed_ || has_ended_) {
    return;
  }
  MakeRoom();
  if (in_end_ == in_.size()) {
    return;  // Full of pipelined requests: read on when one of them has been answered.
  }
  is_reading_ = true;
  socket_.async_read_some(
      asio::buffer(in_.data() + in_end_, in_.size() - in_end_),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t size) {
        self->OnRead(error, size);
      });
}

void Connection::OnRead(const boost::system::error_code& error, std::size_t size) {
  is_reading_ = false;
  if (is_closed_) {
    return;
  }
  if (error == asio::error::eof) {
    return OnEnd();
  }
  if (error) {
    return Close();
  }
  if (wait_ == Wait::kLinger) {
    return Read();  // Over what came before: nobody looks at it.
  }
  if (tls_ == nullptr) {
    in_end_ += size;
  } else if (!Decrypt(size)) {
    return;
  }
  Advance();
  if (has_said_end_ && !has_ended_ && !is_closed_) {
    OnEnd();
  }
}

// The client sends no more. It may still read, so what is in flight is answered; but nobody can
// tell that from a client that is gone, so the place it takes is given back.
void Connection::OnEnd() {
  has_ended_ = true;
  if (exchange_ != nullptr) {
    exchange_->SetGone();
    Unpark();
  } else if (source_ == nullptr && is_writing_) {
    is_closing_ = true;
  } else {
    Close();
  }
}

bool Connection::MayParse() const {
  return exchange_ == nullptr && source_ == nullptr && !is_writing_ && !is_closing_ && !is_closed_;
}

// Goes as far as possible: parses, dispatches, writes, reads.
void Connection::Advance() {
  while (MayParse() && ParseOne()) {
    if (out_.size() > kGather || !tail_.empty()) {
      Flush();
    }
  }
  Flush();
  Pump();
  if (is_closed_ || is_settled_) {
    return;
  }
  if (MayParse() && !parser_) {
    if (has_ended_ || core_.draining()) {
      return Close();
    }
    SetWait(tls_ == nullptr || is_secure_ ? Wait::kIdle : Wait::kHandshake);
  } else if (MayParse() && has_ended_) {
    return Close();  // In the middle of a request.
  }
  Read();
}

// Returns false when more bytes are needed.
bool Connection::ParseOne() {
  if (!parser_) {
    if (in_begin_ == in_end_) {
      return false;
    }
    parser_.emplace(WireLimits{core_.options().max_head, core_.options().max_body});
    sent_continue_ = false;
    arrival_ = core_.Now();
    SetWait(Wait::kHead);
  }
  in_begin_ += parser_->Feed(std::string_view(in_).substr(in_begin_, in_end_ - in_begin_));
  switch (parser_->state()) {
    case WireParser::State::kComplete:
      Dispatch();
      return true;
    case WireParser::State::kRefused:
      Refuse(parser_->refusal(), parser_->refusal_detail());
      return true;
    case WireParser::State::kBody:
      SetWait(Wait::kBody);
      if (parser_->expects_continue() && !std::exchange(sent_continue_, true)) {
        out_ += "HTTP/1.1 100 Continue\r\n\r\n";
      }
      return false;
    case WireParser::State::kHead:
      break;
  }
  return false;
}

// ---- Answering ----------------------------------------------------------------------------------

void Connection::Dispatch() {
  keeps_alive_ = parser_->keeps_alive();
  is_http_1_0_ = parser_->is_http_1_0();
  RequestParts parts = parser_->TakeParts();
  parser_.reset();
  parts.remote_address = remote_address_;
  parts.id = RequestId(FindHeader(parts, "X-Request-ID"), core_.random());
  parts.deadline = engine::Deadline::After(core_.options().request_timeout, core_.clock());
  const auto request = std::make_shared<Request>(std::move(parts));
  exchange_ = std::make_shared<Exchange>(core_.shared_from_this(), weak_from_this(), request);
  is_answered_ = false;
  was_full_ = !GUARD("http.max_queue", !core_.IsFull());
  is_dispatching_ = true;
  router_.Dispatch(request, Responder(exchange_), was_full_);
  is_dispatching_ = false;
  if (is_answered_) {
    return FinishExchange();
  }
  is_parked_ = true;
  core_.CountPark();
  SetWait(Wait::kAnswer);
}

void Connection::OnAnswer(const Exchange& exchange, std::optional<Response> response) {
  if (is_closed_ || exchange_.get() != &exchange) {
    return;
  }
  is_answered_ = true;
  answer_ = std::move(response);
  if (is_writing_) {
    CountUnsent();  // It waits for the answers before it.
  } else if (!is_dispatching_) {
    FinishExchange();
    Advance();
  }
}

void Connection::FinishExchange() {
  const std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
  Unpark();
  const Request& request = *exchange->request();
  if (!answer_) {
    if (!exchange->Gone()) {
      engine::Log(engine::Severity::kError, "request was not answered",
                  {{"method", request.method_name()},
                   {"path", request.path()},
                   {"request_id", request.id()},
                   {"trace_id", TraceIdOf(request)}});
    }
    answer_ = router_.Refuse(request, Refusal::kUnanswered, "The request was not answered");
  }
  Render(request, *std::exchange(answer_, std::nullopt));
}

void Connection::Unpark() {
  if (std::exchange(is_parked_, false)) {
    core_.CountUnpark();
  }
}

// What is wrong with the request came to light before a handler had it; what follows it on the
// wire cannot be told from it any more.
void Connection::Refuse(Refusal refusal, std::string detail) {
  is_http_1_0_ = parser_->is_http_1_0();
  RequestParts parts = parser_->TakeParts();
  parser_.reset();
  parts.remote_address = remote_address_;
  parts.id = RequestId(FindHeader(parts, "X-Request-ID"), core_.random());
  const Request request(std::move(parts));
  was_full_ = false;
  keeps_alive_ = false;
  Render(request, router_.Refuse(request, refusal, std::move(detail)));
}

void Connection::Render(const Request& request, Response response) {
  keeps_alive_ = keeps_alive_ && !core_.draining() && response.source == nullptr;
  is_closing_ = !keeps_alive_;
  CompressFor(request, response);
  AppendAnswerHead(request, response,
                   {.date = core_.date(),
                    .common_headers = router_.FamilyOf(request.path()).common_headers,
                    .keeps_alive = keeps_alive_,
                    .is_http_1_0 = is_http_1_0_},
                   out_);
  if (AnswerHasBody(request, response.status)) {
    if (response.source != nullptr) {
      BeginStream(std::move(response.source));
    } else if (response.body.size() <= kSmallBody) {
      out_ += response.body;
    } else {
      tail_ = std::move(response.body);
    }
  }
  core_.CountAnswer(was_full_ && response.status == RefusalStatus(Refusal::kOverloaded));
  if (router_.observer()) {
    const std::chrono::duration<double> seconds = core_.Now() - arrival_;
    router_.observer()(request, response.status, seconds.count());
  }
}

// ---- Writing ------------------------------------------------------------------------------------

// Tries at once; only what the kernel does not take now is waited for.
void Connection::Flush() {
  if (is_writing_ || is_closed_) {
    return;
  }
  if (tls_ != nullptr) {
    Encrypt();
  }
  const std::size_t total = out_.size() + tail_.size();
  if (total > 0) {
    const std::size_t from_out = std::min(written_, out_.size());
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(out_) + from_out,
                                                       asio::buffer(tail_) + (written_ - from_out)};
    boost::system::error_code error;
    written_ += socket_.write_some(buffers, error);
    if (error && error != asio::error::would_block && error != asio::error::try_again) {
      return Close();
    }
    if (written_ < total) {
      is_writing_ = true;
      SetWait(Wait::kWrite);
      CountUnsent();
      if (is_closed_) {
        return;  // It was the slowest.
      }
      socket_.async_wait(TcpSocket::wait_write,
                         [self = shared_from_this()](const boost::system::error_code& failed) {
                           self->OnWritable(failed);
                         });
      return;
    }
    out_.clear();
    tail_ = std::string();
    written_ = 0;
    is_encrypted_ = false;
    CountUnsent();
  }
  if (is_closing_ && !is_settled_ && source_ == nullptr) {
    Linger();
  }
}

void Connection::OnWritable(const boost::system::error_code& error) {
  is_writing_ = false;
  if (is_closed_) {
    return;
  }
  if (error) {
    return Close();
  }
  Flush();
  if (is_writing_ || is_closed_ || is_settled_) {
    return;
  }
  if (exchange_ != nullptr) {
    SetWait(Wait::kAnswer);
    if (is_answered_) {
      FinishExchange();
    }
  } else if (source_ != nullptr) {
    SetWait(Wait::kAnswer);
  }
  Advance();
}

}  // namespace api
