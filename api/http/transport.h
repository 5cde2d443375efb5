// Transport: HTTP/1.1 over TCP. One I/O thread serves every connection of every listener.
//
// Requests of one connection are handled one after the other and answered in order, pipelined or
// not. A request whose handler has not answered yet is parked; while it is, its connection is
// still watched, so that a client that goes away frees the place.
//
// What is refused before any handler runs, through the family of the path (api/http/router.h):
// heads over 32 KiB (431), bodies over `max_body` (413, before reading them when Content-Length
// says so), missing or repeated Host, folded header lines, Content-Length beside
// Transfer-Encoding, malformed framing (400), other transfer encodings (501), slow senders (408),
// more than `max_queue` parked requests (503 with `Retry-After: 1`). After a framing error the
// connection closes.
//
// Answers that clients are slow to take are kept in memory, `max_unsent` bytes over all
// connections at most, or one answer if that alone is larger. What is over that is made room for
// by closing connections, the one that has taken nothing for the longest time first: who reads on
// is not made to suffer for who does not. Answers that other threads have just handed over come on
// top of that for as long as the I/O thread has not looked at them.
//
// An answer may be sent piece by piece for as long as its source likes (BodySource). It costs a
// connection and no place among the parked, its source is asked only as fast as the client takes
// what comes, and a client that takes nothing for `write_timeout` is closed.
//
// A listener with a TLS context speaks nothing else; a handshake has as long as a head.
//
// Thread-safe where noted.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "api/http/router.h"
#include "api/http/tls.h"
#include "engine/base/clock.h"
#include "engine/base/deadline.h"

namespace api {

struct TransportOptions {
  std::size_t max_body = std::size_t{8} << 20;                  // bytes
  std::size_t max_head = std::size_t{32} << 10;                 // bytes
  std::size_t max_queue = 4096;                                 // requests parked at once
  std::size_t max_connections = 16384;                          // more are closed as they come
  std::size_t max_unsent = std::size_t{256} << 20;              // bytes, of all connections
  engine::Duration head_timeout = std::chrono::seconds(10);     // first byte to end of head
  engine::Duration read_timeout = std::chrono::seconds(30);     // first byte to end of body
  engine::Duration idle_timeout = std::chrono::seconds(120);    // between requests
  engine::Duration write_timeout = std::chrono::seconds(30);    // an answer nobody reads
  engine::Duration request_timeout = std::chrono::seconds(30);  // Request::deadline from arrival
  const engine::Clock* clock = nullptr;                         // nullptr: SystemClock()
};

// A snapshot for /metrics.
struct TransportStats {
  std::uint64_t connections = 0;  // open now
  std::uint64_t parked = 0;       // requests waiting for their answer now
  std::uint64_t streams = 0;      // answers that are sent piece by piece, now
  std::uint64_t accepted = 0;     // connections since the start
  std::uint64_t turned_away = 0;  // connections closed because of max_connections
  std::uint64_t requests = 0;     // answered since the start
  std::uint64_t refused = 0;      // of these 503 because of max_queue
  std::uint64_t unsent = 0;       // bytes of answers that clients have not taken, now
  std::uint64_t cut_off = 0;      // connections closed because of max_unsent
};

class TransportCore;

class Transport {
 public:
  explicit Transport(TransportOptions options);
  // Stops without waiting for parked requests; see Drain.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Opens a listening socket and returns its address, `127.0.0.1:8080` or `[::1]:8080`, with the
  // real port when 0 was asked for; with TLS where `tls` is not null. `router` must outlive the
  // transport. Resolving a name blocks. Connections are accepted from Start on; until then they
  // wait in the kernel. Fails with kInvalidArgument (not HOST:PORT) or kUnavailable (taken, not
  // permitted). REQUIRES: before Start.
  absl::StatusOr<std::string> Listen(std::string_view host_and_port, const Router& router,
                                     std::shared_ptr<const TlsContext> tls = nullptr);

  // Starts the I/O thread. Call once.
  void Start();

  // Runs `task` on the I/O thread, in order of posting; many tasks share one wake-up. Thread-safe;
  // never blocks. Before Start the task waits; after the end of the I/O thread it is dropped.
  void Post(std::function<void()> task);
  bool OnIoThread() const;
  // Runs `task` once on the I/O thread when the descriptor of a socket or pipe can be read, or is
  // at its end. It may be closed meanwhile. False, and nothing is done: too many files are open.
  // REQUIRES: on the I/O thread.
  bool WhenReadable(int descriptor, std::function<void()> task);

  // Stops accepting, closes idle connections, answers what is in flight with `Connection: close`
  // and returns when nothing is left or at `deadline`. True: nothing was cut off. Blocks; not from
  // the I/O thread.
  bool Drain(engine::Deadline deadline);

  // Ends the I/O thread and closes every connection. Idempotent. Blocks shortly.
  void Stop();

  // Thread-safe.
  TransportStats stats() const;

 private:
  std::shared_ptr<TransportCore> core_;  // Shared with responders that outlive the transport.
};

}  // namespace api
