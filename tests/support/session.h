// Session: one raw Postgres connection of a litmus script.
//
//   Session writer(url);
//   writer.Run("begin");
//   Session waiter(url);
//   waiter.Send("select pg_advisory_xact_lock(1)");
//   ASSERT_TRUE(waiter.WaitUntilBlocked());
//   writer.Run("commit");
//   Answer answer = waiter.Finish();
//
// Two or three of them in one thread play any interleaving: what blocks is sent, seen to be
// blocked in the server's own tables, and finished later. Nothing here sleeps to be in order.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/postgres.h"

struct pg_conn;

namespace support {

// What the server said to one message; the last statement's answer when there were several.
struct Answer {
  bool ok = false;
  std::string tag;       // "COMMIT", "INSERT 0 1", ...; empty after an error.
  std::string sqlstate;  // Of the error; empty when ok or when the connection broke.
  std::string message;
  std::vector<std::string> warnings;  // SQLSTATEs of the notices that came with it.
  Rows rows;

  // The only value of the only row; what went wrong when there is none.
  std::string Value() const;
};

// One thread. A session that cannot connect answers everything with not-ok.
class Session {
 public:
  // `observer_url` is where the Wait functions look; empty: `url`. To be given when `url` leads
  // through a pooler or a proxy.
  explicit Session(const std::string& url, const std::string& observer_url = "");
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool connected() const;
  int backend_pid() const { return backend_pid_; }

  // Sends and waits. The statements of one message run as psql's do: in one transaction, unless
  // they say otherwise.
  Answer Run(const std::string& statements);

  // Sends without waiting. REQUIRES: the answer to the last Send was taken with Finish.
  void Send(const std::string& statements);
  // Blocks until the answer to Send is there.
  Answer Finish();

  // Blocks until the server says that this session waits for a lock, or, in the second form, for
  // `event` (pg_stat_activity.wait_event). False when it never did, after 20 s.
  bool WaitUntilBlocked() const;
  bool WaitUntilWaitingFor(const std::string& event) const;
  // As WaitUntilBlocked, and the one it waits for is `other`.
  bool WaitUntilBlockedBy(const Session& other) const;
  // Blocks until the backend is gone from the server; false when it stays, after 20 s.
  bool WaitUntilGone() const;
  bool BackendIsThere() const;

  // The client vanishes as after kill -9: the socket is closed without a word. The backend may
  // live on.
  void Vanish();

 private:
  bool WaitForValue(const std::string& query) const;

  std::string observer_url_;
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
  int backend_pid_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace support
