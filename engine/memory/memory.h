// The memory backend: every seam in process. The reference model of the conformance suite, the
// fast double of tests, and what `halo-server serve --memory` runs on.
//
// Keeps every row for ever; nothing survives the process.

#pragma once

#include <memory>

#include "engine/base/clock.h"
#include "engine/engine.h"

namespace engine::memory {

// REQUIRES: `catalogue` is ascending by stream number. `clock` outlives the engine: it is the
// store's clock.
std::unique_ptr<Engine> Open(Catalogue catalogue, const Clock& clock = SystemClock());

}  // namespace engine::memory
