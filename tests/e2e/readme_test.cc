// README.md's three things to try print what README.md says they print.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/halo_server.h"
#include "tests/support/status_matchers.h"

namespace e2e {
namespace {

constexpr char kUrl[] = "http://127.0.0.1:8080";

struct Example {
  std::string commands;
  std::string output;
};

std::string Replace(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string ReadReadme() {
  std::ifstream file(HALO_SOURCE_ROOT "/README.md");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The fenced blocks between the two headings, in pairs of commands and output, without indentation.
std::vector<Example> ReadExamples() {
  const std::string readme = ReadReadme();
  const std::size_t begin = readme.find("## Three things to try");
  const std::size_t end = readme.find("\n## ", begin + 1);
  std::vector<std::string> blocks;
  std::istringstream lines(readme.substr(begin, end - begin));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("   ");
    const std::string text = indented ? line.substr(3) : line;
    if (indented && text.starts_with("```")) {
      inside = !inside;
      if (inside) {
        blocks.emplace_back();
      }
    } else if (inside) {
      blocks.back() += text + "\n";
    }
  }
  std::vector<Example> examples;
  for (std::size_t i = 0; i + 1 < blocks.size(); i += 2) {
    examples.push_back({blocks[i], blocks[i + 1]});
  }
  return examples;
}

// `...` stands for anything: the parts between come in this order, the first and last at the ends.
bool Matches(std::string_view output, std::string_view expected) {
  constexpr std::string_view kAnything = "...";
  const std::size_t first = expected.find(kAnything);
  if (first == std::string_view::npos) {
    return output == expected;
  }
  if (!output.starts_with(expected.substr(0, first))) {
    return false;
  }
  output.remove_prefix(first);
  expected.remove_prefix(first + kAnything.size());
  for (std::size_t next = expected.find(kAnything); next != std::string_view::npos;
       next = expected.find(kAnything)) {
    const std::string_view part = expected.substr(0, next);
    const std::size_t at = output.find(part);
    if (at == std::string_view::npos) {
      return false;
    }
    output.remove_prefix(at + part.size());
    expected.remove_prefix(next + kAnything.size());
  }
  return output.ends_with(expected);
}

TEST(ReadmeTest, ThreeThingsToTryPrintWhatItSays) {
  const std::vector<Example> examples = ReadExamples();
  ASSERT_EQ(examples.size(), 3U);
  ASSERT_OK_AND_ASSIGN(const auto store, support::TestStore::OnFiles());
  ASSERT_OK_AND_ASSIGN(const auto server,
                       support::HaloServer::Start(*store, {}, /*operator_name=*/"operator"));
  const std::string& home = store->directory().path();
  std::filesystem::create_directory(home + "/.halo");
  std::filesystem::copy_file(home + "/admins", home + "/.halo/admin-tokens");
  for (const Example& example : examples) {
    ASSERT_OK_AND_ASSIGN(
        const support::Finished done,
        support::RunProcess({.argv = {"bash", "-c", Replace(example.commands, kUrl, server->url())},
                             .working_directory = home},
                            engine::Deadline::After(std::chrono::seconds(30))));
    EXPECT_EQ(done.exit.code, 0) << done.err;
    EXPECT_TRUE(Matches(done.out, example.output)) << example.commands << "printed\n"
                                                   << done.out << "but README.md says\n"
                                                   << example.output;
  }
}

}  // namespace
}  // namespace e2e
