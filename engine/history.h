// ConfirmHistory: makes sure that what was folded is a prefix of the history in the store.
//
// A life of the store (an Origin) that was not met before may be the same history after a restart
// or a lossless failover, or another one: a standby that lagged behind, a restored dump. Only the
// digests at all cursors tell. Whoever has news that the follower does
// not believe asks:
//
//   ASSIGN_OR_RETURN(News news, journal.ReadAfter(follower.cursors(), deadline));
//   if (!follower.Deliver(news)) {
//     RETURN_IF_ERROR(ConfirmHistory(journal, follower, deadline));  // And ask again.
//   }

#pragma once

#include <cstdint>
#include <span>

#include <absl/status/status.h>

#include "engine/base/deadline.h"
#include "engine/follower.h"
#include "engine/journal.h"

namespace engine {

// Reads the rows at all cursors in one query, and believes the life that answered. A stream whose
// row is gone or has another digest has another history: that is logged as `history changed` with
// stream, position and both digests, counted, and the stream is rebuilt; all that differ at once.
// The others go on where they are. Blocks.
//
// Thread-safe. Fails as Journal::ReadAfter does; nothing is believed that was not before.
absl::Status ConfirmHistory(Journal& journal, Follower& follower, Deadline deadline);

// Compares where the store's streams end with the cursors of the followers. A stream that ends
// before its cursor, or at it with another digest, is another one although no other life of the
// store answered (somebody deleted rows, a table was put in its place): its follower doubts the
// history then, and the next news confirms it. A stopped stream whose row at the cursor is another
// one by now is not damaged but has another history: it is rebuilt. Blocks. Fails as Journal::Tails
// and ReadStream do.
absl::Status CheckHeads(Journal& journal, std::span<Follower* const> followers, Deadline deadline);

// How many streams were found with another history, in this process.
std::uint64_t HistoryChanges();

}  // namespace engine
