// ContentsReader fits one segment after another into the contents of a directory: the work behind
// ReadContents and ReadUnread of recovery.h, which say what it judges.
//
//   contents_reader.cc   segments and their frames, and where they may end
//   contents_rows.cc     the rows of a frame, their answers, and what the floors prove of them
//   contents_sealed.cc   closed segments of which `sealed` tells
//
// One thread; blocks on the disk. Used once.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/file/recovery.h"
#include "engine/floor_proof.h"

namespace engine::file {

class ContentsReader {
 public:
  // All but `catalogue` must outlive the object.
  ContentsReader(const Directory& directory, const Catalogue& catalogue, const HeadMark& mark,
                 const Floors& floors, const std::vector<SegmentFacts>& sealed);

  // All segments, as ReadContents promises.
  absl::StatusOr<Contents> Read();
  // One closed segment, as ReadUnread promises.
  absl::StatusOr<Index> ReadOnly(const UnreadSegment& segment);

 private:
  // Whether the segment is one that `sealed` tells of, and was taken without being read.
  absl::StatusOr<bool> TakeSealed(SegmentId segment);
  const SegmentFacts* FactsOf(SegmentId segment) const;
  bool Fit(const SegmentFacts& facts) const;
  void Take(const SegmentFacts& facts);

  absl::Status ReadSegment(SegmentId segment);
  absl::Status CheckHeader(Tx first, const SegmentHeader& header) const;
  absl::Status ReadFrames(int fd, std::uint64_t size);
  absl::Status CheckFollows(const Frame& frame) const;
  absl::Status JudgeTail(int fd, std::uint64_t size, std::string_view why);
  // What was read so far ends there.
  void Arrive(std::uint64_t offset, Tx tx, FrameDigest digest);
  absl::Status CheckMark() const;

  absl::Status TakeRows(const Frame& frame, std::uint64_t offset);
  absl::Status TakeRow(const RowView& row, Tx tx, std::uint64_t offset);
  std::string Misfit(const RowView& row, const StreamTail& tail, Tx tx) const;
  bool TakeAnswers(std::string_view bytes, const Frame& frame, Timestamp at);
  absl::Status Prove(const RowView& row, const StreamTail& tail);
  absl::Status CheckFloors();

  // In the segment that is being read.
  absl::Status Damage(std::uint64_t offset, std::string_view why) const;

  const Directory& directory_;
  const HeadMark mark_;
  const std::vector<SegmentFacts>& sealed_;
  bool mark_passed_ = false;
  bool may_be_torn_ = true;
  SegmentId current_;
  std::map<StreamId, FloorProof> proofs_;  // Of streams all of whose rows are read.
  std::uint32_t segment_number_ = 0;
  Contents contents_;
};

}  // namespace engine::file
