#include "api/cli/storage.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"
#include "engine/file/file.h"
#include "engine/postgres/postgres.h"
#include "schemas/streams.h"

namespace api::cli {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // The stream's own reading turns exceptions (a directory) into its state; iterators do not.
  std::string text;
  std::getline(file, text, '\0');
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError("cannot read " + path);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<engine::Engine>> OpenStore(const StorageFlags& flags) {
  if (flags.data_dir.empty() == flags.database_url_file.empty()) {
    return absl::InvalidArgumentError("name one of --data-dir and --database-url-file");
  }
  if (!flags.data_dir.empty()) {
    return engine::file::OpenReadOnly(flags.data_dir);
  }
  ASSIGN_OR_RETURN(const std::string url, ReadFile(flags.database_url_file));
  engine::postgres::Options options;
  options.url = url;
  options.insecure_tls = flags.insecure_tls;
  options.connect_attempts = 1;  // An operator is waiting, and can try again.
  options.application_name = "halo";
  return engine::postgres::Open(schemas::Streams(), options);
}

absl::StatusOr<std::unique_ptr<engine::Engine>> OpenStoreForWriting(const StorageFlags& flags) {
  if (flags.data_dir.empty() || !flags.database_url_file.empty()) {
    return OpenStore(flags);
  }
  // Opening makes what is missing; a wrong path must not become a store.
  RETURN_IF_ERROR(engine::file::OpenReadOnly(flags.data_dir).status());
  engine::file::Options options;
  options.dir = flags.data_dir;
  return engine::file::Open(schemas::Streams(), std::move(options));
}

absl::StatusOr<std::unique_ptr<engine::Engine>> OpenStoreAt(const std::string& path,
                                                            bool insecure_tls) {
  std::error_code error;
  const bool directory = std::filesystem::is_directory(path, error);
  StorageFlags flags;
  flags.insecure_tls = insecure_tls;
  (directory ? flags.data_dir : flags.database_url_file) = path;
  return OpenStore(flags);
}

std::string WrittenMark(const StorageFlags& flags) {
  std::string mark;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(flags.data_dir, error)) {
    // A file may be gone by the time it is looked at: that is a change too.
    std::error_code gone;
    if (entry.path().filename().string().starts_with("journal-")) {
      mark += absl::StrFormat("%s %d %d\n", entry.path().filename().string(), entry.file_size(gone),
                              entry.last_write_time(gone).time_since_epoch().count());
    }
  }
  return mark;
}

}  // namespace api::cli
