// What a server, the tools and a copy of the journal say of one store, to be compared.

#pragma once

#include <map>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "tests/e2e/fleet.h"
#include "tests/support/halo_server.h"

namespace e2e {

// Stream to `position state-digest`, and "audit" to `total head`.
using Digests = std::map<std::string, std::string>;

struct State {
  Digests digests;
  Contents contents;
};

// Of a running server.
absl::StatusOr<State> ReadState(support::HttpClient& client);

// Of a store, by `halo replay`; and `halo journal verify` and `halo audit verify` accept it.
absl::StatusOr<Digests> ReplayedDigests(const std::vector<std::string>& store_flags);

// Fails unless the tools say the same of the store.
absl::Status AgreesWithTools(const support::TestStore& store, const Digests& digests);
// Fails unless a server started now says the same.
absl::Status AgreesAfterRestart(const support::TestStore& store, const Digests& digests,
                                const Contents& contents);
// Copies the journal of a database into an empty file store, row by row, and fails unless that
// folds to the same.
absl::Status CopyFoldsToTheSame(const support::TestStore& database);

}  // namespace e2e
