// Response and Responder: an answer, and the one-shot right to give it.
//
// A handler gets a Responder and may answer at once, or keep it (move it into a waiter of the
// coalescer or a command of the committer) and answer later from any thread. A request that waits
// so is parked: it costs memory, never a thread.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/http/request.h"

namespace api {

// A body that comes piece by piece and has no end yet: server-sent events. A connection that has
// one is not parked and takes no further requests.
class BodySource {
 public:
  virtual ~BodySource() = default;

  struct Piece {
    std::string bytes;
    bool is_last = false;  // Nothing follows: the connection closes.
  };

  // Called once, before the first Next. `wake`, from any thread and at any time, also after the
  // connection has ended, makes Next be called soon.
  virtual void Start(std::function<void()> wake) = 0;
  // What comes next; empty: nothing at present. Called on the I/O thread when the client has taken
  // what came before, after `wake`, and about once a second. Must not block. Bytes are not kept
  // for clients that do not take them: a source is not asked then.
  virtual Piece Next() = 0;
  // The server is going down: what Next gives from now on should soon be the last.
  virtual void End() = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";  // Empty: no Content-Type header.
  // Further headers. The transport itself writes Content-Length, Connection, Date and
  // X-Request-ID: never put those here. A name or value with a CR, LF or NUL is left out.
  std::vector<HeaderField> headers;
  std::string body;
  // Not null: the body is what this gives; `body` is empty.
  std::shared_ptr<BodySource> source = nullptr;

  Response& With(std::string name, std::string value) {
    headers.push_back({std::move(name), std::move(value)});
    return *this;
  }
};

Response JsonResponse(int status, std::string body);
Response TextResponse(int status, std::string body);

// Where an answer goes. The transport has one for each request; tests have their own.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  // Called at most once, from any thread; must not block.
  virtual void Answer(Response response) = 0;
  // Called instead when the responder was dropped: the transport answers 500.
  virtual void Abandon() = 0;
  // Whether nobody waits for the answer any more (the client went away). From any thread.
  virtual bool Gone() const { return false; }
};

// Move-only. Thread-compatible: one thread at a time owns it. Never blocks.
class Responder {
 public:
  explicit Responder(std::shared_ptr<AnswerSink> sink) : sink_(std::move(sink)) {}
  // For tests and in-process callers: `answer` gets the response; a dropped responder gives it
  // a bare 500.
  explicit Responder(std::function<void(Response)> answer);
  ~Responder() { Drop(); }
  Responder(Responder&& other) noexcept = default;
  Responder& operator=(Responder&& other) noexcept;

  // The first call answers; REQUIRES: not called before on this responder.
  void Answer(Response response);
  // True: the client has gone, the work may be skipped if nothing was begun.
  bool Gone() const { return sink_ != nullptr && sink_->Gone(); }

 private:
  void Drop();

  std::shared_ptr<AnswerSink> sink_;
};

// `std::function` wants copyable captures. This puts a responder where it can be shared by the
// two ends of a waiter (whichever ends first answers):
//   auto shared = std::make_shared<Responder>(std::move(responder));

}  // namespace api
