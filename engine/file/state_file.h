// The bytes of a state file, and how one is read and judged: leases and key-value rows as they
// were left, with the changes since. Byte tables and a worked example: docs/formats/state.md.
//
// Only the last frame may be torn; all else that does not fit is damage, refused with kDataLoss
// that names file and byte offset.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/file/directory.h"
#include "engine/file/format.h"
#include "engine/memory/rows.h"

namespace engine::file {

// What a frame says of one row.
struct StateChange {
  memory::RowKey key;
  std::optional<memory::Row> row;  // Empty: it is gone.
  friend bool operator==(const StateChange&, const StateChange&) = default;
};

// Of a change to `row`, or, null, of its removal.
std::size_t EncodedSize(const memory::RowKey& key, const memory::Row* row);
EncodedFrame EncodeStateFrame(const SegmentHeader& header, Tx number, FrameDigest previous,
                              std::span<const StateChange> changes);
// Empty when the body does not hold exactly `count` changes.
std::optional<std::vector<StateChange>> DecodeStateChanges(std::string_view body,
                                                           std::uint32_t count);

struct StateContents {
  std::uint64_t generation = 0;  // 0: there is no file.
  SegmentHeader header;
  memory::RowTable rows;
  // Where the next frame goes, and what it follows.
  std::uint64_t size = 0;
  Tx last = Tx::kBeforeFirst;
  FrameDigest digest = FrameDigest::kNone;
  std::uint64_t torn_bytes = 0;
  std::string torn_why;
};

// Reads and judges the newest generation; changes nothing. Blocks while it is read.
absl::StatusOr<StateContents> ReadState(const Directory& directory);

// The bytes of a new file that holds `rows`, and where they end.
struct EncodedState {
  std::string bytes;
  Tx last = Tx::kBeforeFirst;
  FrameDigest digest = FrameDigest::kNone;
};
EncodedState EncodeState(const SegmentHeader& header, const memory::RowTable& rows);

}  // namespace engine::file
