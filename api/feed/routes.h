// The routes that follow and read the journal's streams. docs/watch.md.

#pragma once

#include "api/dispatch/dispatcher.h"
#include "api/feed/feed.h"

namespace api {

// Both arguments must outlive the router's use.
void AddFeedRoutes(Dispatcher& dispatcher, Feed& feed);

// The parts.
void AddWatchRoute(Dispatcher& dispatcher, Feed& feed);
void AddRecordsRoute(Dispatcher& dispatcher);

}  // namespace api
