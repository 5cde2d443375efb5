// Report: Google Benchmark's console output, and below it the ratios that are the result.
//
// Absolute numbers drift with the machine; a ratio of medians from one run whose repetitions are
// interleaved does not. Each program names its pairs:
//
//   int main(int argc, char** argv) {
//     return bench::RunAll(argc, argv, {{"Append/postgres/64", "OneTransactionARecord/64"}});
//   }

#pragma once

#include <string>
#include <vector>

namespace bench {

struct Pair {
  std::string ours;
  std::string floor;
};

// Runs the registered benchmarks, repetitions interleaved at random unless told otherwise, and
// prints for each pair ours/floor of every counter that both have: medians, then the ratio.
int RunAll(int argc, char** argv, const std::vector<Pair>& pairs);

}  // namespace bench
