#include "tests/tidy/source_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidy {
namespace {

using testing::ElementsAre;
using testing::Field;

TEST(SourceFileTest, CommentsAndLiteralsAreNoCode) {
  const SourceFile file = MakeFile("a.cc",
                                   "int a;  // one\n"
                                   "/* two\n"
                                   "three */ int b = f(\"four\", 'x');\n");
  EXPECT_THAT(file.code,
              ElementsAre("int a;        ", "      ", "         int b = f(\"    \", ' ');"));
  EXPECT_THAT(file.comments,
              ElementsAre("        // one", "/* two", "three */" + std::string(24, ' ')));
  EXPECT_THAT(file.literals, ElementsAre(Field(&Literal::text, "four")));
}

TEST(SourceFileTest, LiteralsThatFollowEachOtherAreOne) {
  const SourceFile file = MakeFile("a.cc", "f(\"a \"\n  \"b\", \"c\");\n");
  EXPECT_THAT(file.literals, ElementsAre(Field(&Literal::text, "a b"), Field(&Literal::text, "c")));
  EXPECT_EQ(file.literals.at(1).line, 2U);
}

TEST(SourceFileTest, RawStringsEndWhereTheySay) {
  const SourceFile file = MakeFile("a.cc", "f(R\"x(\")\" //\n)x\"); g();\n");
  EXPECT_THAT(file.literals, ElementsAre(Field(&Literal::text, "\")\" //\n")));
  EXPECT_NE(file.code.at(1).find("g();"), std::string::npos);
}

TEST(SourceFileTest, EscapesAndDigitSeparatorsDoNotOpenLiterals) {
  const SourceFile file = MakeFile("a.cc", "f(\"\\\"//\", '\\'', 1'000'000); // end\n");
  EXPECT_THAT(file.literals, ElementsAre(Field(&Literal::text, "\\\"//")));
  EXPECT_NE(file.code.at(0).find("1'000'000);"), std::string::npos);
  EXPECT_NE(file.comments.at(0).find("// end"), std::string::npos);
}

TEST(SourceFileTest, IncludesAreReadFromCodeOnly) {
  const SourceFile file = MakeFile("a.cc",
                                   "#include <vector>\n"
                                   "#include \"engine/journal.h\"\n"
                                   "// #include \"no.h\"\n");
  EXPECT_THAT(IncludesOf(file), ElementsAre(Field(&Include::path, "vector"),
                                            Field(&Include::path, "engine/journal.h")));
}

TEST(SourceFileTest, AWordStandsAlone) {
  EXPECT_EQ(FindWord("f(std::threads)", "std::thread"), std::string_view::npos);
  EXPECT_EQ(FindWord("f(std::thread())", "std::thread"), 2U);
  EXPECT_EQ(FindWord("brand()", "rand()"), std::string_view::npos);
}

TEST(SourceTreeTest, HasFilesAndFolders) {
  SourceTree tree;
  tree.files.push_back(MakeFile("docs/adr/one.md", ""));
  EXPECT_TRUE(tree.Has("docs/adr/one.md"));
  EXPECT_TRUE(tree.Has("docs"));
  EXPECT_FALSE(tree.Has("docs/ad"));
}

}  // namespace
}  // namespace tidy
