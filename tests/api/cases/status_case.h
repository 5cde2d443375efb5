// StatusCases: the suite of what adapters report, with what its cases and others say of reports.

#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tests/api/cases/world.h"

namespace cases {

inline constexpr std::array<const char*, 4> kClusterAdapters = {"validation", "dns", "pullsecret",
                                                                "hypershift"};
inline constexpr std::array<const char*, 2> kPoolAdapters = {"validation", "hypershift"};

inline std::string ConditionBody(const std::string& type, const std::string& status) {
  return R"({"type":")" + type + R"(","status":")" + status + R"("})";
}

// A full report. `finalized` empty: it does not say. `time` empty: now.
inline std::string Report(const std::string& adapter, int generation,
                          const std::string& available = "True", const std::string& finalized = "",
                          const std::string& time = "") {
  std::string body =
      R"({"adapter":")" + adapter + R"(","observed_generation":)" + std::to_string(generation);
  if (!time.empty()) {
    body += R"(,"observed_time":")" + time + "\"";
  }
  body += R"(,"conditions":[)" + ConditionBody("Available", available) + "," +
          ConditionBody("Applied", "True") + "," + ConditionBody("Health", "True");
  if (!finalized.empty()) {
    body += "," + ConditionBody("Finalized", finalized);
  }
  return body + "]}";
}

// `True@2`: status and observed generation of a condition; empty when there is none.
inline std::string Shown(const api::JsonValue& resource, std::string_view type) {
  const api::JsonValue* condition = Condition(resource, type);
  return condition == nullptr
             ? ""
             : Text(*condition, "status") + "@" + Text(*condition, "observed_generation");
}

// Paths are those of resources.
class StatusCases : public ApiCase {
 protected:
  std::string NewCluster() {
    return kBase + "/clusters/" + Text(MakeCluster(FreshName("st-")), "id");
  }
  std::string NewPool(const std::string& cluster) {
    return kBase + "/nodepools/" +
           Text(MakeNodePool(cluster.substr(cluster.rfind('/') + 1), FreshName("p-")), "id");
  }
  Answer Put(const std::string& path, const std::string& report) {
    return Call("PUT", path + "/statuses", report);
  }
  template <std::size_t kSize>
  void PutAll(const std::string& path, const std::array<const char*, kSize>& adapters,
              int generation, const std::string& available = "True",
              const std::string& finalized = "") {
    for (const char* adapter : adapters) {
      const Answer put = Put(path, Report(adapter, generation, available, finalized));
      EXPECT_EQ(put.status, 201) << put.body;
    }
  }
  api::JsonValue Statuses(const std::string& path, const std::string& query = "") {
    const Answer answer = Get(path + "/statuses" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.Json();
  }
  std::string ShownAt(const std::string& path, std::string_view type) {
    return Shown(Get(path).Json(), type);
  }
};

}  // namespace cases
