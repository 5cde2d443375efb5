#include "projections/search/evaluate.h"

#include <string>

#include <gtest/gtest.h>

#include "projections/resources/entry.h"
#include "projections/search/matcher.h"
#include "projections/search/parser.h"
#include "tests/projections/resources/store.h"
#include "tests/support/status_matchers.h"

namespace projections::search {
namespace {

class EvaluateTest : public testing::Test {
 protected:
  EvaluateTest() {
    CreateRequest request{.id = store_.NextId(),
                          .kind = "Cluster",
                          .name = "alpha-1",
                          .parent_id = {},
                          .spec = R"({"big":9007199254740993,"deepKey":{"my-key":"x"},"e":1e+20,)"
                                  R"("float":0.1,"list":[1],"n":10,"none":null,"on":true,)"
                                  R"("say":"a\"b","text":"10"})",
                          .labels = {{"app.kubernetes.io/name", "web"}, {"env", "prod"}},
                          .tenancy = {},
                          .actor = "alice"};
    id_ = request.id;
    EXPECT_FALSE(store_.Do(request).refusal.has_value());
  }

  bool Finds(std::string_view text) const {
    const auto node = ParseSearch(text);
    EXPECT_TRUE(node.ok()) << node.status();
    const bool found = node.ok() && Matches(*node, *store_.Find(id_), nullptr);
    if (node.ok()) {
      const Matcher matcher(*node, store_.image()->spec_paths());
      EXPECT_EQ(matcher.Matches(*store_.Find(id_), nullptr), found) << text;
    }
    return found;
  }

  TestStore store_;
  std::string id_;
};

TEST_F(EvaluateTest, Columns) {
  EXPECT_TRUE(Finds("name = 'alpha-1' and kind = 'Cluster' and created_by = 'alice'"));
  EXPECT_TRUE(Finds("id = '" + id_ + "'"));
  EXPECT_TRUE(Finds("name like 'alpha%' and name ilike 'ALPHA-_' and not name like 'ALPHA%'"));
  EXPECT_TRUE(Finds("name between 'alpha' and 'beta' and name in ['x', 'alpha-1']"));
  EXPECT_TRUE(Finds("generation = 1 and generation < 1.5 and generation >= 1.0"));
  EXPECT_FALSE(Finds("generation = 1.5 or generation > 1e300 or generation != 1"));
  EXPECT_TRUE(Finds("created_time > '2020-01-01T00:00:00Z' and created_time < 2100-01-01"));
  EXPECT_FALSE(Finds("created_time < 2020-01-01"));
  EXPECT_TRUE(Finds("href like '/api/%'"));
}

TEST_F(EvaluateTest, Labels) {
  EXPECT_TRUE(Finds("labels.env = 'prod' and labels.app.kubernetes.io/name = 'web'"));
  EXPECT_TRUE(Finds("labels.env != 'dev' and labels.env > 'dev' and labels.none is null"));
  EXPECT_FALSE(Finds("labels.none != 'x' or labels.env is null or labels.env like 'P%'"));
}

TEST_F(EvaluateTest, SpecsAsText) {
  EXPECT_TRUE(Finds("spec.deepKey.my-key = 'x' and spec.text = '10' and spec.n = '10'"));
  EXPECT_TRUE(Finds("spec.on = true and spec.on = 'true' and spec.say = 'a\"b'"));
  EXPECT_TRUE(Finds("spec.list = '[1]' and spec.deepKey = '{\"my-key\":\"x\"}'"));
  EXPECT_TRUE(Finds("spec.none is null and spec.missing is null and spec.missing.x is null"));
  EXPECT_TRUE(Finds("spec.n is not null and spec.list is not null"));
}

TEST_F(EvaluateTest, SpecsAsExactNumbers) {
  EXPECT_TRUE(Finds("spec.n > 9 and spec.n = 10.0 and spec.n in [1, 10] and spec.n < 1k"));
  EXPECT_TRUE(Finds("spec.big = 9007199254740993 and spec.big > 9007199254740992"));
  EXPECT_FALSE(Finds("spec.big = 9007199254740992"));
  EXPECT_TRUE(Finds("spec.float = 0.1 and spec.e = 100000000000000000000"));
  EXPECT_TRUE(Finds("spec.n between 10 and 11"));
}

// Text is greater than '9' where it is compared as text, and never where numbers are.
TEST_F(EvaluateTest, ANumberIsNoText) {
  EXPECT_FALSE(Finds("spec.text = 10 or spec.text > 9 or spec.text != 3 or spec.on = 1"));
  EXPECT_FALSE(Finds("not spec.text = 3"));
  EXPECT_TRUE(Finds("spec.text in [10, 'x']"));
}

TEST_F(EvaluateTest, WhatIsAbsentIsNeitherEqualNorUnequal) {
  EXPECT_FALSE(Finds("deleted_by = 'x' or deleted_by != 'x' or not deleted_by = 'x'"));
  EXPECT_FALSE(Finds("not (deleted_by = 'x' and name = 'alpha-1')"));
  EXPECT_TRUE(Finds("not (deleted_by = 'x' and name = 'beta')"));
  EXPECT_TRUE(Finds("deleted_by = 'x' or name = 'alpha-1'"));
  EXPECT_TRUE(Finds("deleted_time is null and owner_id is null"));
  EXPECT_FALSE(Finds("deleted_time is not null"));
  EXPECT_FALSE(Finds("status.conditions.Reconciled = 'True'"));
  EXPECT_TRUE(Finds("status.conditions.Reconciled is null"));
}

}  // namespace
}  // namespace projections::search
