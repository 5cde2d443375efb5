// One connection of a relational program: prepared statements with text parameters.
//
// One thread. Blocks on the server; ends the program on any error.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pg_conn;
struct pg_result;

namespace bench {

// The rows of one answer. Texts live as long as it.
class Answer {
 public:
  explicit Answer(pg_result* result) : result_(result) {}

  int size() const;
  // Empty for NULL.
  std::string_view Text(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

class Connection {
 public:
  explicit Connection(const std::string& url);

  // Runs statements without parameters.
  void Run(const std::string& sql);
  // Prepares the statement the first time it sees it. Without rows where it returns none.
  Answer Ask(const std::string& sql, const std::vector<std::string>& parameters);
  // Sends lines of COPY's text format to the table; `next` appends some to its argument, and
  // nothing once there are no more.
  template <typename Next>
  void Copy(const std::string& table, const Next& next) {
    BeginCopy(table);
    std::string lines;
    do {
      lines.clear();
      next(lines);
      SendLines(lines);
    } while (!lines.empty());
    EndCopy();
  }

 private:
  [[noreturn]] void Die() const;
  void BeginCopy(const std::string& table);
  void SendLines(std::string_view lines);
  void EndCopy();

  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  std::unique_ptr<pg_conn, Finish> connection_;
  std::map<std::string, std::string, std::less<>> prepared_;  // Names, by text.
};

}  // namespace bench
