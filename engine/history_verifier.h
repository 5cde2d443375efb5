// HistoryVerifier reads again, in the background, the rows that a start from a snapshot left out:
// damage behind a snapshot is found, though nobody waits for it.
//
// Every row's checksum is compared, and its digest with the row before it, up to the digest that
// the snapshot had. Rows at or below a stream's floor may have gaps; there each row is checked for
// itself.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <absl/status/status.h>

#include "engine/journal.h"

namespace engine {

// One thread. Each step blocks on the store for one page.
class HistoryVerifier {
 public:
  // `damaged` is called once for each stream that is, with kDataLoss naming stream and position.
  // `journal` must outlive the object.
  HistoryVerifier(Journal& journal, Cursors through,
                  std::function<void(StreamId stream, const absl::Status& why)> damaged);

  // Reads and checks the next rows. A store that cannot be read is asked again with the next step.
  // False when everything was read.
  bool Step(Deadline deadline);

  std::uint64_t rows() const { return rows_; }  // Checked so far.

 private:
  absl::Status Check(const Record& row);
  void NextStream();

  Journal& journal_;
  const Cursors through_;
  const std::function<void(StreamId, const absl::Status&)> damaged_;
  std::size_t stream_ = 0;  // In `through_`.
  Position next_{1};
  std::optional<Digest> before_ = Digest::kEmpty;  // Of the row before `next_`, if it is there.
  std::uint64_t rows_ = 0;
};

}  // namespace engine
