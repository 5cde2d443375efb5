// Footprint: what a command read and what it writes, so that a batch can be shown to equal some
// serial order.
//
// Facts are named by strings that the owner of a projection chooses, one scheme a projection
// (`r/<id>`, `n/<scope>/<name>`). A search reads a whole prefix: it depends on every fact that
// is, or could come to be, under it.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

// Thread-compatible; never blocks.
class Footprint {
 public:
  void Read(std::string fact) { reads_.push_back(std::move(fact)); }
  void ReadPrefix(std::string prefix) { prefixes_.push_back(std::move(prefix)); }
  void Write(std::string fact) { writes_.push_back(std::move(fact)); }

  const std::vector<std::string>& reads() const { return reads_; }
  const std::vector<std::string>& prefixes() const { return prefixes_; }
  const std::vector<std::string>& writes() const { return writes_; }

 private:
  std::vector<std::string> reads_;
  std::vector<std::string> prefixes_;
  std::vector<std::string> writes_;
};

// The facts that earlier commands of a batch changed.
class ChangedFacts {
 public:
  // Whether a command with this footprint would have seen another world after them.
  bool Touch(const Footprint& footprint) const;
  void Add(const Footprint& footprint);

 private:
  std::set<std::string, std::less<>> facts_;
};

}  // namespace engine
