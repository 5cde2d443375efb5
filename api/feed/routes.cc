#include "api/feed/routes.h"

namespace api {

void AddFeedRoutes(Dispatcher& dispatcher, Feed& feed) {
  AddWatchRoute(dispatcher, feed);
  AddRecordsRoute(dispatcher);
}

}  // namespace api
