#include "tests/support/pg_messages.h"

#include <string>

#include <gtest/gtest.h>

namespace support {
namespace {

using std::string_literals::operator""s;

std::string Sized(const std::string& body) {
  const std::size_t size = body.size() + 4;
  return std::string{static_cast<char>(size >> 24U & 255U), static_cast<char>(size >> 16U & 255U),
                     static_cast<char>(size >> 8U & 255U), static_cast<char>(size & 255U)} +
         body;
}

std::string StartUp() {
  return Sized("\0\3\0\0user\0u\0\0"s);
}
std::string SslRequest() {
  return Sized("\x04\xd2\x16\x2f");
}
std::string Query(const std::string& text) {
  return "Q" + Sized(text + '\0');
}
std::string Parse(const std::string& name, const std::string& text) {
  return "P" + Sized(name + '\0' + text + "\0\0\0"s);
}
std::string Bind(const std::string& portal, const std::string& statement) {
  return "B" + Sized(portal + '\0' + statement + "\0\0\0\0\0\0\0"s);
}
std::string Execute(const std::string& portal) {
  return "E" + Sized(portal + "\0\0\0\0\0"s);
}
std::string Sync() {
  return "S" + Sized("");
}

// What each message of a session is: c commits, . ends the request.
std::string Signs(const std::vector<std::string>& sent) {
  PgMessages messages;
  EXPECT_EQ(messages.Feed(StartUp()).size(), 1U);
  std::string signs;
  for (const std::string& bytes : sent) {
    for (const PgMessage& message : messages.Feed(bytes)) {
      EXPECT_EQ(message.bytes, bytes);
      signs += message.commits ? "c" : "-";
      signs += message.ends_request ? "." : "";
    }
  }
  return signs;
}

TEST(PgMessagesTest, BytesMayArriveInAnyPieces) {
  const std::vector<std::string> sent = {SslRequest(), StartUp(), Query("begin"), Query("commit")};
  std::string stream;
  for (const std::string& bytes : sent) {
    stream += bytes;
  }
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    PgMessages messages;
    std::vector<std::string> got;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      for (const PgMessage& message : messages.Feed(stream.substr(at, piece))) {
        got.push_back(message.bytes);
      }
    }
    EXPECT_EQ(got, sent) << "pieces of " << piece;
  }
}

TEST(PgMessagesTest, SimpleQueryWithTheWordCommits) {
  EXPECT_EQ(Signs({Query("begin"), Query("COMMIT"), Query("insert into t values (1);commit")}),
            "-.c.c.");
}

TEST(PgMessagesTest, OtherWordsDoNot) {
  EXPECT_EQ(Signs({Query("set local synchronous_commit = on"), Query("select committed"),
                   Query("rollback")}),
            "-.-.-.");
}

TEST(PgMessagesTest, ExecuteOfAPreparedCommitCommits) {
  EXPECT_EQ(Signs({Parse("c", "commit"), Parse("s", "select 1"), Sync(), Bind("", "s"), Execute(""),
                   Bind("", "c"), Execute(""), Sync()}),
            "---.---c-.");
}

TEST(PgMessagesTest, UnnamedStatementIsTheLastOneParsed) {
  EXPECT_EQ(Signs({Parse("", "commit"), Bind("", ""), Execute(""), Parse("", "select 1"),
                   Bind("", ""), Execute(""), Sync()}),
            "--c----.");
}

}  // namespace
}  // namespace support
