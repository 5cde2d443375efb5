// Fence: the proof of a term that a write carries, so that a writer whose lease was taken over
// cannot write any more, whatever it believes.
//
// A transaction locks the lease's row and then judges the fence on the store's clock: same holder,
// same token, not yet expired. A write whose fence does not hold is refused as a whole with
// FencedError. See engine/lease.h for who hands out tokens.
//
// Thread-safe as any value; never blocks.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace engine {

struct Fence {
  std::string lease;        // Its name.
  std::string holder;       // Of the term: random, one a campaign.
  std::uint64_t token = 0;  // Of the term; never falls, whoever holds the lease.
  friend bool operator==(const Fence&, const Fence&) = default;
};

// kFailedPrecondition, marked so that IsFenced knows it from any other: nothing was written, and
// no later attempt of this term can write. The message names the lease and the token, never the
// holder: who knows that can release the lease. `why`: what did not hold.
absl::Status FencedError(const Fence& fence, std::string_view why);

// Whether `status` came from FencedError. Goes by the mark, not by code or message.
bool IsFenced(const absl::Status& status);

}  // namespace engine
