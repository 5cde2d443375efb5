#include "projections/search/spec_outline.h"

#include <compare>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "projections/search/decimal.h"
#include "projections/search/json_scan.h"
#include "tests/projections/search/specs.h"

namespace projections::search {
namespace {

// An outline with the memory behind it.
class Outlined {
 public:
  Outlined(std::string_view spec, SpecPaths& paths) {
    const OutlinedSpec outlined = OutlineOf(spec, paths);
    memory_.resize(1 + SpecOutline::SizeBehind(outlined) / sizeof(std::uint64_t));
    outline_ = new (memory_.data()) SpecOutline(outlined);
  }
  const SpecOutline* operator->() const { return outline_; }
  bool is_complete() const { return outline_->is_complete(); }

 private:
  std::vector<std::uint64_t> memory_;
  const SpecOutline* outline_ = nullptr;
};

TEST(SpecOutlineTest, CodesOfNumbersHaveTheirOrder) {
  support::SeededRandom random;
  RandomSpec specs(random);
  for (int i = 0; i < 3000; ++i) {
    const std::string texts[] = {specs.Number(), specs.Number()};
    const auto a = Decimal::Parse(texts[0]);
    const auto b = Decimal::Parse(texts[1]);
    const auto a_code = NumberCodeOf(texts[0]);
    const auto b_code = NumberCodeOf(texts[1]);
    EXPECT_TRUE(a.has_value() || !a_code.has_value()) << texts[0];
    if (!a_code || !b_code) {
      continue;
    }
    if (a_code->code != b_code->code) {
      EXPECT_EQ(a_code->code <=> b_code->code, *a <=> *b) << texts[0] << " " << texts[1];
    } else if (a_code->is_exact && b_code->is_exact) {
      EXPECT_EQ(*a, *b) << texts[0] << " " << texts[1];
    }
  }
}

TEST(SpecOutlineTest, SmallIntegersAreExact) {
  for (int i = 0; i <= 16'384; ++i) {
    EXPECT_TRUE(NumberCodeOf(std::to_string(i))->is_exact);
    EXPECT_TRUE(NumberCodeOf(std::to_string(-i))->is_exact);
  }
  EXPECT_TRUE(NumberCodeOf("17179869184")->is_exact);
  EXPECT_FALSE(NumberCodeOf("16385")->is_exact);
  EXPECT_FALSE(NumberCodeOf("0.5")->is_exact);  // It is, but that is not looked at.
}

// What FindMember finds: there, or not at all.
TEST(SpecOutlineTest, MembersAreWhereTheyAre) {
  support::SeededRandom random;
  RandomSpec specs(random);
  int outlined = 0;
  for (int i = 0; i < 3000; ++i) {
    SpecPaths paths;
    const std::string spec = specs.Spec();
    const Outlined outline(spec, paths);
    for (int look = 0; look < 5; ++look) {
      const std::vector<std::string> path = specs.Path();
      std::string joined;
      for (const std::string& key : path) {
        joined += (joined.empty() ? "" : ".") + key;
      }
      const JsonSlice found = FindMember(spec, path);
      const auto id = paths.Find(joined);
      const OutlinedMember* const member = id ? outline->Find(*id) : nullptr;
      if (member == nullptr) {
        EXPECT_TRUE(!outline->is_complete() || found.kind == JsonKind::kMissing) << spec << joined;
        continue;
      }
      ++outlined;
      EXPECT_EQ(ValueAt(std::string_view(spec).substr(member->place)).text, found.text)
          << spec << " " << joined;
    }
  }
  EXPECT_GT(outlined, 500);
}

TEST(SpecOutlineTest, OfWhatIsThereTwiceItSaysNothing) {
  SpecPaths paths;
  for (const char* spec :
       {R"({"a":1,"a":2})", R"({"a":{"b":1},"a":{"c":2}})", R"({"a":null,"a":2})"}) {
    const Outlined outline(spec, paths);
    EXPECT_FALSE(outline->is_complete()) << spec;
    EXPECT_EQ(outline->Find(*paths.Find("a")), nullptr) << spec;
  }
  // The same key elsewhere is another member.
  const Outlined outline(R"({"a":{"a":1},"b":[{"a":2}]})", paths);
  EXPECT_TRUE(outline->is_complete());
  EXPECT_NE(outline->Find(*paths.Find("a.a")), nullptr);
}

TEST(SpecOutlineTest, HasItsBounds) {
  SpecPaths paths;
  const auto wide = [](std::size_t members) {
    std::string spec;
    for (std::size_t i = 0; i < members; ++i) {
      spec += (i == 0 ? "{\"k" : ",\"k") + std::to_string(i) + "\":1";
    }
    return spec + "}";
  };
  EXPECT_TRUE(Outlined(wide(kMaxOutlinedMembers), paths).is_complete());
  const Outlined outline(wide(kMaxOutlinedMembers + 1), paths);
  EXPECT_FALSE(outline->is_complete());
  EXPECT_NE(outline->Find(*paths.Find("k0")), nullptr);
  const std::string key(SpecPaths::kMaxBytes, 'k');
  EXPECT_TRUE(Outlined("{\"" + key + "\":1}", paths).is_complete());
  EXPECT_FALSE(Outlined("{\"" + key + "k\":1}", paths).is_complete());
  // Nested as deep as no document is, and deeper.
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "{\"d\":";
  }
  EXPECT_FALSE(Outlined(deep, paths).is_complete());
}

TEST(SpecPathsTest, GiveNoNumberTwice) {
  SpecPaths paths;
  for (std::size_t i = 0; i < SpecPaths::kMaxPaths; ++i) {
    ASSERT_EQ(paths.Add("k" + std::to_string(i)), i);
  }
  EXPECT_EQ(paths.Add("one more"), std::nullopt);
  EXPECT_EQ(paths.Find("one more"), std::nullopt);
  EXPECT_EQ(paths.Add("k7"), 7);
  EXPECT_EQ(paths.Find("k65535"), 65'535);
}

}  // namespace
}  // namespace projections::search
