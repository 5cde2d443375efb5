// OrDie ends a benchmark program whose setting up failed: there is nothing to measure then.

#pragma once

#include <cstdio>
#include <cstdlib>

#include <absl/status/statusor.h>

namespace bench {

template <class T>
T OrDie(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

inline void OrDie(const absl::Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }
}

}  // namespace bench
