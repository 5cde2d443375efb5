// What the types forbid: no document is written, and nothing proposed in a term's name, by code
// that has no fence. Each snippet that must not compile has a twin, next to nothing away, that
// does.

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/private_directory.h"
#include "tests/support/process.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

constexpr char kBefore[] = R"(
#include "projections/documents.h"

using projections::Documents;
using projections::DocumentWriter;

engine::FencedOutcome Write(engine::Committer& committer, const engine::Fence& fence) {
)";

class MustNotCompileTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make()); }

  // What the compiler says about a function body; empty: it compiles.
  std::string Compile(const std::string& body) {
    const std::string path = directory_->path() + "/snippet.cc";
    std::ofstream(path) << kBefore << body << "}\n";
    std::vector<std::string> argv;
    std::istringstream words(HALO_COMPILER);
    for (std::string word; words >> word;) {
      argv.push_back(word);
    }
    for (const char* flag :
         {"-std=c++20", "-fsyntax-only", "-I" HALO_SOURCE_ROOT, "-I" HALO_BUILD_ROOT}) {
      argv.emplace_back(flag);
    }
    argv.push_back(path);
    const auto compiler = support::Process::Start({.argv = argv});
    EXPECT_OK(compiler);
    const auto exit = (*compiler)->Wait(engine::Deadline::After(std::chrono::minutes(5)));
    EXPECT_OK(exit);
    return exit->code == 0 ? "" : (*compiler)->Stderr();
  }
  // Expects that it does not, and that the compiler says so because of `what`.
  void ExpectRefused(const std::string& body, const std::string& what) {
    const std::string said = Compile(body);
    EXPECT_NE(said.find(what), std::string::npos) << body << said;
  }

  std::unique_ptr<support::PrivateDirectory> directory_;
};

TEST_F(MustNotCompileTest, AWriterWithoutAFence) {
  constexpr char kRest[] =
      "return DocumentWriter<Documents>(writer).Put({}, engine::Deadline::Infinite());\n";
  EXPECT_EQ(Compile(std::string("engine::FencedWriter writer(committer, fence);") + kRest), "");
  ExpectRefused(std::string("engine::FencedWriter writer(committer);") + kRest,
                "no matching function for call to");
  ExpectRefused(
      "return DocumentWriter<Documents>(committer).Put({}, "
      "engine::Deadline::Infinite());\n",
      "no matching function for call to");
}

TEST_F(MustNotCompileTest, AProposalOutsideOfATerm) {
  const auto body = [](const std::string& parameters, const std::string& term) {
    return "engine::FencedWriter writer(committer, fence);"
           "return writer.Write([](" +
           parameters +
           ") -> absl::StatusOr<engine::Proposal> {"
           "  const auto image = engine::ImageIn<Documents>(context.view);"
           "  return projections::ProposeDocument(" +
           term +
           "Documents::kStream, **image, {},"
           "      context.footprint);"
           "}, engine::Deadline::Infinite());\n";
  };
  const std::string both = "const engine::DecideContext& context, const engine::InTerm& term";
  EXPECT_EQ(Compile(body(both, "term, ")), "");
  ExpectRefused(body(both, ""), "ProposeDocument");
  ExpectRefused(body(both, "engine::InTerm(engine::Fence()), "), "is private within this context");
}

}  // namespace
}  // namespace projections
