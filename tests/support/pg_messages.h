// PgMessages: cuts what a Postgres client sends into its messages, and finds the commits.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace support {

struct PgMessage {
  std::string bytes;
  // This message makes the server run a statement with the word COMMIT: a simple query, or the
  // Execute of a portal whose statement has it, prepared by name or not. Text in quotes counts too;
  // `synchronous_commit` does not.
  bool commits = false;
  // The server answers all it was sent so far: a simple query or a Sync.
  bool ends_request = false;
};

// One client's stream of protocol version 3, from its start-up packet on. Thread-compatible.
class PgMessages {
 public:
  // Takes what arrived next and returns the messages that are whole by now.
  std::vector<PgMessage> Feed(std::string_view bytes);

 private:
  // The length of the first message in the buffer; zero when it is not known yet.
  std::size_t NextLength() const;
  PgMessage Take(std::size_t length);
  void Note(PgMessage& message);

  bool started_ = false;
  std::string buffer_;
  std::map<std::string, bool> statements_;  // Whether it commits, by name.
  std::map<std::string, bool> portals_;
};

}  // namespace support
