// Crowd: many clients that ask one server the same thing at the same time, on a connection each.
//
//   Crowd crowd(replicas.url(0), "/api/v1/killswitch", HaloServer::Admin(), 1000);
//   ASSERT_TRUE(crowd.SendAll(deadline));
//   for (const CrowdAnswer& answer : crowd.Wait(deadline)) { ... }
//
// One thread.

#pragma once

#include <string>
#include <vector>

#include "engine/base/deadline.h"
#include "tests/support/http_client.h"

namespace nemesis {

struct CrowdAnswer {
  int status = 0;  // 0: none came, or the connection broke.
  std::string text;
};

class Crowd {
 public:
  // Begins to connect, and waits for nothing.
  Crowd(const std::string& url, const std::string& path, const support::HttpHeaders& headers,
        int count);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // Blocks until every request was sent; false when one could not be by `deadline`.
  bool SendAll(engine::Deadline deadline);
  // Blocks until every answer is there, or `deadline`.
  std::vector<CrowdAnswer> Wait(engine::Deadline deadline);

 private:
  struct Client {
    int fd = -1;
    std::size_t sent = 0;
    std::string received = {};
    bool ended = false;
  };

  // Waits until something can be done, does it; false when `deadline` has passed.
  bool Step(bool only_send, engine::Deadline deadline);
  void Send(Client& client) const;
  static void Receive(Client& client);

  std::string request_;
  std::vector<Client> clients_;
};

// How many were told of the kill, of a crowd that asked for the kill list after it. Nobody may have
// been told a list without it, whatever else went wrong: that fails the test.
int ToldOf(const std::string& kill, const std::vector<CrowdAnswer>& answers);

}  // namespace nemesis
