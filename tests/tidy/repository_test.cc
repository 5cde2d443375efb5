// Every rule over this repository. A violation is fixed where it is, not here.

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/tidy/rules.h"

namespace tidy {
namespace {

const SourceTree& Repository() {
  static const SourceTree tree = [] {
    const char* root = std::getenv("HALO_SOURCE_ROOT");
    return ReadTree(root != nullptr ? root : HALO_SOURCE_ROOT);
  }();
  return tree;
}

struct Rule {
  const char* name;
  Violations (*check)(const SourceTree& tree);
};

void PrintTo(const Rule& rule, std::ostream* out) {
  *out << rule.name;
}

class RepositoryTest : public testing::TestWithParam<Rule> {};

TEST_P(RepositoryTest, Keeps) {
  std::string list;
  for (const std::string& violation : GetParam().check(Repository())) {
    list += violation + "\n";
  }
  EXPECT_TRUE(list.empty()) << list;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RepositoryTest,
    testing::Values(Rule{"IncludeArrows", CheckIncludeArrows},
                    Rule{"SqlStaysInPostgres", CheckSqlStaysInPostgres},
                    Rule{"HttpLibraryStaysInTransport", CheckHttpLibraryStaysInTransport},
                    Rule{"BannedCalls", CheckBannedCalls},
                    Rule{"LoopsOutliveTheirRange", CheckLoopsOutliveTheirRange},
                    Rule{"GuardIds", CheckGuardIds},
                    Rule{"NoUnfinishedWork", CheckNoUnfinishedWork},
                    Rule{"LineLength", CheckLineLength}, Rule{"FileLength", CheckFileLength},
                    Rule{"FunctionLength", CheckFunctionLength},
                    Rule{"Suppressions", CheckSuppressions},
                    Rule{"NoForeignPlaces", CheckNoForeignPlaces}, Rule{"Links", CheckLinks},
                    Rule{"SourcesHaveTests", CheckSourcesHaveTests},
                    Rule{"SourcesAreBuilt", CheckSourcesAreBuilt},
                    Rule{"HeadersHavePragmaOnce", CheckHeadersHavePragmaOnce}),
    [](const testing::TestParamInfo<Rule>& rule) { return std::string(rule.param.name); });

// A rule that looks at no file finds nothing: this one says that the tree was read.
TEST(RepositoryTest, IsRead) {
  EXPECT_TRUE(Repository().Has("engine/base/mutex.h"));
  EXPECT_TRUE(Repository().Has("tests/tidy/repository_test.cc"));
  EXPECT_TRUE(Repository().Has("dev"));
  EXPECT_FALSE(Repository().Has("build"));
  EXPECT_FALSE(Repository().Has(".git"));
}

}  // namespace
}  // namespace tidy
