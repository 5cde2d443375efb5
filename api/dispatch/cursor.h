// Cursor: a point in the history of the store, as clients hold it (`X-Halo-Cursor`).
//
// It says how far each followed stream was, with the digest of the row there, so that a history
// that went another way is noticed. Clients see a sealed token: they can neither read nor make
// one. The key is a row of the store's key-value side, made once, so every replica opens what
// another one sealed. docs/watch.md.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/mutex.h"
#include "engine/base/seal.h"
#include "engine/journal.h"
#include "engine/key_value.h"
#include "engine/view.h"

namespace api {

struct HistoryCursor {
  engine::Tx tx = engine::Tx::kBeforeFirst;  // The newest transaction that it knows of.
  engine::Cursors streams;                   // Ascending.
  friend bool operator==(const HistoryCursor&, const HistoryCursor&) = default;
};

// Where `view` is. Streams that are stopped or rebuilt are left out.
HistoryCursor CursorOf(const engine::View& view);

// What a view knows of a cursor's history.
enum class Knowledge {
  kHas,     // All of it.
  kBehind,  // Not all of it yet.
  kOther,   // It is another history.
  kPassed,  // It is further on; whether that is the same history, only CheckHistory can tell.
};
// Streams that the view does not follow count by their transaction; where `is_newest` (the view is
// newer than the cursor's answer) they do not count.
Knowledge Compare(const HistoryCursor& cursor, const engine::View& view, bool is_newest);

// Whether the journal still has the history up to `cursor`. Blocks. Fails with kOutOfRange when a
// stream was compacted past it, with kFailedPrecondition when it is of another history, and as
// Journal::ReadStream and Tails do.
absl::Status CheckHistory(engine::Journal& journal, const engine::Cursors& cursor,
                          engine::Deadline deadline);

// Thread-safe. Only Open blocks.
class CursorSeal {
 public:
  // Gets the key from the store, or makes it. Fails as KeyValue does, and with kDataLoss when the
  // row is no key.
  static absl::StatusOr<std::unique_ptr<CursorSeal>> Open(engine::KeyValue& store,
                                                          engine::Deadline deadline);
  explicit CursorSeal(std::string_view key) : seal_(key) {}

  std::string Show(const HistoryCursor& cursor) const;
  // The same for a view; cheap for one that was shown just now.
  std::string ShowView(const engine::View& view);
  // Empty: not made with this key.
  std::optional<HistoryCursor> Read(std::string_view token) const;

  // For tokens of other kinds.
  const engine::Seal& seal() const { return seal_; }

 private:
  const engine::Seal seal_;
  engine::Mutex mutex_;
  HistoryCursor shown_ ABSL_GUARDED_BY(mutex_);
  std::string token_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace api
