#include "api/tracing/sampler.h"

#include <string>

#include <gtest/gtest.h>

namespace api {
namespace {

// Ids whose last eight bytes, halved, lie at a tenth and at nine tenths of all.
constexpr char kLow[] = "00000000000000001999999999999998";
constexpr char kHigh[] = "0000000000000000e666666666666666";

TEST(SamplerTest, TheRatioIsOfIds) {
  const Sampler quarter(0.25, false);
  EXPECT_TRUE(quarter.Keeps(kLow, std::nullopt));
  EXPECT_FALSE(quarter.Keeps(kHigh, std::nullopt));
  const std::string other(16, 'f');
  EXPECT_TRUE(quarter.Keeps(other + std::string(kLow).substr(16), std::nullopt))
      << "only its last half counts";
  for (const char* const id : {kLow, kHigh, "ffffffffffffffffffffffffffffffff"}) {
    EXPECT_TRUE(Sampler(1, false).Keeps(id, std::nullopt));
    EXPECT_FALSE(Sampler(0, false).Keeps(id, std::nullopt));
  }
  EXPECT_FALSE(Sampler(0, false).Keeps("00000000000000000000000000000001", std::nullopt));
}

TEST(SamplerTest, WhoCallsDecides) {
  const Sampler none(0);
  const Sampler all(1);
  EXPECT_TRUE(none.Keeps(kHigh, true));
  EXPECT_FALSE(all.Keeps(kLow, false));
  EXPECT_TRUE(all.Keeps(kHigh, std::nullopt));
  EXPECT_FALSE(none.Keeps(kLow, std::nullopt));
  EXPECT_FALSE(Sampler(0, false).Keeps(kLow, true)) << "unless nobody asks who called";
  EXPECT_TRUE(Sampler(1, false).Keeps(kLow, false));
}

TEST(SamplerTest, IsNamedAsOpenTelemetryNamesIt) {
  const auto keeps = [](const char* name, const char* argument, std::optional<bool> parent) {
    const auto sampler = Sampler::Parse(name, argument);
    EXPECT_TRUE(sampler.has_value()) << name;
    return sampler && sampler->Keeps(kHigh, parent);
  };
  EXPECT_TRUE(keeps("always_on", "", false));
  EXPECT_FALSE(keeps("always_off", "", true));
  EXPECT_TRUE(keeps("traceidratio", "0.95", false));
  EXPECT_FALSE(keeps("traceidratio", "0.5", true));
  EXPECT_FALSE(keeps("parentbased_always_on", "", false));
  EXPECT_TRUE(keeps("parentbased_always_off", "", true));
  EXPECT_TRUE(keeps("parentbased_traceidratio", "", std::nullopt));
  EXPECT_FALSE(keeps("parentbased_traceidratio", "0", std::nullopt));
  for (const char* const wrong : {"", "always", "jaeger_remote", "parentbased_"}) {
    EXPECT_FALSE(Sampler::Parse(wrong, "").has_value()) << wrong;
  }
  for (const char* const wrong : {"-0.1", "1.1", "half", "0.5x", "nan", " 1"}) {
    EXPECT_FALSE(Sampler::Parse("traceidratio", wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace api
