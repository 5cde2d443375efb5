// Polling for what no condition variable can tell: another process, a lock table, a file.

#pragma once

#include <functional>

#include "engine/base/deadline.h"

namespace support {

// Calls `condition` every `interval` until it is true; false when `deadline` passed first.
// Blocks. `condition` runs at least once, also past the deadline.
bool WaitFor(const std::function<bool()>& condition, engine::Deadline deadline,
             engine::Duration interval = std::chrono::milliseconds(5));

}  // namespace support
