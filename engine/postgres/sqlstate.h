// What an SQLSTATE means for us: one table, so that every statement treats an error alike.
//
// Thread-safe; never blocks.

#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace engine::postgres {

// What becomes of the connection that reported the error.
enum class AfterError {
  kKeep,  // It is sound: roll back and go on.
  kDrop,  // It is of no use, or talks to a server that is: close it. What became of a COMMIT that
          // was under way is unknown.
};

struct ErrorMeaning {
  absl::StatusCode code = absl::StatusCode::kInternal;
  AfterError after = AfterError::kKeep;
};

// The longest entry that `sqlstate` starts with; an unknown state is kInternal and keeps the
// connection, an empty one (the connection itself failed) kUnavailable and drops it.
ErrorMeaning MeaningOf(std::string_view sqlstate);

// A status of the code that `sqlstate` means. `what` says what was tried, `message` is the
// server's, which never reaches a client; what a client may know is the Reason on it.
absl::Status ErrorFor(std::string_view sqlstate, std::string_view what, std::string_view message);

}  // namespace engine::postgres
