// Streams, rows and transactions for tests that drive a journal by hand.

#pragma once

#include <string>
#include <vector>

#include "engine/journal.h"

namespace support {

inline constexpr engine::StreamId kAudit{1};
inline constexpr engine::StreamId kEvents{2};
inline constexpr engine::StreamId kThings{3};

// Three streams, one of each sort: chained, plain, keyed.
engine::Catalogue Streams();
// Cursors at the start of all of them.
engine::Cursors FromTheStart();
// Half a minute: longer than any test may take, so that a hang fails.
engine::Deadline Soon();

// Finishes rows as the committer would: positions, tx, time, checksums, digests.
class RowBuilder {
 public:
  explicit RowBuilder(const engine::LockedState& state);
  RowBuilder& Add(engine::StreamId stream, const std::string& key, const std::string& payload,
                  engine::Position previous = engine::Position::kBeforeFirst,
                  std::uint16_t flags = 0);
  std::vector<engine::Record> rows() const { return rows_; }

 private:
  engine::LockedState state_;
  std::vector<engine::Record> rows_;
};

// Appends one record in a transaction of its own; the row as written. Fails the test if it cannot.
engine::Record AppendOne(engine::Journal& journal, engine::StreamId stream, const std::string& key,
                         const std::string& payload);

}  // namespace support
