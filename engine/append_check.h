// CheckAppend: what every backend demands of the rows of a transaction before it takes them.

#pragma once

#include <span>
#include <vector>

#include <absl/status/status.h>

#include "engine/journal.h"

namespace engine {

// What a transaction wants to write.
struct Appending {
  std::span<const Record> rows;
  std::span<const KeptAnswer> answers;
};

// Judges it against where the streams end.
//
// Fails with
//   kInvalidArgument  no rows, a stream that is not in the catalogue, a key where none may be or
//                     none where one must be, a record, key or transaction over its limit, rows
//                     of more than one tx, a checksum or digest that does not fit; an answer whose
//                     hashes are none, whose key is there twice, or of another tx or time than
//                     the last row
//   kAborted          a position or tx that does not follow the tails: another writer was there
absl::Status CheckAppend(const Catalogue& catalogue, std::span<const StreamTail> tails, Tx last_tx,
                         const Appending& appending);

// The tails after `rows` were appended. REQUIRES: CheckAppend accepted them.
std::vector<StreamTail> TailsAfter(const Catalogue& catalogue, std::vector<StreamTail> tails,
                                   std::span<const Record> rows);

// The tails of a journal without rows.
std::vector<StreamTail> EmptyTails(const Catalogue& catalogue);

}  // namespace engine
