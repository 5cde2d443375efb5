// IndexUpkeep: whether a projection keeps its indexes with every change, or gives them up and
// builds them anew when it publishes. That is cheaper where a good part of everything changes
// between two publications: at a replay.

#pragma once

#include <cstddef>

namespace projections {

// One thread; never blocks.
class IndexUpkeep {
 public:
  // Counts a change of a state of so many entries. True: the indexes are given up now; empty them.
  bool GivesUp(std::size_t size) {
    ++unpublished_;
    if (given_up_ || unpublished_ < kAlwaysKept + size / 4) {
      return false;
    }
    given_up_ = true;
    return true;
  }
  // Then they are empty, and nothing is put into them.
  bool given_up() const { return given_up_; }
  // They are whole again, and published.
  void Published() { *this = {}; }

 private:
  // Fewer changes than this are always indexed one by one.
  static constexpr std::size_t kAlwaysKept = 1000;

  std::size_t unpublished_ = 0;
  bool given_up_ = false;
};

}  // namespace projections
