#include "tests/conformance/conformance.h"

#include "tests/support/poll.h"
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

engine::Fence LeaseConformance::Win(const std::string& name, const std::string& holder) {
  const auto answer = leases().Acquire(name, holder, std::chrono::minutes(10), Soon());
  EXPECT_OK(answer);
  EXPECT_TRUE(answer.ok() && answer->held);
  return {name, holder, answer.ok() ? answer->token : 0};
}

void LeaseConformance::WaitUntilPast(engine::Timestamp time) {
  EXPECT_TRUE(support::WaitFor(
      [&] {
        // Nobody's term: the answer tells the time.
        const auto answer = leases().Renew({"clock", "nobody", 1}, std::chrono::minutes(1), Soon());
        EXPECT_OK(answer);
        return answer.ok() && answer->now > time;
      },
      Soon()));
}

bool LeaseConformance::Renews(const engine::Fence& term) {
  const auto answer = leases().Renew(term, std::chrono::minutes(10), Soon());
  EXPECT_OK(answer);
  return answer.ok() && answer->held;
}

std::string KeyValueConformance::ValueOf(const std::string& key) {
  const auto entry = kv().Get(key, Soon());
  EXPECT_OK(entry);
  return entry.ok() && entry->has_value() ? (*entry)->value : "(none)";
}

bool KeyValueConformance::MakeExpired(const std::string& key, const std::string& value) {
  EXPECT_OK(kv().Put(key, value, std::chrono::milliseconds(1), Soon()));
  return support::WaitFor([&] { return ValueOf(key) == "(none)"; }, Soon());
}

}  // namespace conformance
