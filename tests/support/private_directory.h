// PrivateDirectory: `/tmp/halo.XXXXXX`, removed with all its contents on destruction.
//
// Short, because a unix socket path has room for 107 bytes. Directories of test processes that
// were killed are removed by the next one that makes a directory.

#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <sys/types.h>

namespace support {

// Thread-compatible.
class PrivateDirectory {
 public:
  // Mode 0700, owned by `user` when that is not empty and this process is root.
  static absl::StatusOr<std::unique_ptr<PrivateDirectory>> Make(const std::string& user = "");
  ~PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  const std::string& path() const { return path_; }

  // Writes a file that `user` of Make owns, and returns its path.
  absl::StatusOr<std::string> Write(const std::string& name, const std::string& text) const;

 private:
  PrivateDirectory(std::string path, uid_t uid, gid_t gid);

  std::string path_;
  uid_t uid_;
  gid_t gid_;
  // A forked copy of the test process must not remove what it does not own.
  pid_t owner_;
};

// "postgres" when this process is root, whom Postgres and PgBouncer refuse, else empty.
std::string ServerUser();

}  // namespace support
