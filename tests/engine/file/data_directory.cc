#include "tests/engine/file/data_directory.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/bytes.h"
#include "tests/conformance/conformance.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

std::unique_ptr<support::PrivateDirectory> MakeDirectory() {
  auto made = support::PrivateDirectory::Make();
  EXPECT_OK(made);
  return *std::move(made);
}

std::string ReadBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

HastyDisk& Hasty() {
  static HastyDisk disk;
  return disk;
}

DataDirectory::DataDirectory() : private_(MakeDirectory()) {}

Options DataDirectory::options() const {
  return {.dir = path(),
          .mark_interval = std::chrono::hours(1),
          .on_fatal = [](const absl::Status&) {},
          .disk = &Hasty()};
}

std::unique_ptr<Engine> DataDirectory::Open(Options options) const {
  auto engine = file::Open(conformance::Streams(), std::move(options));
  EXPECT_OK(engine);
  return engine.ok() ? *std::move(engine) : nullptr;
}

Files DataDirectory::ReadAll() const {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    files[entry.path().filename().string()] = ReadBytes(entry.path());
  }
  return files;
}

void DataDirectory::WriteAll(const Files& files) const {
  std::filesystem::create_directory(path());
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    if (!files.contains(entry.path().filename().string())) {
      std::filesystem::remove(entry.path());
    }
  }
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path file = path() + "/" + name;
    if (!std::filesystem::exists(file)) {
      std::ofstream(file, std::ios::binary) << bytes;
    } else if (ReadBytes(file) != bytes) {
      // In place: a filesystem may wait for the disk when a file is emptied and written again.
      std::fstream(file, std::ios::binary | std::ios::in | std::ios::out) << bytes;
      std::filesystem::resize_file(file, bytes.size());
    }
  }
}

std::vector<std::uint64_t> FrameOffsets(const std::string& segment) {
  std::vector<std::uint64_t> offsets = {kSegmentHeaderBytes};
  while (offsets.back() < segment.size()) {
    offsets.push_back(offsets.back() +
                      ReadU32(std::string_view(segment).substr(offsets.back() + 8)));
  }
  return offsets;
}

CommitOutcome TryAppendEvent(Engine& engine, const std::string& payload) {
  const auto failed = [](absl::Status why) {
    return CommitOutcome{CommitOutcome::Kind::kFailed, std::move(why)};
  };
  auto transaction = engine.journal().Begin(conformance::Soon());
  if (!transaction.ok()) {
    return failed(transaction.status());
  }
  const auto state = (*transaction)->Read({});
  if (!state.ok()) {
    return failed(state.status());
  }
  const absl::Status appended =
      (*transaction)
          ->Append(conformance::RowBuilder(*state).Add(conformance::kEvents, "", payload).rows(),
                   {});
  return appended.ok() ? (*transaction)->Commit(conformance::Soon()) : failed(appended);
}

Record AppendEvent(Engine& engine, const std::string& payload) {
  const CommitOutcome outcome = TryAppendEvent(engine, payload);
  EXPECT_EQ(outcome.kind, CommitOutcome::Kind::kCommitted) << outcome.why;
  const auto tails = engine.journal().Tails(conformance::Soon());
  EXPECT_OK(tails);
  const auto rows = engine.journal().ReadStream(conformance::kEvents, (*tails)[1].position, 1,
                                                conformance::Soon());
  EXPECT_OK(rows);
  return rows->front();
}

std::vector<Record> AllRows(Engine& engine) {
  std::vector<Record> rows;
  const auto take = [&](std::span<const Record> batch) {
    rows.insert(rows.end(), batch.begin(), batch.end());
    return absl::OkStatus();
  };
  EXPECT_OK(engine.journal().Scan({.after = conformance::FromTheStart(), .through = {}}, take,
                                  conformance::Soon()));
  return rows;
}

std::vector<std::string> AllPayloads(Engine& engine) {
  std::vector<std::string> payloads;
  for (const Record& row : AllRows(engine)) {
    payloads.emplace_back(row.payload.view());
  }
  return payloads;
}

}  // namespace engine::file
