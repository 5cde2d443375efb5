// Each rule on a small tree that breaks it and on one that keeps it: a rule that finds nothing
// would pass every repository.

#include "tests/tidy/rules.h"

#include <initializer_list>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidy {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

SourceTree Tree(std::initializer_list<std::pair<std::string, std::string>> files) {
  SourceTree tree;
  for (const auto& [path, text] : files) {
    tree.files.push_back(MakeFile(path, text));
  }
  return tree;
}

std::string Repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST(IncludeArrowsTest, PointDownOnly) {
  EXPECT_THAT(CheckIncludeArrows(Tree({{"engine/a.cc", "#include \"schemas/streams.h\"\n"}})),
              ElementsAre("engine/a.cc:1: engine may not include schemas/streams.h"));
  EXPECT_THAT(CheckIncludeArrows(Tree({{"engine/base/a.h", "\n#include \"engine/view.h\"\n"}})),
              ElementsAre(StartsWith("engine/base/a.h:2:")));
  EXPECT_THAT(CheckIncludeArrows(Tree({{"schemas/a.h", "#include \"projections/b.h\"\n"}})),
              ElementsAre(StartsWith("schemas/a.h:1:")));
  EXPECT_THAT(CheckIncludeArrows(Tree({{"projections/a.h", "#include \"api/http/b.h\"\n"}})),
              ElementsAre(StartsWith("projections/a.h:1:")));
  EXPECT_THAT(CheckIncludeArrows(Tree({{"api/a.h", "#include \"tests/support/logs.h\"\n"}})),
              ElementsAre(StartsWith("api/a.h:1:")));
  EXPECT_THAT(CheckIncludeArrows(Tree({{"api/a.cc", "#include \"projections/b.h\"\n"},
                                       {"projections/b.h", "#include \"engine/projection.h\"\n"},
                                       {"engine/view.cc", "#include \"engine/base/check.h\"\n"}})),
              IsEmpty());
}

TEST(IncludeArrowsTest, BackendsAreNamedByMainFilesOnly) {
  const std::string text = "#include \"engine/postgres/postgres.h\"\n";
  EXPECT_THAT(CheckIncludeArrows(Tree({{"api/resources/a.cc", text}})),
              ElementsAre(StartsWith("api/resources/a.cc:1:")));
  EXPECT_THAT(CheckIncludeArrows(Tree({{"engine/follower.cc", text}})),
              ElementsAre(StartsWith("engine/follower.cc:1:")));
  EXPECT_THAT(CheckIncludeArrows(Tree({{"engine/memory/a.cc", text}})),
              ElementsAre(StartsWith("engine/memory/a.cc:1:")));
  EXPECT_THAT(CheckIncludeArrows(Tree({{"api/server/main.cc", text},
                                       {"api/cli/stores.cc", text},
                                       {"bench/append.cc", text},
                                       {"tests/engine/a_test.cc", text}})),
              IsEmpty());
}

TEST(IncludeArrowsTest, StartAtTheRoot) {
  EXPECT_THAT(CheckIncludeArrows(Tree({{"engine/a.cc", "#include \"view.h\"\n"}})),
              ElementsAre(HasSubstr("from the root")));
}

TEST(SqlStaysInPostgresTest, FindsTheLibrariesElsewhere) {
  EXPECT_THAT(CheckSqlStaysInPostgres(Tree({{"api/a.cc", "#include <pqxx/pqxx>\n"}})),
              ElementsAre("api/a.cc:1: pqxx/pqxx belongs to engine/postgres"));
  EXPECT_THAT(CheckSqlStaysInPostgres(Tree({{"engine/a.h", "#include <libpq-fe.h>\n"}})),
              ElementsAre(StartsWith("engine/a.h:1:")));
  EXPECT_THAT(CheckSqlStaysInPostgres(Tree({{"engine/postgres/a.h", "#include <libpq-fe.h>\n"}})),
              IsEmpty());
}

TEST(SqlStaysInPostgresTest, FindsStatementsElsewhere) {
  const std::string text = "f(\"SELECT position \"\n  \"FROM halo_journal\");\n";
  EXPECT_THAT(CheckSqlStaysInPostgres(Tree({{"projections/a.cc", text}})),
              ElementsAre("projections/a.cc:1: SQL belongs to engine/postgres"));
  EXPECT_THAT(CheckSqlStaysInPostgres(Tree({{"api/a.cc", "f(\"delete from halo_kv\");\n"}})),
              ElementsAre(StartsWith("api/a.cc:1:")));
  EXPECT_THAT(CheckSqlStaysInPostgres(Tree({{"engine/postgres/a.cc", text},
                                            {"tests/engine/a_test.cc", text},
                                            {"api/a.cc", "f(\"select a cluster\");\n"}})),
              IsEmpty());
}

TEST(HttpLibraryStaysInTransportTest, FindsItElsewhere) {
  const std::string text = "#include <boost/asio/awaitable.hpp>\n";
  EXPECT_THAT(CheckHttpLibraryStaysInTransport(Tree({{"api/resources/a.cc", text}})),
              ElementsAre(StartsWith("api/resources/a.cc:1:")));
  EXPECT_THAT(
      CheckHttpLibraryStaysInTransport(Tree({{"engine/a.h", "#include <boost/beast/http.hpp>\n"}})),
      ElementsAre(StartsWith("engine/a.h:1:")));
  EXPECT_THAT(
      CheckHttpLibraryStaysInTransport(Tree(
          {{"api/http/transport.cc", text}, {"api/json/a.cc", "#include <boost/json.hpp>\n"}})),
      IsEmpty());
}

TEST(BannedCallsTest, NameTheirReplacement) {
  EXPECT_THAT(CheckBannedCalls(Tree({{"engine/a.h", "std::mutex mutex_;\n"}})),
              ElementsAre("engine/a.h:1: std::mutex is banned: use engine::Mutex"));
  EXPECT_THAT(CheckBannedCalls(Tree({{"tests/a.cc", "std::thread t(f);\n"}})),
              ElementsAre(HasSubstr("use engine::Thread")));
  EXPECT_THAT(CheckBannedCalls(
                  Tree({{"projections/a.cc", "auto t = std::chrono::system_clock::now();\n"}})),
              ElementsAre(HasSubstr("use engine::Clock::Now")));
  EXPECT_THAT(CheckBannedCalls(Tree({{"api/a.cc", "\nstd::this_thread::sleep_for(1s);\n"}})),
              ElementsAre(StartsWith("api/a.cc:2:")));
  EXPECT_THAT(CheckBannedCalls(Tree({{"engine/a.cc", "std::cerr << 1;\nint i = rand();\n"}})),
              ElementsAre(HasSubstr("engine::Random"), HasSubstr("engine::Log")));
}

TEST(LoopsTest, OutliveTheirRange) {
  EXPECT_THAT(CheckLoopsOutliveTheirRange(
                  Tree({{"api/a.cc", "\nfor (const Stream& s : lane.Last()->streams) {\n"}})),
              ElementsAre(HasSubstr("api/a.cc:2: ")));
  EXPECT_THAT(CheckLoopsOutliveTheirRange(Tree({{"api/a.cc",
                                                 "for (const Stream& s : view->streams) {\n"
                                                 "for (const Row& r : table.rows()) {\n"}})),
              IsEmpty());
}

TEST(BannedCallsTest, KnowWhereACallBelongs) {
  EXPECT_THAT(CheckBannedCalls(Tree({{"engine/base/mutex.h", "std::mutex mutex_;\n"},
                                     {"api/cli/main.cc", "std::cout << head;\n"},
                                     {"engine/a.cc", "// std::mutex would not do\n"},
                                     {"engine/b.cc", "static_assert(operand() == 1);\n"}})),
              IsEmpty());
}

TEST(BannedCallsTest, OneHeaderOfTheStringsLibraryIsAllowed) {
  EXPECT_THAT(CheckBannedCalls(Tree({{"api/a.cc", "#include <absl/strings/str_cat.h>\n"},
                                     {"api/b.cc", "#include <absl/strings/str_format.h>\n"}})),
              ElementsAre(StartsWith("api/a.cc:1:")));
}

TEST(GuardIdsTest, AreUniqueAndWellFormed) {
  EXPECT_THAT(CheckGuardIds(Tree({{"engine/a.cc", "if (GUARD(\"journal.dense\", a == b)) {\n"},
                                  {"engine/b.cc", "\nreturn GUARD(\"journal.dense\", ok);\n"}})),
              ElementsAre("engine/b.cc:2: guard journal.dense is already at engine/a.cc:1"));
  EXPECT_THAT(CheckGuardIds(Tree({{"api/a.cc", "GUARD(\"Dense\", a);\n"}})),
              ElementsAre(HasSubstr("room.what")));
  EXPECT_THAT(CheckGuardIds(Tree({{"engine/a.cc", "GUARD(\"a.one\", a) && GUARDED(b);\n"},
                                  {"engine/b.cc", "GUARD(\"a.two\", a);\n"}})),
              IsEmpty());
}

TEST(NoUnfinishedWorkTest, FindsTheWords) {
  const std::string word = std::string("TO") + "DO";
  EXPECT_THAT(CheckNoUnfinishedWork(Tree({{"engine/a.cc", "// " + word + ": finish\n"},
                                          {"README.md", "\n" + word + "\n"},
                                          {"dev", "mktemp halo.XXXXXX\n"}})),
              ElementsAre(StartsWith("engine/a.cc:1:"), StartsWith("README.md:2:")));
}

TEST(LineLengthTest, CountsCharactersNotBytes) {
  EXPECT_THAT(CheckLineLength(Tree({{"engine/a.cc", std::string(101, 'a') + "\n"}})),
              ElementsAre("engine/a.cc:1: line of 101 columns; 100 at most"));
  EXPECT_THAT(CheckLineLength(Tree({{"engine/a.cc", std::string(100, 'a') + "\n"},
                                    {"engine/b.cc", Repeat("ä", 100)},
                                    {"docs/a.md", std::string(300, 'a')}})),
              IsEmpty());
}

TEST(FileLengthTest, EndsAtFiveHundred) {
  EXPECT_THAT(CheckFileLength(Tree({{"engine/a.cc", Repeat("a\n", 501)}})),
              ElementsAre("engine/a.cc:1: file of 501 lines; 500 at most"));
  EXPECT_THAT(CheckFileLength(
                  Tree({{"engine/a.cc", Repeat("a\n", 500)}, {"docs/a.md", Repeat("a\n", 501)}})),
              IsEmpty());
}

TEST(FunctionLengthTest, EndsAtSeventy) {
  const std::string body = Repeat("  if (a) {\n  }\n", 34);
  const std::string fits = "namespace n {\nvoid F(int a) {\n" + body + "}\n}\n";
  EXPECT_THAT(CheckFunctionLength(Tree({{"engine/a.cc", fits}})), IsEmpty());
  const std::string longer = "namespace n {\nvoid F(int a) {\n" + body + "  a;\n}\n}\n";
  EXPECT_THAT(CheckFunctionLength(Tree({{"engine/a.cc", longer}})),
              ElementsAre("engine/a.cc:2: function of 71 lines; 70 at most"));
}

TEST(FunctionLengthTest, MeasuresMembersAndTestsNotTypes) {
  const std::string body = Repeat("  a;\n", 70);
  EXPECT_THAT(CheckFunctionLength(Tree({{"engine/a.h", "class A {\n  int F() {\n" + body + "}\n};"},
                                        {"tests/a.cc", "TEST(A, B) {\n" + body + "}\n"}})),
              ElementsAre(StartsWith("engine/a.h:2:"), StartsWith("tests/a.cc:1:")));
  EXPECT_THAT(CheckFunctionLength(
                  Tree({{"engine/a.h", "struct A {\n" + Repeat("  int F();\n", 90) + "};\n"},
                        {"engine/b.h", "constexpr int kA[] = {\n" + Repeat("1,\n", 90) + "};\n"}})),
              IsEmpty());
}

TEST(SuppressionsTest, NameTheCheckAndTheReason) {
  const std::string nolint = std::string("NO") + "LINT";
  EXPECT_THAT(CheckSuppressions(Tree({{"engine/a.cc", "f();  // " + nolint + "\n"},
                                      {"engine/b.cc", "f();  // " + nolint + "(a-check)\n"},
                                      {"engine/c.cc", "// " + nolint + "NEXTLINE(*): no\n"}})),
              ElementsAre(StartsWith("engine/a.cc:1:"), StartsWith("engine/b.cc:1:"),
                          StartsWith("engine/c.cc:1:")));
  EXPECT_THAT(CheckSuppressions(
                  Tree({{"engine/a.cc", "f();  // " + nolint + "(a-check): the library owns it\n"},
                        {"engine/b.cc", "// " + nolint + "END(a-check)\n"}})),
              IsEmpty());
}

TEST(NoForeignPlacesTest, FindsPathsAndHosts) {
  const std::string path = std::string("/wo") + "rk/main";
  const std::string host = std::string("deb.deb") + "ian.org";
  EXPECT_THAT(CheckNoForeignPlaces(Tree({{"dev", "cd " + path + "\n"}, {"README.md", host}})),
              ElementsAre(StartsWith("dev:1:"), StartsWith("README.md:1:")));
  EXPECT_THAT(CheckNoForeignPlaces(Tree({{"dev", "cd framework/main\n"}})), IsEmpty());
}

TEST(LinksTest, LeadSomewhere) {
  EXPECT_THAT(CheckLinks(Tree({{"docs/a.md", "\n[b](b.md#head) [r](../README.md) [c](c.md)\n"},
                               {"docs/b.md", "[top](#top) [site](https://example.org/x)\n"},
                               {"README.md", "[docs](docs/) `[x](y)`\n```\n[no](no.md)\n```\n"}})),
              ElementsAre("docs/a.md:2: dead link c.md", "README.md:1: dead link y"));
}

TEST(SourcesHaveTestsTest, ByHeaderOrByName) {
  EXPECT_THAT(CheckSourcesHaveTests(Tree({{"engine/a.cc", "#include \"engine/a.h\"\n"},
                                          {"engine/a.h", ""},
                                          {"tests/engine/b_test.cc", ""}})),
              ElementsAre(AllOf(StartsWith("engine/a.cc:1:"), HasSubstr("engine/a.h"))));
  EXPECT_THAT(CheckSourcesHaveTests(Tree({{"engine/a.cc", ""},
                                          {"engine/a.h", ""},
                                          {"engine/b.cc", ""},
                                          {"engine/c.cc", "#include \"engine/a.h\"\n"},
                                          {"api/main/halo.cc", "int main() {}\n"},
                                          {"tests/engine/x_test.cc", "#include \"engine/a.h\"\n"},
                                          {"tests/engine/b_test.cc", ""}})),
              IsEmpty());
}

TEST(SourcesHaveTestsTest, ThroughTheDoorOfTheirFolder) {
  const std::string part = "#include \"engine/part.h\"\n";
  EXPECT_THAT(
      CheckSourcesHaveTests(Tree({{"engine/door_impl.cc", "#include \"engine/door.h\"\n\n" + part},
                                  {"engine/door.h", ""},
                                  {"engine/file/far.cc", ""},
                                  {"engine/file/far.h", ""},
                                  {"engine/part.cc", "#include \"engine/file/far.h\"\n"},
                                  {"engine/part.h", ""},
                                  {"tests/a_test.cc", "#include \"engine/door.h\"\n"}})),
      ElementsAre(StartsWith("engine/file/far.cc:1:")));
}

TEST(SourcesHaveTestsTest, RoutesThroughTheServer) {
  EXPECT_THAT(CheckSourcesHaveTests(
                  Tree({{"api/control/kill.cc", "#include \"api/control/routes.h\"\n"},
                        {"api/control/routes.h", ""},
                        {"api/json/parser.cc", ""},
                        {"api/json/parser.h", ""},
                        {"api/server/server.cc",
                         "#include \"api/control/routes.h\"\n#include \"api/json/parser.h\"\n"},
                        {"api/server/server.h", ""},
                        {"tests/api/a_test.cc", "#include \"api/server/server.h\"\n"}})),
              ElementsAre(StartsWith("api/json/parser.cc:1:")));
}

TEST(SourcesAreBuiltTest, AreNamedInAMesonBuild) {
  EXPECT_THAT(CheckSourcesAreBuilt(Tree({{"tests/meson.build", "files('a/b_test.cc')\n"},
                                         {"tests/a/b_test.cc", ""},
                                         {"tests/a/c_test.cc", ""}})),
              ElementsAre("tests/a/c_test.cc:1: no meson.build names it"));
  EXPECT_THAT(CheckSourcesAreBuilt(Tree({{"api/cli/meson.build", "files('../main/halo.cc')\n"},
                                         {"api/main/halo.cc", ""}})),
              IsEmpty());
}

TEST(SourcesAreBuiltTest, NamesMayBePutTogether) {
  const std::string loop = "foreach name : ['append', 'read']\n  files(name + '.cc')\n";
  EXPECT_THAT(CheckSourcesAreBuilt(Tree(
                  {{"bench/append.cc", ""}, {"bench/meson.build", loop}, {"bench/replay.cc", ""}})),
              ElementsAre(StartsWith("bench/replay.cc:1:")));
}

TEST(HeadersHavePragmaOnceTest, InCode) {
  EXPECT_THAT(CheckHeadersHavePragmaOnce(Tree(
                  {{"engine/a.h", "// #pragma once\n"}, {"engine/b.h", "// B\n\n#pragma once\n"}})),
              ElementsAre(StartsWith("engine/a.h:1:")));
}

}  // namespace
}  // namespace tidy
