#include "api/server/process_metrics.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace api {
namespace {

void Add(const char* name, const char* help, MetricType type, double value, Samples& samples) {
  samples.push_back({name, help, type, value, {}});
}

// Fields of /proc/self/stat behind the name of the program, which may hold anything; the first is
// number 3 of proc(5).
std::vector<std::string> StatFields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) {
    return {};
  }
  std::istringstream words(line.substr(name_end + 2));
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

double BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    if (double seconds = 0; word == "btime" && file >> seconds) {
      return seconds;
    }
  }
  return 0;
}

void AddStat(Samples& samples) {
  constexpr std::size_t kUserTime = 14 - 3, kSystemTime = 15 - 3, kThreads = 20 - 3,
                        kStartTime = 22 - 3, kVirtual = 23 - 3, kResident = 24 - 3;
  const std::vector<std::string> stat = StatFields();
  if (stat.size() <= kResident) {
    return;
  }
  const auto number = [&stat](std::size_t field) { return std::stod(stat[field]); };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  Add("process_cpu_seconds_total", "User and system CPU time spent.", MetricType::kCounter,
      (number(kUserTime) + number(kSystemTime)) / ticks, samples);
  Add("process_resident_memory_bytes", "Resident memory size.", MetricType::kGauge,
      number(kResident) * static_cast<double>(sysconf(_SC_PAGESIZE)), samples);
  Add("process_start_time_seconds", "Start of the process since the Unix epoch.",
      MetricType::kGauge, BootTime() + number(kStartTime) / ticks, samples);
  Add("process_threads", "Threads of the process.", MetricType::kGauge, number(kThreads), samples);
  Add("process_virtual_memory_bytes", "Virtual memory size.", MetricType::kGauge, number(kVirtual),
      samples);
}

void AddFiles(Samples& samples) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Add("process_max_fds", "How many files may be open.", MetricType::kGauge,
        static_cast<double>(limit.rlim_cur), samples);
  }
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  if (!error) {
    Add("process_open_fds", "Open files.", MetricType::kGauge,
        static_cast<double>(std::distance(begin(open), end(open))), samples);
  }
}

}  // namespace

void AddProcess(Samples& samples) {
  AddStat(samples);
  AddFiles(samples);
}

}  // namespace api
