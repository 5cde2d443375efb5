// The state of a projection as JSON, for `halo replay --print`.

#pragma once

#include <string>

#include "engine/view.h"

namespace api::cli {

// One JSON value. Secrets are not part of any projection's printed state.
std::string StateJson(const engine::StreamView& stream);

}  // namespace api::cli
