#include "engine/file/head_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"

namespace engine::file {
namespace {

constexpr char kName[] = "head";

struct Slots {
  std::array<std::optional<HeadMark>, 2> marks;

  int Newest() const { return marks[0].has_value() && Rank(0) >= Rank(1) ? 0 : 1; }
  // A later mark never has a smaller tx.
  std::uint64_t Rank(int slot) const {
    const std::optional<HeadMark>& mark = marks[static_cast<std::size_t>(slot)];
    return mark.has_value() ? Raw(mark->tx) + 1 : 0;
  }
};

absl::StatusOr<Slots> ReadSlots(const Directory& directory) {
  constexpr std::size_t kLimit = 1 << 16;
  ASSIGN_OR_RETURN(const std::string bytes, directory.ReadFile(kName, kLimit));
  Slots slots;
  for (std::size_t i = 0; i < slots.marks.size(); ++i) {
    const std::size_t offset = std::min<std::size_t>(bytes.size(), kHeadSlotOffsets[i]);
    slots.marks[i] = DecodeHeadMark(std::string_view(bytes).substr(offset, kHeadSlotBytes));
  }
  if (!slots.marks[0].has_value() && !slots.marks[1].has_value()) {
    return absl::DataLossError(
        absl::StrFormat("%s/%s at byte 0: no head mark is intact", directory.path(), kName));
  }
  return slots;
}

}  // namespace

absl::StatusOr<HeadMark> ReadHeadMark(const Directory& directory) {
  ASSIGN_OR_RETURN(const Slots slots, ReadSlots(directory));
  return *slots.marks[static_cast<std::size_t>(slots.Newest())];
}

absl::StatusOr<std::unique_ptr<HeadFile>> HeadFile::Create(const Directory& directory,
                                                           const HeadMark& mark) {
  ASSIGN_OR_RETURN(Fd file, directory.Replace(kName, EncodeHeadMark(mark)));
  std::unique_ptr<HeadFile> head(new HeadFile(directory.disk(), std::move(file)));
  head->newest_ = mark;
  return head;
}

absl::StatusOr<std::unique_ptr<HeadFile>> HeadFile::Open(const Directory& directory) {
  ASSIGN_OR_RETURN(const Slots slots, ReadSlots(directory));
  ASSIGN_OR_RETURN(Fd file, directory.OpenFile(kName, true));
  std::unique_ptr<HeadFile> head(new HeadFile(directory.disk(), std::move(file)));
  head->newest_slot_ = slots.Newest();
  head->newest_ = *slots.marks[static_cast<std::size_t>(head->newest_slot_)];
  return head;
}

absl::Status HeadFile::Write(const HeadMark& mark) {
  turn_.Take(Deadline::Infinite());
  absl::Status status = WriteInTurn(mark);
  turn_.Leave();
  return status;
}

absl::Status HeadFile::Settle(const HeadMark& mark) {
  turn_.Take(Deadline::Infinite());
  // Of two marks of one transaction the given one is where the next segment begins.
  const HeadMark settled = mark.tx >= newest_.tx ? mark : newest_;
  absl::Status status = WriteSlot(settled);
  if (status.ok()) {
    status = WriteSlot(settled);
  }
  turn_.Leave();
  return status;
}

absl::Status HeadFile::WriteInTurn(const HeadMark& mark) {
  return mark.tx <= newest_.tx ? absl::OkStatus() : WriteSlot(mark);
}

absl::Status HeadFile::WriteSlot(const HeadMark& mark) {
  const int slot = 1 - newest_slot_;
  RETURN_IF_ERROR(WriteAll(disk_, file_.get(), EncodeHeadMark(mark), kHeadSlotOffsets[slot]));
  if (disk_.SyncData(file_.get()) != 0) {
    return SyncError("syncing the head mark");
  }
  newest_ = mark;
  newest_slot_ = slot;
  return absl::OkStatus();
}

}  // namespace engine::file
