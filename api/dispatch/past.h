// Past: what resources were at an earlier transaction, or an earlier time (`as_of`).
//
// The journal is folded anew up to that point, beside everything that serves the present: one
// such fold at a time, and the two newest results are kept. So it takes at most the memory of three
// such states, and never more than one worker.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/journal.h"
#include "engine/projection.h"
#include "engine/view.h"

namespace api {

// A point of the journal: the state after that transaction, or after the last one that is not
// later than that time.
using PastPoint = std::variant<engine::Tx, engine::Timestamp>;

// A decimal number is a transaction; else RFC 3339. Empty: neither.
std::optional<PastPoint> ParsePastPoint(std::string_view text);

// Thread-safe. ViewAt blocks.
class Past {
 public:
  // `projections` makes those that are folded. `journal` must outlive the object.
  using MakeProjections = std::function<std::vector<std::unique_ptr<engine::Projection>>()>;
  Past(engine::Journal& journal, MakeProjections projections)
      : journal_(journal), projections_(std::move(projections)) {}

  // Fails with kResourceExhausted while another point is being folded, with kOutOfRange where
  // compaction has taken what was true then, with kInvalidArgument for a point that has not come
  // yet, with kDataLoss where a stream is damaged, and as Journal::Scan does.
  absl::StatusOr<engine::ViewPtr> ViewAt(const PastPoint& point, engine::Deadline deadline);

 private:
  struct Kept {
    engine::Tx tx;
    engine::ViewPtr view;
  };

  absl::StatusOr<engine::Tx> Resolve(const PastPoint& point, engine::Deadline deadline);
  absl::StatusOr<engine::Tx> LastTxAt(engine::Timestamp time,
                                      const std::vector<engine::StreamTail>& tails,
                                      engine::Deadline deadline);
  absl::StatusOr<engine::ViewPtr> Fold(engine::Tx tx, engine::Deadline deadline);
  engine::ViewPtr FindKept(engine::Tx tx) const;

  engine::Journal& journal_;
  const MakeProjections projections_;
  mutable engine::Mutex mutex_;
  bool is_folding_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // The newest result first.
};

}  // namespace api
