// What Prometheus' clients tell of a process: process_cpu_seconds_total, process_open_fds,
// process_max_fds, process_resident_memory_bytes, process_virtual_memory_bytes,
// process_start_time_seconds, process_threads.
//
// Thread-safe. Reads files of /proc, which never wait for a disk; what cannot be read is left out.

#pragma once

#include "api/server/metrics.h"

namespace api {

void AddProcess(Samples& samples);

}  // namespace api
