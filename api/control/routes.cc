#include "api/control/routes.h"

namespace api {

void AddControlRoutes(Dispatcher& dispatcher) {
  AddKillRoutes(dispatcher);
  AddAuditRoute(dispatcher);
  AddStreamsRoute(dispatcher);
}

}  // namespace api
