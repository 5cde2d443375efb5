#include "projections/resources/names.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace projections {
namespace {

const EntityDescriptor& Cluster() {
  static const Registry stock = Registry::Stock();
  return *stock.FindKind("Cluster");
}

std::string ConstraintOf(const std::vector<FieldError>& errors) {
  return errors.empty() ? "none" : errors.front().constraint;
}
std::string JudgeName(std::string_view name) {
  return ConstraintOf(CheckName(name, Cluster()));
}
std::string JudgeKey(const std::string& key) {
  return ConstraintOf(CheckLabels({{key, "v"}}));
}

TEST(NamesTest, LengthIsBoundedByTheKind) {
  EXPECT_EQ(JudgeName(""), "required");
  EXPECT_EQ(JudgeName("ab"), "min_length");
  EXPECT_EQ(JudgeName("abc"), "none");
  EXPECT_EQ(JudgeName(std::string(53, 'a')), "none");
  EXPECT_EQ(JudgeName(std::string(54, 'a')), "max_length");
  const EntityDescriptor channel = *Registry::Stock().FindKind("Channel");
  EXPECT_TRUE(CheckName("a", channel).empty());
  EXPECT_TRUE(CheckName(std::string(100, 'a'), channel).empty());
  EXPECT_EQ(ConstraintOf(CheckName(std::string(101, 'a'), channel)), "max_length");
}

TEST(NamesTest, LettersDigitsAndInnerHyphensOnly) {
  EXPECT_EQ(JudgeName("0-9-z"), "none");
  for (const char* name : {"-abc", "abc-", "Abc", "a_c", "a.c", "a c", "a\nc", "\xC3\xBC-ber"}) {
    EXPECT_EQ(JudgeName(name), "pattern") << name;
  }
}

TEST(LabelsTest, KeysMayHaveADnsPrefix) {
  for (const std::string& key :
       {std::string("a"), std::string("A.b_C-9"), std::string("app.kubernetes.io/name"),
        std::string(63, 'k'), std::string(63, 'p') + "/" + std::string(63, 'k')}) {
    EXPECT_EQ(JudgeKey(key), "none") << key;
  }
  for (const std::string& key :
       {std::string(), std::string("-a"), std::string("a-"), std::string("a b"), std::string("/a"),
        std::string("a/"), std::string("App/name"), std::string("a..b/name"), std::string("a/b/c"),
        std::string(64, 'k'), std::string(64, 'p') + "/k", std::string("-a/b"),
        std::string("a_b/c")}) {
    EXPECT_EQ(JudgeKey(key), "pattern") << key;
  }
}

TEST(LabelsTest, KeysHaveABoundAsAWhole) {
  // Each part is allowed, all of it is 255 or 256 bytes.
  const std::string segment(59, 'p');
  const std::string prefix = segment + "." + segment + "." + segment + "." + std::string(11, 'p');
  ASSERT_EQ(prefix.size(), 191U);
  EXPECT_EQ(JudgeKey(prefix + "/" + std::string(63, 'k')), "none");
  EXPECT_EQ(JudgeKey(prefix + "p/" + std::string(63, 'k')), "pattern");
}

TEST(LabelsTest, ValuesMayBeEmpty) {
  EXPECT_TRUE(CheckLabels({{"a", ""}}).empty());
  EXPECT_TRUE(CheckLabels({{"a", std::string(63, 'v')}}).empty());
  EXPECT_FALSE(CheckLabels({{"a", std::string(64, 'v')}}).empty());
  EXPECT_FALSE(CheckLabels({{"a", "x/y"}}).empty());
}

TEST(LabelsTest, AllBadOnesAreNamed) {
  const std::vector<FieldError> errors = CheckLabels({{"-k", "v"}, {"ok", "!"}, {"z z", "?"}});
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_EQ(errors[0].field, "labels");
  EXPECT_EQ(errors[1].field, "labels[ok]");
  EXPECT_EQ(errors[2].field, "labels");
  EXPECT_EQ(errors[3].field, "labels[z z]");
}

TEST(LabelsTest, OfVeryManyBadOnesOnlySomeAreNamed) {
  Labels labels;
  for (int i = 0; i < 1000; ++i) {
    labels["-" + std::to_string(i)] = "!";
  }
  EXPECT_LE(CheckLabels(labels).size(), kLabelErrorsTold + 1);
}

}  // namespace
}  // namespace projections
