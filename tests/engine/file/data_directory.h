// A data directory of a test, its files as bytes, and disks that fail or forget on purpose.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/disk.h"
#include "engine/engine.h"
#include "engine/file/file.h"
#include "engine/file/format.h"
#include "tests/support/private_directory.h"

namespace engine::file {

// Does not wait for the disk: for tests of what is read back while the machine stays up.
class HastyDisk : public Disk {
 public:
  int SyncData(int) override { return 0; }
  int Sync(int) override { return 0; }
};
HastyDisk& Hasty();

using Files = std::map<std::string, std::string>;  // Bytes by name.

// Thread-compatible.
class DataDirectory {
 public:
  DataDirectory();

  std::string path() const { return private_->path() + "/data"; }
  // Defaults of the tests: no waiting for the disk, head marks only when something else asks for
  // one, and a failed sync only poisons.
  Options options() const;
  std::unique_ptr<Engine> Open(Options options) const;
  std::unique_ptr<Engine> Open() const { return Open(options()); }

  Files ReadAll() const;
  // Makes the directory hold exactly these files.
  void WriteAll(const Files& files) const;

 private:
  std::unique_ptr<support::PrivateDirectory> private_;
};

// Where each frame of a segment starts, and where the last one ends.
std::vector<std::uint64_t> FrameOffsets(const std::string& segment);

// One transaction with one record in the events stream; returns its row. Fails the test when it
// does not commit.
Record AppendEvent(Engine& engine, const std::string& payload);
// Likewise, but returns what came of it.
CommitOutcome TryAppendEvent(Engine& engine, const std::string& payload);

// Every row, by Scan.
std::vector<Record> AllRows(Engine& engine);
std::vector<std::string> AllPayloads(Engine& engine);

}  // namespace engine::file
