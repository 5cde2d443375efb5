#include "projections/search/parser.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "projections/search/bind.h"
#include "tests/projections/search/trees.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections::search {
namespace {

using testing::HasSubstr;

// The text of the tree, or of what is wrong.
std::string Parsed(std::string_view text) {
  const auto node = ParseSearch(text);
  if (node.ok()) {
    return Print(*node);
  }
  EXPECT_EQ(node.status().code(), absl::StatusCode::kInvalidArgument);
  return "! " + std::string(node.status().message());
}

void ExpectRefused(std::string_view text, std::string_view what) {
  EXPECT_THAT(Parsed(text), testing::StartsWith("! ")) << text;
  EXPECT_THAT(Parsed(text), HasSubstr(std::string(what))) << text;
}

TEST(ParserTest, ReadsWhatClientsAsk) {
  EXPECT_EQ(Parsed("name='x'"), "name = 'x'");
  EXPECT_EQ(Parsed("labels.k=\"v\" AND labels.app.kubernetes.io/name == `w`"),
            "labels.k = 'v' and labels.app.kubernetes.io/name = 'w'");
  EXPECT_EQ(Parsed("spec.release.version > 9"), "spec.release.version > 9");
  EXPECT_EQ(Parsed("spec.machineType = 'x' or labels.my-key <> 'y'"),
            "spec.machineType = 'x' or labels.my-key != 'y'");
  EXPECT_EQ(Parsed("status.conditions.Reconciled='True' AND "
                   "status.conditions.Reconciled.last_updated_time < '2026-01-02T03:04:05Z'"),
            "status.conditions.Reconciled = 'True' and "
            "status.conditions.Reconciled.last_updated_time < '2026-01-02T03:04:05Z'");
}

TEST(ParserTest, AndBindsTighterThanOrAndNotTightest) {
  EXPECT_EQ(Parsed("name='a' or name='b' and name='c'"),
            "name = 'a' or (name = 'b' and name = 'c')");
  EXPECT_EQ(Parsed("not name='a' and name='b'"), "not name = 'a' and name = 'b'");
  EXPECT_EQ(Parsed("not (name='a' and name='b')"), "not (name = 'a' and name = 'b')");
  EXPECT_EQ(Parsed("not not name='a'"), "not not name = 'a'");
  EXPECT_EQ(Parsed("((name) = ('a'))"), "name = 'a'");
}

TEST(ParserTest, OperatorsOfManyWords) {
  EXPECT_EQ(Parsed("name in ['a', 'b',]"), "name in ['a', 'b']");
  EXPECT_EQ(Parsed("name not in ['a']"), "not name in ['a']");
  EXPECT_EQ(Parsed("generation between 1 and 3 and name like 'a%'"),
            "generation between 1 and 3 and name like 'a%'");
  EXPECT_EQ(Parsed("name not between 'a' and 'b'"), "not name between 'a' and 'b'");
  EXPECT_EQ(Parsed("name not ilike '%x'"), "not name ilike '%x'");
  EXPECT_EQ(Parsed("deleted_time is null"), "deleted_time is null");
  EXPECT_EQ(Parsed("deleted_time IS NOT NULL"), "not deleted_time is null");
  EXPECT_EQ(Parsed("deleted_time = null"), "deleted_time is null");
  EXPECT_EQ(Parsed("null != deleted_time"), "not deleted_time is null");
  EXPECT_EQ(Parsed("generation in [1, null]"), "generation in [1]");
}

TEST(ParserTest, OperandsMayBeReversed) {
  EXPECT_EQ(Parsed("'True' = status.conditions.Reconciled"),
            "status.conditions.Reconciled = 'True'");
  EXPECT_EQ(Parsed("3 < generation"), "generation > 3");
  EXPECT_EQ(Parsed("3 >= generation"), "generation <= 3");
  ExpectRefused("'abc' = generation", "position 1: generation is compared with a number");
}

TEST(ParserTest, LiteralsTakeTheTypeOfTheirField) {
  EXPECT_EQ(Parsed("created_time > 2026-11-30"), "created_time > '2026-11-30T00:00:00Z'");
  EXPECT_EQ(Parsed("created_time > '2026-11-30T01:00:00+01:00'"),
            "created_time > '2026-11-30T00:00:00Z'");
  EXPECT_EQ(Parsed("name = '2026-11-30'"), "name = '2026-11-30'");
  EXPECT_EQ(Parsed("labels.day = 2026-11-30"), "labels.day = '2026-11-30'");
  EXPECT_EQ(Parsed("spec.n in [1, 2Ki]"), "spec.n in [1, 2048]");
  EXPECT_EQ(Parsed("spec.n in [1, 'x']"), "spec.n in ['1', 'x']");
  EXPECT_EQ(Parsed("spec.n like 1"), "spec.n like '1'");
  EXPECT_EQ(Parsed("spec.on = true"), "spec.on = 'true'");
  EXPECT_EQ(Parsed("generation = -1.50"), "generation = -15e-1");
}

TEST(ParserTest, WhatDoesNotFitItsFieldIsRefused) {
  ExpectRefused("generation='abc'", "position 12: generation is compared with a number");
  ExpectRefused("generation in [1, 'x']", "position 19: generation is compared with a number");
  ExpectRefused("created_time='not-a-date'", "position 14: created_time is compared with a date");
  ExpectRefused("created_time > 5", "created_time is compared with a date");
  ExpectRefused("created_time = '2026-13-01'", "created_time is compared with a date");
  ExpectRefused("created_time like '2026%'", "created_time is no text");
  ExpectRefused("generation ilike '1'", "generation is no text");
  ExpectRefused("name = 5", "put it in quotes");
  ExpectRefused("labels.n = 5", "put it in quotes");
  ExpectRefused("name = true", "put it in quotes");
  ExpectRefused("name < null", "position 8: name cannot be compared so with null");
  ExpectRefused("generation in [null]", "needs a value");
  ExpectRefused("name in []", "needs a value");
  ExpectRefused("name like 'a\\'", "the quote is not closed");
  ExpectRefused("name like 'a\\\\'", "ends with a backslash");
}

TEST(ParserTest, UnknownFieldsAreRefused) {
  for (const char* text :
       {"properties.foo='bar'", "label.environment='x'", "nonexistent_column='x'", "Name='x'",
        "tenancy.org='x'", "owner.name='x'", "status='x'", "spec='x'", "labels='x'"}) {
    ExpectRefused(text, "position 1: there is no field");
  }
  ExpectRefused("labels.='x'", "the key of the label is missing");
  ExpectRefused("spec.='x'", "a path in spec");
  ExpectRefused("spec.a..b='x'", "a path in spec");
  ExpectRefused("spec.a/b='x'", "a path in spec");
}

TEST(ParserTest, ConditionsAreAskedForByStatusAndTime) {
  ExpectRefused("status.conditions.Reconciled='Invalid'", "position 30: the status");
  ExpectRefused("status.conditions.Reconciled=true", "the status of a condition");
  ExpectRefused("status.conditions.reconciled='True'", "the type of a condition");
  ExpectRefused("status.conditions.Rec-1='True'", "the type of a condition");
  ExpectRefused("status.conditions.Reconciled!='True'", "can only be compared with =");
  ExpectRefused("status.conditions.Reconciled in ['True']", "can only be compared with =");
  ExpectRefused("status.conditions.Reconciled like 'T%'", "can only be compared with =");
  ExpectRefused("status.conditions.Reconciled.created_time < 2026-01-01", "of a condition");
  ExpectRefused("status.conditions.Reconciled.last_updated_time between 2026-01-01 and 2026-01-02",
                "can only be compared");
  ExpectRefused("status.conditions.Reconciled.observed_generation = 1.5", "integer of 32 bits");
  ExpectRefused("status.conditions.Reconciled.observed_generation < 2147483648", "of 32 bits");
  ExpectRefused("status.conditions.Reconciled.observed_generation = '1'", "a number");
  EXPECT_EQ(Parsed("status.conditions.X is null"), "status.conditions.X is null");
  EXPECT_EQ(Parsed("status.conditions.X.observed_generation != 3"),
            "status.conditions.X.observed_generation != 3");
}

TEST(ParserTest, LabelsAndConditionsAreNotNegated) {
  for (const char* text :
       {"not status.conditions.Reconciled='True'",
        "not (labels.a='x' AND status.conditions.Reconciled='True')", "not labels.a='x'",
        "not (name='y' or (name='x' and labels.a='x'))", "not not labels.a='x'",
        "labels.a not in ['x']", "labels.a not like 'x'", "labels.a not between 'a' and 'b'",
        "labels.a is not null", "status.conditions.X is not null",
        "not status.conditions.X.observed_generation=1"}) {
    ExpectRefused(text, "labels and conditions cannot be negated");
  }
  ExpectRefused("labels.a != null", "cannot be compared so with null");
  EXPECT_EQ(Parsed("status.conditions.Reconciled='True' AND not (name='x')"),
            "status.conditions.Reconciled = 'True' and not name = 'x'");
  EXPECT_EQ(Parsed("labels.a != 'x' or labels.b is null"), "labels.a != 'x' or labels.b is null");
}

TEST(ParserTest, WhatIsNoSearchIsRefusedWithItsPlace) {
  ExpectRefused("", "position 1: it ends too early");
  ExpectRefused("name", "position 1: this is not compared");
  ExpectRefused("name='a' and name", "position 14: this is not compared");
  ExpectRefused("'x'", "position 1: this is not compared");
  ExpectRefused("name =", "position 7: it ends too early");
  ExpectRefused("(name='a'", "position 10: it ends too early");
  ExpectRefused("name='a')", "position 9: ')' is not expected here");
  ExpectRefused("name='a' name='b'", "position 10: 'name' is not expected here");
  ExpectRefused("name = kind", "position 8: a comparison is one of a field with a value");
  ExpectRefused("1 = 1", "a comparison is one of a field with a value");
  ExpectRefused("'' OR '1'='1'", "position 1");
  ExpectRefused("name in ('a', 'b')", "position 9: a list is put in square brackets");
  ExpectRefused("name ~= 'a'", "'~=' is not supported");
  ExpectRefused("generation + 1 = 2", "'+' is not supported");
  ExpectRefused("len(name) = 2", "position 1: 'len' is not expected here");
  ExpectRefused("name is 'x'", "position 9: 'x' is not expected here");
  ExpectRefused("(name='a') = 'b'", "a comparison");
  ExpectRefused("name = 'a' = 'b'", "position 12: '=' is not expected here");
  ExpectRefused(std::string_view("name = '\0'", 10), "position 9");
  ExpectRefused("name='1') OR (kind='2'", "position 9: ')' is not expected here");
}

TEST(ParserTest, HasBounds) {
  const auto nested = [](int depth, const std::string& open, const std::string& close) {
    std::string text;
    for (int i = 0; i < depth; ++i) {
      text += open;
    }
    text += "name='x'";
    for (int i = 0; i < depth; ++i) {
      text += close;
    }
    return text;
  };
  EXPECT_EQ(Parsed(nested(64, "(", ")")), "name = 'x'");
  ExpectRefused(nested(65, "(", ")"), "nested too deeply");
  ExpectRefused(nested(65, "not ", ""), "nested too deeply");
  const std::string name(kMaxSearchBytes - 7, 'x');
  EXPECT_EQ(Parsed("name='" + name + "'"), "name = '" + name + "'");
  ExpectRefused("name='" + name + "x'", "at most 4096 bytes");
}

TEST(ParserTest, APatternThatIsTriedEverywhereIsShort) {
  const std::string many(300, 'x');
  EXPECT_EQ(Parsed("name like '" + many + "%'"), "name like '" + many + "%'");
  EXPECT_EQ(Parsed("name like '%_" + many.substr(0, 254) + "'"),
            "name like '%_" + many.substr(0, 254) + "'");
  ExpectRefused("name like '%_" + many + "'", "a pattern with _ has at most 256 bytes");
}

TEST(ParserTest, PrintedTreesAreReadBack) {
  support::SeededRandom random;
  RandomSearch searches(random);
  for (int i = 0; i < 2000; ++i) {
    Node tree = searches.Tree(4);
    const std::string text = Print(tree);
    if (text.size() > kMaxSearchBytes) {
      continue;
    }
    const auto again = ParseSearch(text);
    if (!again.ok()) {
      // The one thing that a random tree may do and a search may not.
      EXPECT_THAT(std::string(again.status().message()), HasSubstr("cannot be negated")) << text;
      continue;
    }
    EXPECT_EQ(*again, tree) << text;
  }
}

// Never more than a refusal, and what is taken can be printed and read again.
TEST(ParserTest, AnyWordsInAnyOrderAreJudged) {
  support::SeededRandom random;
  const std::vector<std::string> words = {"name",
                                          "generation",
                                          "labels.a-b",
                                          "spec.x.y",
                                          "status.conditions.Ready",
                                          "created_time",
                                          "'x'",
                                          "\"True\"",
                                          "12",
                                          "1.5Ki",
                                          "2026-01-01",
                                          "null",
                                          "true",
                                          "and",
                                          "or",
                                          "not",
                                          "in",
                                          "is",
                                          "like",
                                          "ilike",
                                          "between",
                                          "len",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          ",",
                                          "=",
                                          "!=",
                                          "<",
                                          ">=",
                                          "~=",
                                          "-",
                                          "+",
                                          "*",
                                          "'",
                                          "\\",
                                          "\xC3\xA9",
                                          ";",
                                          "name='x'",
                                          "and",
                                          "="};
  int taken = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (std::size_t n = random.Below(7) + 1; n > 0; --n) {
      text += words[random.Below(words.size())] + " ";
    }
    const auto node = ParseSearch(text);
    if (node.ok()) {
      ++taken;
      const auto again = ParseSearch(Print(*node));
      ASSERT_TRUE(again.ok()) << text << " -> " << Print(*node);
      EXPECT_EQ(*again, *node) << text;
    } else {
      EXPECT_EQ(node.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(node.status().message()), HasSubstr("position")) << text;
    }
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace projections::search
