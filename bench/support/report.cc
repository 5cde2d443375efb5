#include "bench/support/report.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <benchmark/benchmark.h>

namespace bench {
namespace {

using Values = std::map<std::string, std::vector<double>>;  // Of each counter.

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class RatioReporter final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    benchmark::ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) {
        std::string name = run.run_name.function_name;
        if (!run.run_name.args.empty()) {
          name += "/" + run.run_name.args;
        }
        for (const auto& [counter, value] : run.counters) {
          values_[name][counter].push_back(value.value);
        }
      }
    }
  }

  void PrintRatios(const std::vector<Pair>& pairs) const {
    bool any = false;
    for (const Pair& pair : pairs) {
      const auto ours = values_.find(pair.ours);
      const auto floor = values_.find(pair.floor);
      if (ours == values_.end() || floor == values_.end()) {
        continue;
      }
      if (!std::exchange(any, true)) {
        std::printf("\n%-36s %-34s %-12s %12s %12s %9s\n", "ours", "floor", "counter", "ours",
                    "floor", "ratio");
      }
      for (const auto& [counter, values] : ours->second) {
        const auto other = floor->second.find(counter);
        if (other != floor->second.end()) {
          const double mine = Median(values);
          const double theirs = Median(other->second);
          std::printf("%-36s %-34s %-12s %12.4g %12.4g %9.3f\n", pair.ours.c_str(),
                      pair.floor.c_str(), counter.c_str(), mine, theirs, mine / theirs);
        }
      }
    }
  }

 private:
  std::map<std::string, Values> values_;
};

}  // namespace

int RunAll(int argc, char** argv, const std::vector<Pair>& pairs) {
  std::vector<char*> args(argv, argv + argc);
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  args.insert(args.begin() + 1, interleave.data());
  int count = static_cast<int>(args.size());
  benchmark::Initialize(&count, args.data());
  if (benchmark::ReportUnrecognizedArguments(count, args.data())) {
    return 2;
  }
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.PrintRatios(pairs);
  return 0;
}

}  // namespace bench
