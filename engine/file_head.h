// FileHead: how the engine's files begin and end.
//
//   offset   size  type   meaning
//   0        8     bytes  magic: which file this is
//   8        4     u32    format version
//   12       4     u32    how many of something follow, 0 where nothing is counted
//   16             bytes  what the file's own page says
//   end - 8  8     u64    Checksum64 of all bytes before
//
// A reader asks in this order: CheckMagic, EndsWithChecksum, CheckVersion. So damage is damage,
// and what is intact but of another program is told as that. The files: docs/formats/.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace engine {

inline constexpr std::size_t kFileHeadBytes = 16;
inline constexpr std::size_t kFileChecksumBytes = 8;

struct FileFormat {
  std::string_view magic;  // 8 bytes.
  std::uint32_t version = 0;
  std::string_view name;  // For messages: `the list of floors`.
};

// The first kFileHeadBytes.
std::string FileHead(const FileFormat& format, std::size_t count);
// Ends the file.
void AppendChecksum(std::string& bytes);

// kDataLoss: `name` is damaged, and why.
absl::Status Damaged(const FileFormat& format, std::string_view why);

// Fails with kDataLoss when `bytes` are too few for a file, or of none of this format.
absl::Status CheckMagic(const FileFormat& format, std::string_view bytes);
// Whether the last 8 bytes are the checksum of all before. REQUIRES: there are as many.
bool EndsWithChecksum(std::string_view bytes);
// Fails with kFailedPrecondition when it is another one. REQUIRES: kFileHeadBytes are there.
absl::Status CheckVersion(const FileFormat& format, std::string_view bytes);

// REQUIRES of both: CheckMagic passed.
std::uint32_t FileCount(std::string_view bytes);
// What lies between head and checksum.
std::string_view FileBody(std::string_view bytes);

}  // namespace engine
