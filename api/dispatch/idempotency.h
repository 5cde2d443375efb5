// Idempotency keys: what lets a client send a mutation again without doing it twice.
//
// A request with the header `Idempotency-Key` is done once. Whoever sends it again, to whichever
// replica, gets the first successful answer; another request under the same key is refused. Keys
// belong to their caller. Bytes of a kept answer: docs/formats/answer.md.
//
// Thread-safe; never blocks.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <absl/status/statusor.h>

#include "api/dispatch/caller.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "engine/command.h"

namespace api {

inline constexpr std::size_t kMaxIdempotencyKeyBytes = 255;

// The key of a request, as the store knows it; empty when it has no such header.
//
// Fails with kInvalidArgument and a sentence for the client: more than one key, or one that is not
// 1 to 255 visible ASCII characters.
absl::StatusOr<std::optional<engine::RetryKey>> RetryKeyOf(const Request& request,
                                                           const Caller& caller);

// An answer as it is kept: status, content type, headers, body.
std::string EncodeAnswer(const Response& response);
// Fails with kDataLoss when the bytes are no answer.
absl::StatusOr<Response> DecodeAnswer(std::string_view bytes);

}  // namespace api
