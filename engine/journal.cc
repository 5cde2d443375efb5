#include "engine/journal.h"

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace engine {

std::string RowBytes(const Record& record) {
  std::string bytes;
  bytes.reserve(46 + record.key.size() + record.payload.size());
  AppendU32(static_cast<std::uint32_t>(record.stream), bytes);
  AppendU64(Raw(record.position), bytes);
  AppendU64(Raw(record.tx), bytes);
  AppendU32(static_cast<std::uint32_t>(record.key.size()), bytes);
  bytes += record.key;
  AppendU64(Raw(record.previous), bytes);
  AppendU16(record.flags, bytes);
  AppendU64(static_cast<std::uint64_t>(record.at.micros), bytes);
  AppendU32(static_cast<std::uint32_t>(record.payload.size()), bytes);
  bytes += record.payload.view();
  return bytes;
}

std::uint64_t RowChecksum(const Record& record) {
  return Checksum64(RowBytes(record));
}

Digest ChainDigest(Digest before, std::uint64_t checksum) {
  std::string bytes;
  AppendU64(Raw(before), bytes);
  AppendU64(checksum, bytes);
  return Digest{Checksum64(bytes)};
}

}  // namespace engine
