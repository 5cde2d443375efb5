#include "tests/conformance/conformance.h"

#include "tests/support/status_matchers.h"

namespace conformance {

using engine::Record;

Record JournalConformance::AppendEvent(const std::string& payload) {
  return support::AppendOne(journal(), kEvents, "", payload);
}

std::vector<Record> JournalConformance::AllRows() {
  std::vector<Record> rows;
  const auto take = [&](std::span<const Record> batch) {
    rows.insert(rows.end(), batch.begin(), batch.end());
    return absl::OkStatus();
  };
  EXPECT_OK(journal().Scan({.after = FromTheStart(), .through = {}}, take, Soon()));
  return rows;
}

}  // namespace conformance
