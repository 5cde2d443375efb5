#include "api/http/trace.h"

#include <gtest/gtest.h>

#include "api/http/problem.h"

namespace api {
namespace {

constexpr char kTrace[] = "0af7651916cd43dd8448eb211c80319c";
constexpr char kParent[] = "b7ad6b7169203331";

Request With(const std::vector<std::string>& values) {
  RequestParts parts;
  parts.id = "own";
  for (const std::string& value : values) {
    parts.headers.push_back({"TraceParent", value});
  }
  return Request(std::move(parts));
}

std::string Header(const std::string& version, const std::string& rest = "") {
  return version + "-" + kTrace + "-" + kParent + "-01" + rest;
}

TEST(TraceTest, TheCallersTraceIsTaken) {
  const Request request = With({Header("00")});
  const auto trace = TraceOf(request);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->trace_id, kTrace);
  EXPECT_EQ(trace->parent_id, kParent);
  EXPECT_TRUE(trace->is_sampled);
  EXPECT_EQ(TraceIdOf(request), kTrace);
  EXPECT_TRUE(TraceOf(With({Header("cc", "-what-comes-later")})).has_value());
}

TEST(TraceTest, WhatIsMalformedIsNoTrace) {
  const std::string zeros(32, '0');
  for (const std::string& wrong :
       {std::string(), std::string("00"), Header("ff"), Header("0g"), Header("00", "-more"),
        Header("01", "x"), std::string("00-") + zeros + "-" + kParent + "-01",
        std::string("00-") + kTrace + "-0000000000000000-01",
        std::string("00-0AF7651916CD43DD8448EB211C80319C-") + kParent + "-01",
        std::string("00_") + kTrace + "-" + kParent + "-01"}) {
    const Request request = With({wrong});
    EXPECT_FALSE(TraceOf(request).has_value()) << wrong;
    EXPECT_EQ(TraceIdOf(request), "own") << wrong;
  }
  EXPECT_FALSE(TraceOf(With({Header("00"), Header("00")})).has_value());
  EXPECT_FALSE(TraceOf(With({})).has_value());
}

TEST(TraceTest, AProblemNamesTheCallersTrace) {
  const Problem problem;
  const Response traced = ProblemResponse(With({Header("00")}), problem);
  EXPECT_NE(traced.body.find("\"trace_id\":\"" + std::string(kTrace)), std::string::npos);
  const Response own = ProblemResponse(With({}), problem);
  EXPECT_NE(own.body.find(R"("trace_id":"own")"), std::string::npos);
}

}  // namespace
}  // namespace api
