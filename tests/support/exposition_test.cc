#include "tests/support/exposition.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"

namespace support {
namespace {

constexpr char kHead[] = "# HELP a_total What it is.\n# TYPE a_total counter\n";

TEST(ExpositionTest, SamplesAreReadWithTheirLabels) {
  ASSERT_OK_AND_ASSIGN(
      const Exposition text,
      Exposition::Parse(std::string(kHead) + "a_total{x=\"1\",y=\"q\\\"\\\\\\n\"} 2.5e1\n"
                                             "a_total{x=\"2\",y=\"\"} 0\n"
                                             "# HELP b B.\n# TYPE b gauge\nb NaN\n"));
  EXPECT_EQ(text.Value("a_total", {{"x", "1"}}), 25);
  EXPECT_EQ(text.Value("a_total", {{"y", "q\"\\\n"}}), 25);
  EXPECT_EQ(text.Value("a_total"), std::nullopt) << "there are two";
  EXPECT_EQ(text.Value("c"), std::nullopt);
  EXPECT_EQ(text.Find("a_total")->help, "What it is.");
}

TEST(ExpositionTest, WhatIsNotOfTheFormatIsRefused) {
  for (const char* wrong :
       {"a_total 1", "a_total x\n", "a_total{x=1} 1\n", "a_total{x=\"1} 1\n", "a_total{1=\"\"} 1\n",
        "a_total{x=\"\\t\"} 1\n", "a_total{x=\"1\",x=\"2\"} 1\n", "b 1\n", "a_total -1\n",
        "a_total 1\na_total 2\n", "# TYPE a_total gauge\na_total 1\n", "a_total 1 \n",
        "# HELP b B.\n# TYPE b counter\nb 1\n", "# HELP b B.\nb 1\n",
        "# HELP b B.\n# TYPE b gauge\nb 1\na_total 1\n"}) {
    EXPECT_FALSE(Exposition::Parse(std::string(kHead) + wrong).ok()) << wrong;
  }
}

TEST(ExpositionTest, BucketsHaveToAddUp) {
  const std::string head = "# HELP h H.\n# TYPE h histogram\n";
  EXPECT_OK(Exposition::Parse(head + "h_count 2\nh_sum 3\nh_bucket{le=\"1\"} 1\n"
                                     "h_bucket{le=\"+Inf\"} 2\n"));
  for (const char* wrong :
       {"h_count 2\nh_bucket{le=\"1\"} 1\n", "h_count 2\nh_bucket{le=\"+Inf\"} 1\n",
        "h_count 1\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\n", "h_count 1\nh_bucket 1\n",
        "h_count 2\n"}) {
    EXPECT_FALSE(Exposition::Parse(head + wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace support
