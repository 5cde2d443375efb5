// What is in a frame: rows and the answers that are kept for retries.

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "engine/file/format.h"

namespace engine::file {

std::size_t RowSize(std::string_view bytes) {
  constexpr std::size_t kKeyLengthAt = kRowHeaderBytes + 20;
  if (bytes.size() < kKeyLengthAt + 4) {
    return kRowHeaderBytes + kRowFixedBytes;
  }
  const std::size_t key = ReadU32(bytes.substr(kKeyLengthAt));
  const std::size_t before_payload = kRowHeaderBytes + kRowFixedBytes + key;
  if (bytes.size() < before_payload) {
    return before_payload;
  }
  return before_payload + ReadU32(bytes.substr(before_payload - 4));
}

std::optional<RowView> DecodeRow(std::string_view bytes) {
  const std::size_t size = RowSize(bytes);
  if (bytes.size() < size) {
    return std::nullopt;
  }
  RowView row;
  row.checksum = ReadU64(bytes);
  row.digest = Digest{ReadU64(bytes.substr(8))};
  row.bytes = bytes.substr(kRowHeaderBytes, size - kRowHeaderBytes);
  row.stream = StreamId{ReadU32(row.bytes)};
  row.position = Position{ReadU64(row.bytes.substr(4))};
  row.tx = Tx{ReadU64(row.bytes.substr(12))};
  const std::size_t key = ReadU32(row.bytes.substr(20));
  row.key = row.bytes.substr(24, key);
  const std::string_view rest = row.bytes.substr(24 + key);
  row.previous = Position{ReadU64(rest)};
  row.flags = ReadU16(rest.substr(8));
  row.at = Timestamp{static_cast<std::int64_t>(ReadU64(rest.substr(10)))};
  row.payload = rest.substr(22);
  return row;
}

bool RowIntact(const RowView& row) {
  return GUARD("file.row-checksum", row.checksum == Checksum64(row.bytes));
}

Record ToRecord(const RowView& row) {
  Record record;
  record.stream = row.stream;
  record.position = row.position;
  record.tx = row.tx;
  record.key = row.key;
  record.previous = row.previous;
  record.flags = row.flags;
  record.at = row.at;
  record.checksum = row.checksum;
  record.digest = row.digest;
  record.payload = Payload(row.payload);
  return record;
}

std::optional<std::vector<KeptAnswer>> DecodeAnswers(std::string_view bytes, Tx tx, Timestamp at) {
  std::vector<KeptAnswer> answers;
  while (!bytes.empty()) {
    if (bytes.size() < kAnswerFixedBytes ||
        bytes.size() - kAnswerFixedBytes < ReadU32(bytes.substr(2 * kAnswerHashBytes))) {
      return std::nullopt;
    }
    const std::size_t size = ReadU32(bytes.substr(2 * kAnswerHashBytes));
    answers.push_back({.key = std::string(bytes.substr(0, kAnswerHashBytes)),
                       .request = std::string(bytes.substr(kAnswerHashBytes, kAnswerHashBytes)),
                       .answer = std::string(bytes.substr(kAnswerFixedBytes, size)),
                       .tx = tx,
                       .at = at});
    bytes.remove_prefix(kAnswerFixedBytes + size);
  }
  return answers;
}

}  // namespace engine::file
