#include "tests/support/private_directory.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <absl/strings/str_format.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/base/status_macros.h"

namespace support {
namespace {

constexpr char kOwnerFile[] = "owner";

bool OwnerIsGone(const std::filesystem::path& directory) {
  pid_t owner = 0;
  std::ifstream file(directory / kOwnerFile);
  return file >> owner && kill(owner, 0) != 0 && errno == ESRCH;
}

void RemoveAbandoned() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/tmp", ignored)) {
    if (entry.path().filename().string().starts_with("halo.") && OwnerIsGone(entry.path())) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

PrivateDirectory::PrivateDirectory(std::string path, uid_t uid, gid_t gid)
    : path_(std::move(path)), uid_(uid), gid_(gid), owner_(getpid()) {}

absl::StatusOr<std::unique_ptr<PrivateDirectory>> PrivateDirectory::Make(const std::string& user) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (!user.empty()) {
    const passwd* account = getpwnam(user.c_str());
    if (account == nullptr) {
      return absl::InvalidArgumentError(absl::StrFormat("no account %s", user));
    }
    uid = account->pw_uid;
    gid = account->pw_gid;
  }
  RemoveAbandoned();
  char path[] = "/tmp/halo.XXXXXX";
  if (mkdtemp(path) == nullptr) {
    return absl::InternalError(absl::StrFormat("mkdtemp: %s", std::strerror(errno)));
  }
  std::unique_ptr<PrivateDirectory> made(new PrivateDirectory(path, uid, gid));
  RETURN_IF_ERROR(made->Write(kOwnerFile, absl::StrFormat("%d\n", getpid())).status());
  if (chown(path, uid, gid) != 0) {
    return absl::InternalError(absl::StrFormat("chown %s: %s", path, std::strerror(errno)));
  }
  return made;
}

PrivateDirectory::~PrivateDirectory() {
  if (getpid() == owner_) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

absl::StatusOr<std::string> PrivateDirectory::Write(const std::string& name,
                                                    const std::string& text) const {
  std::string file_path = path_ + "/" + name;
  std::ofstream file(file_path, std::ios::trunc);
  file << text;
  file.close();
  if (!file || chown(file_path.c_str(), uid_, gid_) != 0) {
    return absl::InternalError(absl::StrFormat("cannot write %s", file_path));
  }
  return file_path;
}

std::string ServerUser() {
  return geteuid() == 0 ? "postgres" : "";
}

}  // namespace support
