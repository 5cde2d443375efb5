#include "engine/file_head.h"

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace engine {

std::string FileHead(const FileFormat& format, std::size_t count) {
  std::string bytes(format.magic);
  AppendU32(format.version, bytes);
  AppendU32(static_cast<std::uint32_t>(count), bytes);
  return bytes;
}

void AppendChecksum(std::string& bytes) {
  AppendU64(Checksum64(bytes), bytes);
}

absl::Status Damaged(const FileFormat& format, std::string_view why) {
  return absl::DataLossError(absl::StrFormat("%s is damaged: %s", format.name, why));
}

absl::Status CheckMagic(const FileFormat& format, std::string_view bytes) {
  if (bytes.size() < kFileHeadBytes + kFileChecksumBytes || !bytes.starts_with(format.magic)) {
    return Damaged(format, absl::StrFormat("it does not start with %s", format.magic));
  }
  return absl::OkStatus();
}

bool EndsWithChecksum(std::string_view bytes) {
  const std::size_t body = bytes.size() - kFileChecksumBytes;
  return ReadU64(bytes.substr(body)) == Checksum64(bytes.substr(0, body));
}

absl::Status CheckVersion(const FileFormat& format, std::string_view bytes) {
  if (const std::uint32_t version = ReadU32(bytes.substr(8)); version != format.version) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s is of format version %d; this program reads version %d", format.name,
                        version, format.version));
  }
  return absl::OkStatus();
}

std::uint32_t FileCount(std::string_view bytes) {
  return ReadU32(bytes.substr(12));
}

std::string_view FileBody(std::string_view bytes) {
  return bytes.substr(kFileHeadBytes, bytes.size() - kFileHeadBytes - kFileChecksumBytes);
}

}  // namespace engine
