#include "tests/support/row_builder.h"

#include <algorithm>

#include "tests/support/status_matchers.h"

namespace support {

using engine::Record;

engine::Catalogue Streams() {
  return {{.id = kAudit, .name = "audit", .keyed = false, .chained = true},
          {.id = kEvents, .name = "events", .keyed = false, .chained = false},
          {.id = kThings, .name = "things", .keyed = true, .chained = false}};
}

engine::Cursors FromTheStart() {
  return {{kAudit, {}, {}}, {kEvents, {}, {}}, {kThings, {}, {}}};
}

engine::Deadline Soon() {
  return engine::Deadline::After(std::chrono::seconds(30));
}

RowBuilder::RowBuilder(const engine::LockedState& state) : state_(state) {}

RowBuilder& RowBuilder::Add(engine::StreamId stream, const std::string& key,
                            const std::string& payload, engine::Position previous,
                            std::uint16_t flags) {
  auto& tail = *std::ranges::find(state_.tails, stream, &engine::StreamTail::stream);
  Record row;
  row.stream = stream;
  row.position = engine::Next(tail.position);
  row.tx = engine::Next(state_.last_tx);
  row.key = key;
  row.previous = previous;
  row.flags = flags;
  row.at = state_.now;
  row.payload = engine::Payload(payload);
  row.checksum = engine::RowChecksum(row);
  row.digest = engine::ChainDigest(tail.digest, row.checksum);
  tail.position = row.position;
  tail.digest = row.digest;
  rows_.push_back(std::move(row));
  return *this;
}

Record AppendOne(engine::Journal& journal, engine::StreamId stream, const std::string& key,
                 const std::string& payload) {
  auto transaction = journal.Begin(Soon());
  EXPECT_OK(transaction);
  if (!transaction.ok()) {
    return {};
  }
  const auto state = (*transaction)->Read({});
  EXPECT_OK(state);
  if (!state.ok()) {
    return {};
  }
  const std::vector<Record> rows = RowBuilder(*state).Add(stream, key, payload).rows();
  EXPECT_OK((*transaction)->Append(rows, {}));
  const engine::CommitOutcome outcome = (*transaction)->Commit(Soon());
  EXPECT_EQ(outcome.kind, engine::CommitOutcome::Kind::kCommitted) << outcome.why;
  return rows.front();
}

}  // namespace support
