// How the storage commands name and open a store: `--data-dir DIR` or `--database-url-file F`.
//
// Most only read. A data directory is read up to its last whole frame, without its lock, so a
// server may be writing to it meanwhile.

#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "engine/engine.h"

namespace api::cli {

struct StorageFlags {
  std::string data_dir;
  std::string database_url_file;
  bool insecure_tls = false;
};

// Fails with kInvalidArgument unless exactly one is named, else as the backend's Open does.
absl::StatusOr<std::unique_ptr<engine::Engine>> OpenStore(const StorageFlags& flags);

// The same for commands that write: takes a data directory's lock, so no server may have it.
absl::StatusOr<std::unique_ptr<engine::Engine>> OpenStoreForWriting(const StorageFlags& flags);

// `path` is a data directory or a file that holds a database URL.
absl::StatusOr<std::unique_ptr<engine::Engine>> OpenStoreAt(const std::string& path,
                                                            bool insecure_tls = false);

// Changes whenever the store may have more than before: what a reader that follows looks at before
// it reads everything again. Always the same for a database, which is asked instead.
std::string WrittenMark(const StorageFlags& flags);

}  // namespace api::cli
