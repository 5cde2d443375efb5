// Which projections a server folds: the one place that lists them.

#pragma once

#include <memory>
#include <vector>

#include "engine/projection.h"

namespace projections {

// For the follower that requests wait for: all streams but the audit.
std::vector<std::unique_ptr<engine::Projection>> MainProjections();

// For the follower of the audit alone, which verifies it in the background.
std::vector<std::unique_ptr<engine::Projection>> AuditProjections();

// What answers about resources are made from: the part of the main ones that is folded anew where
// somebody asks for an earlier state.
std::vector<std::unique_ptr<engine::Projection>> ResourceProjections();

}  // namespace projections
