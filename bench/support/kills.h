// Writers for benchmarks: each kills and unkills an experiment of its own, through the real rules,
// so that every command writes a record and an audit entry.

#pragma once

#include "engine/committer.h"

namespace bench {

class Laps;

// Lets `writers` clients run until the laps are taken; returns when all are over.
void RunWriters(engine::Committer& committer, int writers, Laps& laps);

}  // namespace bench
