// The routes of the control plane: kills, the kill list, the audit, the streams.
//
// All are for operators (api/dispatch/caller.h); errors are `{"error": "..."}`.

#pragma once

#include "api/dispatch/dispatcher.h"

namespace api {

// Adds
//   POST /api/v1/experiments/{name}/kill, /unkill
//   POST /api/v1/toggles/{name}/kill, /unkill
//   GET  /api/v1/killswitch
//   GET  /api/v1/audit
//   GET  /api/v1/streams
// `dispatcher` must outlive the router's use.
void AddControlRoutes(Dispatcher& dispatcher);

// The parts, in the order above.
void AddKillRoutes(Dispatcher& dispatcher);
void AddAuditRoute(Dispatcher& dispatcher);
void AddStreamsRoute(Dispatcher& dispatcher);

}  // namespace api
