#include "api/tracing/otlp.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(OtlpTest, ARequestLooksLikeThis) {
  Span span;
  span.trace_id = "0af7651916cd43dd8448eb211c80319c";
  span.span_id = "b7ad6b7169203331";
  span.parent_id = "00f067aa0ba902b7";
  span.trace_state = "vendor=1";
  span.name = "GET /a/{id}";
  span.start.micros = 1796087977000001;
  span.duration = std::chrono::nanoseconds(1500);
  span.attributes = {{"http.route", "/a/{id}"}, {"http.response.status_code", std::int64_t{503}}};
  span.is_error = true;
  EXPECT_EQ(OtlpJson(std::vector<Attribute>{{"service.name", "hyperfleet-api"}}, {&span, 1}),
            R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":)"
            R"({"stringValue":"hyperfleet-api"}}]},"scopeSpans":[{"scope":{"name":"halo"},"spans":)"
            R"([{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331",)"
            R"("parentSpanId":"00f067aa0ba902b7","traceState":"vendor=1","name":"GET /a/{id}",)"
            R"("kind":2,"startTimeUnixNano":"1796087977000001000",)"
            R"("endTimeUnixNano":"1796087977000002500","attributes":[{"key":"http.route","value":)"
            R"({"stringValue":"/a/{id}"}},{"key":"http.response.status_code","value":)"
            R"({"intValue":"503"}}],"status":{"code":2}}]}]}]})");
}

TEST(OtlpTest, WhatIsNotThereIsLeftOut) {
  const Span span{.trace_id = "1", .span_id = "2", .name = "GET"};
  EXPECT_EQ(OtlpJson({}, {&span, 1}),
            R"({"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":)"
            R"({"name":"halo"},"spans":[{"traceId":"1","spanId":"2","name":"GET","kind":2,)"
            R"("startTimeUnixNano":"0","endTimeUnixNano":"0","attributes":[],"status":{}}]}]}]})");
}

TEST(OtlpTest, ACollectorSaysWhatItDidNotTake) {
  const Rejected rejected =
      RejectedSpans(R"({"partialSuccess":{"rejectedSpans":"7","errorMessage":"too old"}})");
  EXPECT_EQ(rejected.spans, 7U);
  EXPECT_EQ(rejected.why, "too old");
  EXPECT_EQ(RejectedSpans(R"({"partialSuccess":{"rejectedSpans":3}})").spans, 3U);
  for (const char* const nothing :
       {"", "{}", "[]", "<html>", R"({"partialSuccess":null})", R"({"partialSuccess":{}})",
        R"({"partialSuccess":{"rejectedSpans":-1}})",
        R"({"partialSuccess":{"rejectedSpans":"many"}})"}) {
    EXPECT_EQ(RejectedSpans(nothing).spans, 0U) << nothing;
  }
}

}  // namespace
}  // namespace api
