// FaultProxy: a Postgres server with a bad network in front of it.
//
//   ASSERT_OK_AND_ASSIGN(auto proxy, FaultProxy::Start(cluster.socket_directory(), port));
//   proxy->CutNextCommit(FaultProxy::Cut::kAfter);
//   ... a client of proxy->Through(url) commits and is left without an answer
//
// Forwards whole protocol messages of any number of connections over a private unix socket.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/support/private_directory.h"

namespace support {

// Thread-safe. Except where it says so no call blocks; a fault holds for all connections, also
// those that are opened later.
class FaultProxy {
 public:
  enum class Cut {
    kBefore,  // The server never gets the commit, and rolls back.
    kAfter,   // The server gets the commit, the client never gets the answer.
  };
  enum class Direction { kToServer, kToClient, kBoth };

  // `socket_directory` and `port` are those of a cluster or a pooler.
  static absl::StatusOr<std::unique_ptr<FaultProxy>> Start(const std::string& socket_directory,
                                                           int port);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  // The way through the proxy to the database of a URL of its server, for the same role.
  std::string Through(const std::string& url) const;

  // Cuts the connection on which the next commit comes by; once. Replaces an earlier call.
  void CutNextCommit(Cut cut);
  // Ends every connection and returns when that is done; new ones are served.
  void CutAll();
  // Forwards nothing in that direction, not even the end of a connection, until Release.
  void Hold(Direction direction);
  void Release();
  // Each message of a client is forwarded this much later. Zero at start.
  void Delay(engine::Duration delay);

  // How many connections were cut by CutNextCommit so far.
  int cuts() const;
  // Blocks until a client's message is held back or delayed; false when none was by `deadline`.
  bool WaitUntilHolding(engine::Deadline deadline) const;

 private:
  struct Connection;
  struct Faults {
    bool cut_armed = false;
    Cut cut = Cut::kBefore;
    bool cut_all = false;
    bool hold_to_server = false;
    bool hold_to_client = false;
    engine::Duration delay = engine::Duration::zero();
    int cuts = 0;
    bool holding = false;
    bool ended = false;
  };
  using Connections = std::vector<std::unique_ptr<Connection>>;

  FaultProxy(std::unique_ptr<PrivateDirectory> directory, std::string server_path, int port);

  absl::Status Listen();
  // All below run on the proxy's thread.
  void Run();
  Faults Now() const;
  void Accept(Connections& connections);
  // Waits until something can be done, at most until the next delayed message is due.
  void Wait(const Connections& connections, const Faults& faults) const;
  void Forward(Connection& connection, const Faults& faults);
  void ForwardToServer(Connection& connection, const Faults& faults);
  // Whether the commit that is about to be forwarded is the one to be cut; disarms the fault.
  bool TakeCut(Cut cut);
  void Wake() const;

  std::unique_ptr<PrivateDirectory> directory_;
  std::string server_path_;
  int port_;
  int listener_ = -1;
  int wake_fd_ = -1;
  mutable engine::Mutex mutex_;
  mutable engine::CondVar changed_;
  Faults faults_ ABSL_GUARDED_BY(mutex_);
  engine::Thread thread_;
};

}  // namespace support
